"""The Responses API, as OpenAI has it; by Chat Completions where the model server has none."""
