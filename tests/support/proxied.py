"""A server before a scripted model server, and a collection about a harbour, for the tests of the citing proxy."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from scripted_llm import Reply, ScriptedLlm
from serving import parts_with, running_server

TEXTS = {
    "gates.txt": "The tidal barrier has fourteen steel gates. Each of them weighs 300 tonnes.",
    "cost.txt": "The barrier cost 410 million euros. The state paid two thirds of it.",
    "museum.txt": "The maritime museum opened in 1987. It stands in an old rope factory.",
}
REPLY = "The barrier has fourteen steel gates. It cost 410 million euros. The mayor likes it."
CITED = ["The barrier has fourteen steel gates.", "It cost 410 million euros."]
QUESTION = "How many gates has the barrier?"
HARBOUR = {"propcite": {"collection": "harbour"}}


@contextmanager
def proxied(
    loaded: Mapping[str, object], folder: Path, apis: Sequence[str] = ("chat/completions",), **settings: Any
) -> Iterator[tuple[str, ScriptedLlm]]:
    """Start a server and a model server with these APIs; yield the address of the one and the other."""
    with ScriptedLlm(REPLY, apis=apis) as llm:
        parts = parts_with(loaded, {"harbour": TEXTS}, data_dir=folder, llm_url=llm.base_url, **settings)
        with running_server(parts) as address:
            yield address, llm


def reset(llm: ScriptedLlm) -> ScriptedLlm:
    llm.script = REPLY
    llm.requests.clear()
    llm.others.clear()
    llm.client_left.clear()
    llm.resume.clear()
    return llm


def post(address: str, path: str, body: Any, **options: Any) -> httpx.Response:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **options.pop("headers", {})}
    return httpx.post(f"{address}/v1{path}", content=data, timeout=60, headers=headers, **options)


def events_in(content: bytes) -> list[dict[str, Any]]:
    """Return the objects of a stream's events; each is named by its type."""
    found = []
    for event in content.decode().strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in event.splitlines() if not line.startswith(":"))
        if lines.get("data", "[DONE]") != "[DONE]":
            content = json.loads(lines["data"])
            if isinstance(content, dict):
                found.append(content)
                assert lines.get("event") == content.get("type")
    return found


def killed(llm: ScriptedLlm, words: int = 8) -> Reply:
    """Return a streamed reply that breaks off after so many words."""
    before = 4 if "responses" in llm.apis else 3 if "messages" in llm.apis else 0  # events in front of the words
    return Reply(REPLY, breaks_after=before + words)
