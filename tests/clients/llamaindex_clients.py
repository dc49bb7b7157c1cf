"""Call a server by LlamaIndex's clients and print what each shows, a JSON line per call, as clients.mjs does.

They need an older openai than the other clients, so they run in a process that finds their packages first.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai import OpenAIResponses
from llama_index.llms.openai_like import OpenAILike
from python_clients import Cited, Shown

TOOL = FunctionTool.from_defaults(lambda **_: 0, name="cost", description="The cost.")
Way = Callable[[str, bool], Shown]


def ways(base: str, headers: dict[str, str]) -> Iterator[tuple[str, str, Way]]:
    """Yield each client with its ways to ask: whole and streamed."""
    options: dict[str, Any] = {"api_base": base, "api_key": "any", "max_retries": 0, "default_headers": headers}
    chat = OpenAILike(model="m", is_chat_model=True, is_function_calling_model=True, **options)
    responses = OpenAIResponses(model="gpt-4.1", **options)
    for name, llm in (("LlamaIndex OpenAILike", chat), ("LlamaIndex OpenAIResponses", responses)):
        yield name, "ask", partial(ask, llm)
        yield name, "stream", partial(stream, llm)


def ask(llm: Any, question: str, tools: bool) -> Shown:
    message = ChatMessage(role="user", content=question)
    answered = llm.chat_with_tools([TOOL], chat_history=[message]) if tools else llm.chat([message])
    return _shown(llm, [answered])


def stream(llm: Any, question: str, tools: bool) -> Shown:
    message = ChatMessage(role="user", content=question)
    streamed = llm.stream_chat_with_tools([TOOL], chat_history=[message]) if tools else llm.stream_chat([message])
    return _shown(llm, list(streamed))


def _shown(llm: Any, answers: list[ChatResponse]) -> Shown:
    last = answers[-1]
    calls = [call.tool_name for call in llm.get_tool_calls_from_response(last, error_on_no_tool_call=False)]
    text = last.message.content or ""
    annotations = [_plain(a) for a in last.additional_kwargs.get("annotations", [])]
    cited = [Cited(a["title"], text[a["start_index"] : a["end_index"]]) for a in annotations]
    return Shown([(text, cited)], calls, not cited and any(_in_raw(answer.raw) for answer in answers))


def _plain(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else dict(value)


def _in_raw(raw: Any) -> bool:
    """Return whether a raw completion or its chunk has annotations."""
    choices = [getattr(c, "message", None) or c.delta for c in getattr(raw, "choices", [])]
    return any(getattr(choice, "annotations", None) for choice in choices)


def main() -> None:
    """Take the call as JSON: its base, questions by scene, headers, and the names of the clients to call."""
    call = json.loads(sys.argv[1])
    for name, way, asking in ways(call["base"], call["headers"]):
        if call["only"] and name not in call["only"]:
            continue
        for scene, question in call["questions"].items():
            if scene == "two":
                continue  # these clients have no n
            line: dict[str, Any] = {"client": name, "way": way, "scene": scene}
            try:
                shown = asdict(asking(question, scene == "tools"))
                texts = [{"text": text, "citations": cited} for text, cited in shown["texts"]]
                line |= {"texts": texts, "calls": shown["calls"], "raw": shown["raw"]}
            except Exception as error:
                line["error"] = str(error) or type(error).__name__
            print(json.dumps(line))  # noqa: T201 - what the caller reads


if __name__ == "__main__":
    main()
