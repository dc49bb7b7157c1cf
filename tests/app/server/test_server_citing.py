"""Citing as a stream, judging, and the passages of hits, over real HTTP with the bundled models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from proxied import CITED, QUESTION, REPLY, TEXTS
from serving import parts_with, running_server

from propcite.attribution.formats.json import from_dict

EMOJI = "\U0001f30a\U0001f30a Look. The barrier cost 410 million euros."


@pytest.fixture(scope="module")
def http(loaded: dict[str, object], tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    parts = parts_with(loaded, {"harbour": TEXTS}, data_dir=tmp_path_factory.mktemp("citing"), serve_sentences=40)
    with running_server(parts) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def events(response: httpx.Response) -> list[tuple[str, Any]]:
    assert response.headers["content-type"].startswith("text/event-stream")
    blocks = [block.splitlines() for block in response.text.split("\n\n") if block and not block.startswith(":")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


def test_a_text_is_cited_as_a_stream_with_each_passage_once(http: httpx.Client) -> None:
    body = {"answer": REPLY, "passages": list(TEXTS.values()), "question": QUESTION}
    whole = http.post("/v1/cite", json=body).json()
    streamed = events(http.post("/v1/cite", json={**body, "stream": True}))
    assert "".join(data["text"] for name, data in streamed if name == "answer.delta") == REPLY
    sentences = [data for name, data in streamed if name == "sentence"]
    assert [s["text"].strip() for s in sentences if s["citations"]] == CITED
    sent = [passage["id"] for sentence in sentences for passage in sentence["passages"]]
    assert len(sent) == len(set(sent))
    used = {c["passage_id"] for s in sentences for p in s["propositions"] for c in [*p["citations"], p["nearest"]] if c}
    assert used == set(sent)
    assert streamed[-1][0] == "result"
    assert from_dict(streamed[-1][1]).id == whole["id"]
    assert [p["id"] for p in streamed[-1][1]["passages"]] == [p["id"] for p in whole["passages"]]


def test_a_streamed_text_is_kept_on_request(http: httpx.Client) -> None:
    body = {"answer": CITED[1], "collection": "harbour", "stream": True, "keep": True}
    name, result = events(http.post("/v1/cite", json=body))[-1]
    assert (name, result["collection"]) == ("result", "harbour")
    assert http.get(f"/v1/answers/{result['id']}").json()["text"] == CITED[1]


def test_a_client_may_leave_a_stream_at_any_moment(http: httpx.Client, caplog: pytest.LogCaptureFixture) -> None:
    body = {"answer": REPLY * 10, "passages": list(TEXTS.values()), "stream": True}
    for _ in range(4):
        with http.stream("POST", "/v1/cite", json=body) as response:
            next(response.iter_lines())
    assert http.post("/v1/cite", json={"answer": CITED[1], "passages": [CITED[1]]}).json()["coverage"] == 1
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_a_stream_that_is_too_long_is_refused_before_it_begins(http: httpx.Client) -> None:
    refused = http.post("/v1/cite", json={"answer": "It rained. " * 50, "passages": [], "stream": True})
    assert refused.status_code == 413
    assert "PROPCITE_SERVE_SENTENCES" in refused.json()["detail"]


def test_offsets_of_a_stream_count_the_unit_that_is_asked_for(http: httpx.Client) -> None:
    body = {"answer": EMOJI, "passages": [EMOJI], "stream": True, "offsets": "utf-16"}
    sentences = [data for name, data in events(http.post("/v1/cite", json=body)) if name == "sentence"]
    assert sentences[-1]["start"] == len("xxxx Look. ")
    (passage,) = [passage for sentence in sentences for passage in sentence["passages"]]
    assert passage["sentences"][-1]["start"] == sentences[-1]["start"]


def test_claims_are_judged_by_their_quotes(http: httpx.Client) -> None:
    quote = "The barrier cost 410 million euros."
    cases = [
        {"claim": quote, "evidence": [quote]},
        {"claim": "The barrier cost 400 million euros [1].", "evidence": [quote]},
        {"claim": quote, "evidence": ["The museum opened in 1987."]},
    ]
    judged = http.post("/v1/judge", json={"cases": cases}).json()
    assert [v["label"] for v in judged["verdicts"]] == ["supported", "contradicted", "unsupported"]
    assert judged["judge"].startswith("reader")
    assert http.post("/v1/judge", json={"cases": []}).status_code == 422


def test_a_search_returns_the_passages_of_its_hits_on_request(http: httpx.Client) -> None:
    body = {"query": "cost of the barrier", "collection": "harbour", "granularity": "sentence", "k": 6}
    assert http.post("/v1/search", json=body).json()["passages"] == []
    found = http.post("/v1/search", json={**body, "passages": True}).json()
    texts = {passage["id"]: passage["text"] for passage in found["passages"]}
    assert len(texts) == len(found["passages"]) == 3
    for hit in found["hits"]:
        ((start, end),) = hit["spans"]
        assert texts[hit["passage_id"]][start:end] == hit["text"]
