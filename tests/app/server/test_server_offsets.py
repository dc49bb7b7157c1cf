"""Offsets in the unit that a request names, on every route that has offsets; JavaScript's SDKs need not ask."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from proxied import post, proxied, reset
from scripted_llm import ScriptedLlm

ANSWER = "\U0001f30a Look: café! The barrier has fourteen steel gates."
FACT = "The barrier has fourteen steel gates."
UNITS = {"code-points": "utf-32-le", "utf-16": "utf-16-le", "bytes": "utf-8"}
WIDTHS = {"code-points": 4, "utf-16": 2, "bytes": 1}


@pytest.fixture(scope="module")
def standing(loaded: dict[str, object], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, ScriptedLlm]]:
    with proxied(loaded, tmp_path_factory.mktemp("offsets"), ["chat/completions", "responses", "messages"]) as both:
        yield both


@pytest.fixture
def address(standing: tuple[str, ScriptedLlm]) -> str:
    reset(standing[1]).script = ANSWER
    return standing[0]


def cut(text: str, start: int, end: int, unit: str) -> str:
    """Slice a text as a client does whose strings count this unit."""
    data = text.encode(UNITS[unit])
    return data[start * WIDTHS[unit] : end * WIDTHS[unit]].decode(UNITS[unit])


CHAT = {
    "model": "m",
    "messages": [{"role": "user", "content": "How many gates?"}],
    "propcite": {"collection": "harbour"},
}
JS = {"X-Stainless-Lang": "js"}
AI_SDK = {"User-Agent": "ai/6.0.1 ai-sdk/openai/3.0.1 runtime/node.js/v20"}
ASKED: list[tuple[dict[str, str], dict[str, str], str]] = [
    ({}, {}, "code-points"),
    (JS, {}, "utf-16"),
    (AI_SDK, {}, "utf-16"),
    ({"PropCite-Offsets": "bytes"}, {}, "bytes"),
    ({**JS, "PropCite-Offsets": "code-points"}, {}, "code-points"),
    ({**JS, "PropCite-Offsets": "code-points"}, {"offsets": "bytes"}, "bytes"),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("headers", "extension", "unit"), ASKED)
def test_a_chat(address: str, headers: dict[str, str], extension: dict[str, str], unit: str, stream: bool) -> None:
    body = {**CHAT, "stream": stream, "propcite": {"collection": "harbour", **extension}}
    response = post(address, "/chat/completions", body, headers=headers)
    assert response.headers["propcite-offsets"] == unit
    if stream:
        chunks = [json.loads(e.removeprefix("data: ")) for e in response.text.split("\n\n") if e.startswith("data: {")]
        deltas = [c["delta"] for chunk in chunks for c in chunk["choices"]]
        places = [a["url_citation"] for d in deltas for a in d.get("annotations", [])]
        answer = next(d["propcite"] for d in deltas if "propcite" in d)
    else:
        message = response.json()["choices"][0]["message"]
        places, answer = [a["url_citation"] for a in message["annotations"]], message["propcite"]
    assert [cut(ANSWER, p["start_index"], p["end_index"], unit) for p in places] == [FACT]
    cited = [s for s in answer["sentences"] if s["citations"]]
    assert [cut(ANSWER, s["start"], s["end"], unit) for s in cited] == [FACT]
    assert answer.get("offsets", "code-points") == unit


@pytest.mark.parametrize("unit", UNITS)
def test_responses(address: str, unit: str) -> None:
    body = {"model": "m", "input": "How many gates?", "propcite": {"collection": "harbour", "offsets": unit}}
    part = post(address, "/responses", body).json()["output"][0]["content"][0]
    assert [cut(ANSWER, a["start_index"], a["end_index"], unit) for a in part["annotations"]] == [FACT]


PASSAGE = {"id": "w", "text": "\U0001f30a Waves. The barrier has fourteen steel gates."}


@pytest.mark.parametrize("by_header", [False, True])
@pytest.mark.parametrize("unit", UNITS)
def test_every_other_route(address: str, unit: str, by_header: bool) -> None:
    headers = {"PropCite-Offsets": unit} if by_header else {}
    asked: dict[str, Any] = {} if by_header else {"offsets": unit}

    def call(path: str, **body: Any) -> Any:
        response = post(address, path, {**body, **asked}, headers=headers)
        assert response.is_success, response.text
        return response.json()

    citation = call("/cite", answer=ANSWER, passages=[PASSAGE])["sentences"][-1]["citations"][0]
    assert cut(PASSAGE["text"], citation["start"], citation["end"], unit) == citation["quote"] == FACT
    repaired = call("/repair", answer=f"{ANSWER[:-1]} [1].", passages=[PASSAGE])
    check = repaired["checks"][0]
    assert cut(f"{ANSWER[:-1]} [1].", *check["marker"], unit).strip() == "[1]"
    assert FACT[:-1] in cut(repaired["answer"]["text"], *check["sentence"], unit)
    assert cut(PASSAGE["text"], check["evidence"]["start"], check["evidence"]["end"], unit) == FACT


@pytest.mark.parametrize("unit", UNITS)
def test_routes_over_a_collection(serve: Any, unit: str) -> None:
    """Searching, asking whole and streamed, the kept answer, what is near a fact, and why."""
    address = serve({"waves": {"waves.txt": PASSAGE["text"]}}, collection="waves")
    asked = {"offsets": unit}
    hit = post(address, "/search", {"query": "steel gates", "granularity": "sentence", **asked}).json()["hits"][0]
    assert cut(PASSAGE["text"], *hit["spans"][0], unit) == hit["text"].strip()
    whole = post(address, "/ask", {"question": "How many gates has the barrier?", **asked}).json()
    stream = post(address, "/ask", {"question": "How many gates has the barrier?", "stream": True, **asked}).text
    events = [e.split("\n") for e in stream.split("\n\n") if e.startswith("event: citation.added")]
    added = json.loads(events[0][1].removeprefix("data: "))
    citation = next(s["citations"][0] for s in whole["sentences"] if s["citations"])
    for one in (citation, added):
        assert cut(PASSAGE["text"], one["start"], one["end"], unit) == one["quote"]
    sentences = [s["text"] for s in whole["sentences"]]
    assert cut(whole["text"], added["answer_start"], added["answer_end"], unit) in sentences
    kept = f"{address}/v1/answers/{whole['id']}"
    header = {"PropCite-Offsets": unit}
    assert httpx.get(kept, headers=header).json()["sentences"] == whole["sentences"]
    near = httpx.get(f"{kept}/evidence", params=asked).json()["evidence"][0]
    assert cut(PASSAGE["text"], *near["spans"][0], unit) == near["text"].strip()
    why = httpx.get(f"{kept}/explain", headers=header).json()
    words = [(w["text"], cut(PASSAGE["text"], w["start"], w["end"], unit)) for w in why["source"]["words"] if w["end"]]
    assert words
    assert all(text == shown for text, shown in words)


def test_a_wrong_unit_is_refused(address: str) -> None:
    for path, body in (
        ("/chat/completions", CHAT),
        ("/cite", {"answer": "x", "passages": ["x"]}),
        ("/search", {"query": "x"}),
    ):
        refused = post(address, path, body, headers={"PropCite-Offsets": "words"})
        assert refused.status_code == 422
        assert "code-points, utf-16, bytes" in refused.text
    refused = post(address, "/messages", CHAT, headers={"PropCite-Sources": "footnotes"})
    assert refused.json()["error"]["message"] == "PropCite-Sources: 'footnotes' is no form: send annotations or text"
