"""Cite inside other frameworks, each of which has to be installed.

| module | of | |
|---|---|---|
| `langchain` | LangChain (extra `langchain`) | a step behind the model |
| `llamaindex` | LlamaIndex (extra `llamaindex`) | a query engine |
| `haystack` | Haystack (`haystack-ai`) | a component |
| `pydantic_ai` | Pydantic AI (`pydantic-ai-slim`) | results and streams of agents |
| `openai_agents` | OpenAI's Agents SDK (`openai-agents`) | results and streams of agents |
"""
