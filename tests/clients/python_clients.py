"""Call a server by the Python clients, and return what each shows of an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

COST = {"type": "object", "properties": {}}
CHAT_TOOL: Any = {"type": "function", "function": {"name": "cost", "parameters": COST}}
RESPONSES_TOOL: Any = {"type": "function", "name": "cost", "parameters": COST, "strict": False}
Way = Callable[..., "Shown"]


@dataclass(frozen=True)
class Cited:
    """A citation that a client shows: its title, and the words of the answer that it points at, if it says them."""

    title: str
    words: str | None = None


@dataclass(frozen=True)
class Shown:
    """What a client shows: its texts with their citations, the calls of tools, and citations in its raw response."""

    texts: list[tuple[str, list[Cited]]]
    calls: list[str] = field(default_factory=list)
    raw: bool = False


@dataclass(frozen=True)
class PythonClients:
    """The clients over one collection of a server; `missing` names those whose package is not installed."""

    base: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def ways(self) -> Iterator[tuple[str, str, Way]]:
        """Yield each client with its ways to ask: whole and streamed."""
        for name, package, whole, streamed in (
            ("openai, chat", "openai", self.openai_chat, self.openai_chat_stream),
            ("openai, responses", "openai", self.openai_responses, self.openai_responses_stream),
            ("anthropic", "anthropic", self.anthropic, self.anthropic_stream),
            ("litellm", "litellm", self.litellm, self.litellm_stream),
            ("langchain-openai, chat", "langchain_openai", self.langchain(False), self.langchain_stream(False)),
            ("langchain-openai, responses", "langchain_openai", self.langchain(True), self.langchain_stream(True)),
        ):
            if find_spec(package):
                yield name, "ask", whole
                yield name, "stream", streamed

    # openai

    @property
    def _openai(self) -> Any:
        import openai

        return openai.OpenAI(base_url=self.base, api_key="any", max_retries=0, default_headers=self.headers)

    def openai_chat(self, question: str, n: int | None = None, tools: bool = False) -> Shown:
        return _of_chat(self._openai.chat.completions.create(**_chat(question, n, tools)))

    def openai_chat_stream(self, question: str, n: int | None = None, tools: bool = False) -> Shown:
        with self._openai.chat.completions.stream(**_chat(question, n, tools)) as stream:
            return _of_chat(stream.get_final_completion())

    def openai_responses(self, question: str, n: int | None = None, tools: bool = False) -> Shown:  # noqa: ARG002
        return _of_response(self._openai.responses.create(**_response(question, tools)))

    def openai_responses_stream(self, question: str, n: int | None = None, tools: bool = False) -> Shown:  # noqa: ARG002
        with self._openai.responses.stream(**_response(question, tools)) as stream:
            return _of_response(stream.get_final_response())

    # anthropic

    @property
    def _anthropic(self) -> Any:
        import anthropic

        return anthropic.Anthropic(base_url=self.base, api_key="any", max_retries=0, default_headers=self.headers)

    def anthropic(self, question: str, n: int | None = None, tools: bool = False) -> Shown:  # noqa: ARG002
        return _of_message(self._anthropic.messages.create(**_message(question, tools)))

    def anthropic_stream(self, question: str, n: int | None = None, tools: bool = False) -> Shown:  # noqa: ARG002
        with self._anthropic.messages.stream(**_message(question, tools)) as stream:
            return _of_message(stream.get_final_message())

    # litellm

    def _litellm(self, question: str, n: int | None, tools: bool, **options: Any) -> Any:
        import litellm

        litellm.suppress_debug_info = True
        litellm.telemetry = False
        request = {**_chat(question, n, tools), "model": "openai/m", "api_base": self.base, "api_key": "any"}
        return litellm.completion(**request, extra_headers=dict(self.headers), max_retries=0, num_retries=0, **options)

    def litellm(self, question: str, n: int | None = None, tools: bool = False) -> Shown:
        return _of_chat(self._litellm(question, n, tools))

    def litellm_stream(self, question: str, n: int | None = None, tools: bool = False) -> Shown:
        """Join the chunks: the package's own joiner knows one choice alone."""
        texts: dict[int, str] = {}
        annotations: dict[int, list[Any]] = {}
        calls: list[str] = []
        for chunk in self._litellm(question, n, tools, stream=True):
            for choice in chunk.choices:
                texts[choice.index] = texts.get(choice.index, "") + (choice.delta.content or "")
                annotations.setdefault(choice.index, []).extend(getattr(choice.delta, "annotations", None) or [])
                calls += [c.function.name for c in choice.delta.tool_calls or [] if c.function.name]
        return Shown([(text, _of_chat_annotations(text, annotations[i])) for i, text in texts.items()], calls)

    # langchain-openai

    def _langchain(self, responses: bool, n: int | None) -> Any:
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(
            model="m",
            base_url=self.base,
            api_key="any",
            max_retries=0,
            n=n,
            use_responses_api=responses,
            default_headers=self.headers,
        )

    def langchain(self, responses: bool) -> Way:
        def ask(question: str, n: int | None = None, tools: bool = False) -> Shown:
            model = self._langchain(responses, n)
            bound = model.bind_tools([CHAT_TOOL]) if tools else model
            if n:
                generated = model.generate([[("user", question)]]).generations[0]
                return Shown([_of_langchain(one.message) for one in generated])
            message = bound.invoke(question)
            return Shown([_of_langchain(message)], [c["name"] for c in message.tool_calls])

        return ask

    def langchain_stream(self, responses: bool) -> Way:
        def ask(question: str, n: int | None = None, tools: bool = False) -> Shown:
            model = self._langchain(responses, n)
            bound = model.bind_tools([CHAT_TOOL]) if tools else model
            whole: Any = None
            for chunk in bound.stream(question):
                whole = chunk if whole is None else whole + chunk
            return Shown([_of_langchain(whole)], [c["name"] for c in whole.tool_calls])

        return ask


def _chat(question: str, n: int | None, tools: bool) -> dict[str, Any]:
    request: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": question}]}
    return {**request, **({"n": n} if n else {}), **({"tools": [CHAT_TOOL]} if tools else {})}


def _response(question: str, tools: bool) -> dict[str, Any]:
    return {"model": "m", "input": question, **({"tools": [RESPONSES_TOOL]} if tools else {})}


def _message(question: str, tools: bool) -> dict[str, Any]:
    request = {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": question}]}
    return {**request, **({"tools": [{"name": "cost", "input_schema": COST}]} if tools else {})}


def _of_chat(completion: Any) -> Shown:
    messages = [choice.message for choice in completion.choices]
    texts = [
        (m.content or "", _of_chat_annotations(m.content or "", getattr(m, "annotations", None))) for m in messages
    ]
    return Shown(texts, [c.function.name for m in messages for c in m.tool_calls or []])


def _of_chat_annotations(text: str, annotations: Any) -> list[Cited]:
    places = [_plain(_plain(a)["url_citation"]) for a in annotations or []]
    return [Cited(p["title"], text[p["start_index"] : p["end_index"]]) for p in places]


def _plain(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else dict(value)


def _of_response(response: Any) -> Shown:
    parts = [part for item in response.output if item.type == "message" for part in item.content]
    texts = [(p.text, [Cited(a.title, p.text[a.start_index : a.end_index]) for a in p.annotations]) for p in parts]
    return Shown(texts, [item.name for item in response.output if item.type == "function_call"])


def _of_message(message: Any) -> Shown:
    blocks = [block for block in message.content if block.type == "text"]
    cited = [Cited(c.title, b.text) for b in blocks for c in b.citations or []]
    calls = [block.name for block in message.content if block.type == "tool_use"]
    return Shown([("".join(b.text for b in blocks), cited)], calls)


def _of_langchain(message: Any) -> tuple[str, list[Cited]]:
    """Return the text of a message, and the citations of its standard content blocks."""
    blocks = [block for block in message.content_blocks if block["type"] == "text"]
    text = "".join(block["text"] for block in blocks)
    cited = [a for block in blocks for a in block.get("annotations", []) if a["type"] == "citation"]
    return text, [Cited(a["title"], text[a["start_index"] : a["end_index"]]) for a in cited]
