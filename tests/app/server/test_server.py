"""The HTTP server: the responses of its routes, over real HTTP."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
from serving import running_server, wait_until

from propcite.app.parts import Parts
from propcite.app.server.application import create_app
from propcite.attribution.formats import FORMATS
from propcite.attribution.formats.json import from_dict, json_schema

TEXTS = {
    "gates.txt": "The tidal barrier has fourteen steel gates. Each of them weighs 300 tonnes.",
    "cost.md": "# Cost\n\nThe barrier cost 410 million euros. The state paid two thirds of it.\n",
    "museum.txt": "The maritime museum opened in 1987. It stands in an old rope factory.",
}
QUICK = {"judge": "none", "splitter": "rules", "min_score": 0.8}


@pytest.fixture
def parts(open_parts: Callable[..., Parts], tmp_path: Path) -> Parts:
    parts = open_parts(**QUICK, collection="harbour")
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    collection = parts.library.create_collection("harbour")
    outcomes = list(parts.ingester(collection).ingest([tmp_path / name for name in TEXTS]))
    assert {outcome.state for outcome in outcomes} == {"added"}
    return parts


@pytest.fixture
def http(parts: Parts) -> Iterator[httpx.Client]:
    with running_server(parts) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def events(response: httpx.Response) -> list[tuple[str, dict[str, Any]]]:
    """Parse server-sent events as a client does."""
    parsed = []
    for block in response.read().decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            parsed.append((lines["event"], json.loads(lines["data"])))
    return parsed


# Citing


def test_a_text_is_cited_over_passages(http: httpx.Client) -> None:
    passages = ["It rained in the town.", {"id": "b", "title": "Snow", "text": "It snowed on the hills."}]
    response = http.post("/v1/cite", json={"answer": "It snowed on the hills. Cats sleep.", "passages": passages})
    assert response.status_code == 200
    jsonschema.validate(response.json(), json_schema())
    answer = from_dict(response.json())
    assert [[c.passage.id for c in s.citations] for s in answer.sentences] == [["b"], []]
    assert answer.citations[0].passage.title == "Snow"
    assert response.headers["x-propcite-answer"] == answer.id


def test_an_empty_list_of_passages_does_not_mean_the_collection(http: httpx.Client) -> None:
    """A chatbot whose search found nothing sends an empty list, and is not cited over passages it has not seen."""
    text = {"answer": "The maritime museum opened in 1987."}
    (fact,) = http.post("/v1/cite", json={**text, "passages": []}).json()["sentences"][0]["propositions"]
    assert (fact["verdict"]["label"], fact["citations"], fact["nearest"]) == ("unsupported", [], None)
    elsewhere = http.post("/v1/cite", json={**text, "passages": [], "collection": "harbour"}).json()
    assert [c["shown"] for s in elsewhere["sentences"] for c in s["citations"]] == [False]
    whole = http.post("/v1/cite", json=text).json()
    assert [c["shown"] for s in whole["sentences"] for c in s["citations"]] == [True]


def test_a_text_is_cited_over_a_collection_and_over_passages_first(http: httpx.Client) -> None:
    text = "The museum opened in 1987."
    over = http.post("/v1/cite", json={"answer": "The maritime museum opened in 1987.", "collection": "harbour"}).json()
    assert [c["quote"] for s in over["sentences"] for c in s["citations"]] == ["The maritime museum opened in 1987."]
    assert over["collection"] == "harbour"
    both = http.post(
        "/v1/cite",
        json={
            "answer": "It rained on the town. Each of them weighs 300 tonnes.",
            "passages": ["It rained on the town."],
            "collection": "harbour",
            "question": "What of it?",
        },
    ).json()
    assert [c["shown"] for s in both["sentences"] for c in s["citations"]] == [True, False]
    assert both["question"] == "What of it?"
    default = http.post("/v1/cite", json={"answer": text}).json()
    assert default["collection"] == "harbour"


@pytest.mark.parametrize("name", list(FORMATS))
def test_every_format_has_its_media_type(http: httpx.Client, name: str) -> None:
    body = {"answer": "It rained in the town.", "passages": ["It rained in the town."], "format": name}
    response = http.post("/v1/cite", json=body)
    if FORMATS[name].missing_program():
        assert response.status_code == 501
        return
    assert response.status_code == 200
    assert response.headers["content-type"].split(";")[0] == FORMATS[name].media_type
    assert response.content


def test_an_answer_is_stored_on_request(http: httpx.Client, parts: Parts) -> None:
    body = {"answer": "The maritime museum opened in 1987.", "collection": "harbour"}
    http.post("/v1/cite", json=body)
    assert parts.library.answers() == []
    stored = http.post("/v1/cite", json={**body, "keep": True}).json()
    assert [info.id for info in parts.library.answers()] == [stored["id"]]


def test_stored_answers_are_listed_and_returned_in_any_format(http: httpx.Client) -> None:
    answer = http.post("/v1/ask", json={"question": "The barrier cost how many million euros?"}).json()
    listed = http.get("/v1/answers").json()["answers"]
    assert [(a["id"], a["question"]) for a in listed] == [(answer["id"], answer["question"])]
    assert http.get(f"/v1/answers/{answer['id']}").json() == answer
    as_text = http.get(f"/v1/answers/{answer['id']}", params={"format": "markdown"})
    assert as_text.headers["content-type"].startswith("text/markdown")
    assert "[^1]" in as_text.text
    for wrong in ("0000", "%00", "a_b"):
        assert http.get(f"/v1/answers/{wrong}").status_code == 404


def test_answers_cited_in_a_batch_get_the_citations_they_get_alone(http: httpx.Client) -> None:
    answers = [f"It rained in town {n}. The maritime museum opened in 1987." for n in range(40)]
    passages = [f"It rained in town {n}." for n in range(40)]

    def over(number: int) -> dict[str, Any]:
        return [
            {"passages": [passages[number], "x"]},
            {"collection": "harbour"},
            {"passages": [passages[number]], "collection": "harbour"},
        ][number % 3]

    def cite(number: int) -> Any:
        cited = http.post("/v1/cite", json={"answer": answers[number], **over(number)}).json()
        return [(s["start"], s["end"], [(c["quote"], c["number"]) for c in s["citations"]]) for s in cited["sentences"]]

    with ThreadPoolExecutor(20) as threads:
        together = list(threads.map(cite, range(40)))
    assert together == [cite(number) for number in range(40)]
    figures = http.get("/metrics").text
    count, total = (float(figures.partition(f"propcite_cited_together_{n} ")[2].split()[0]) for n in ("count", "sum"))
    assert total == 80
    assert count < 80  # some were cited in one batch


def test_one_answer_that_cannot_be_cited_does_not_affect_the_others(http: httpx.Client) -> None:
    good = {"answer": "It rained.", "passages": ["It rained."]}
    bad = {"answer": "It rained.", "passages": [{"id": "a", "text": "It rained."}, {"id": "a", "text": "It snowed."}]}

    def status(body: dict[str, Any]) -> int:
        return http.post("/v1/cite", json=body).status_code

    with ThreadPoolExecutor(12) as threads:
        assert list(threads.map(status, [good, bad] * 12)) == [200, 422] * 12


def test_markers_are_repaired(http: httpx.Client) -> None:
    body = {"answer": "It snowed on the hills [1].", "passages": ["It rained.", "It snowed on the hills."]}
    repaired = http.post("/v1/repair", json=body).json()
    assert repaired["text"] == "It snowed on the hills [2]."
    assert [check["state"] for check in repaired["checks"]] == ["dropped", "added"]


# Asking and searching


def test_responses_match_their_schemas(http: httpx.Client) -> None:
    body = {"answer": "Die Sperre hat vierzehn Tore [1] und ist im Mai fertig [9].", "passages": ["It has gates."]}
    for path, name in (("/v1/cite", "answer"), ("/v1/repair", "repair")):
        jsonschema.validate(http.post(path, json=body).json(), http.get(f"/v1/schemas/{name}").json())
    assert http.get("/v1/schemas/guess").status_code == 422


def test_a_question_is_answered_whole_or_as_a_stream(http: httpx.Client, parts: Parts) -> None:
    body = {"question": "The barrier cost how many million euros?"}
    whole = http.post("/v1/ask", json=body).json()
    assert "410 million" in whole["text"]
    assert whole["models"]["generator"] == "extractive"
    streamed = events(http.post("/v1/ask", json={**body, "stream": True}))
    assert "".join(data["text"] for name, data in streamed if name == "answer.delta") == whole["text"]
    kinds = [name for name, _ in streamed]
    assert kinds[-1] == "result"
    assert {"answer.delta", "sentence", "citation.added"} <= set(kinds)
    assert streamed[-1][1]["id"] == whole["id"]
    added = [data for name, data in streamed if name == "citation.added"]
    assert [c["id"] for c in added] == [c["id"] for s in whole["sentences"] for c in s["citations"]]
    for citation in added:
        assert whole["text"][citation["answer_start"] : citation["answer_end"]].strip()
    assert [info.id for info in parts.library.answers()] == [whole["id"]]


def test_a_search_ranks_units_of_the_requested_granularity(http: httpx.Client) -> None:
    for granularity in ("passage", "sentence", "proposition"):
        body = {"query": "maritime museum opened", "granularity": granularity, "k": 2}
        response = http.post("/v1/search", json=body).json()
        assert "museum opened" in response["hits"][0]["text"]
        assert response["hits"][0]["granularity"] == granularity
        assert response["timings_ms"]["encode"] >= 0
        lacking = [] if granularity == "passage" else [f"words@1 has no marker for {granularity}s"]
        assert response["notes"] == lacking
    narrowed = http.post("/v1/search", json={"query": "maritime museum", "documents": ["gates.txt"]}).json()
    assert {hit["document_id"] for hit in narrowed["hits"]} == {
        d["id"] for d in http.get("/v1/documents").json()["documents"] if d["source"].endswith("gates.txt")
    }


# Collections, health


def test_collections_are_created_listed_and_removed(http: httpx.Client) -> None:
    assert http.post("/v1/collections", json={"name": "other"}).status_code == 201
    assert http.post("/v1/collections", json={"name": "other"}).status_code == 201
    assert [c["name"] for c in http.get("/v1/collections").json()["collections"]] == ["harbour", "other"]
    assert http.request("DELETE", "/v1/collections/other").json()["name"] == "other"
    assert http.request("DELETE", "/v1/collections/other").status_code == 404
    assert http.post("/v1/search", json={"query": "gates", "collection": "other"}).status_code == 404


def test_a_collection_created_again_is_empty(http: httpx.Client) -> None:
    assert http.post("/v1/search", json={"query": "museum"}).json()["hits"]
    http.request("DELETE", "/v1/collections/harbour")
    http.post("/v1/collections", json={"name": "harbour"})
    refused = http.post("/v1/search", json={"query": "museum"})
    assert refused.status_code == 404
    assert "is empty" in refused.json()["detail"]


def test_health_and_metrics(http: httpx.Client) -> None:
    assert http.get("/healthz").json() == {"status": "ok"}
    assert http.get("/readyz").json()["splitter"] == "rules"
    http.post("/v1/cite", json={"answer": "It rained. Cats sleep.", "passages": ["It rained."]})
    figures = http.get("/metrics").text
    assert 'propcite_facts_total{cited="yes"} 1.0' in figures
    assert 'propcite_facts_total{cited="no"} 1.0' in figures
    counted = 'propcite_requests_total{method="POST",route="/v1/cite",status="200"} 1.0'
    wait_until(lambda: counted in http.get("/metrics").text, "the request is not counted")


def test_before_the_models_are_loaded_requests_are_refused(parts: Parts) -> None:
    held = threading.Event()

    class SlowlyLoaded:
        def __getattr__(self, name: str) -> Any:
            held.wait(30)
            return getattr(real, name)

    real = parts.propcite
    parts.__dict__["propcite"] = SlowlyLoaded()
    with (
        running_server(parts, ready=False) as address,
        httpx.Client(timeout=60) as client,
    ):  # loading takes the processor
        assert client.get(f"{address}/healthz").status_code == 200
        for response in (
            client.get(f"{address}/readyz"),
            client.post(f"{address}/v1/cite", json={"answer": "It rained.", "passages": ["It rained."]}),
        ):
            assert response.status_code == 503
            assert "still loading" in response.json()["detail"]
            assert response.headers["retry-after"]
        held.set()
        for _ in range(200):
            if client.get(f"{address}/readyz").status_code == 200:
                break
            time.sleep(0.05)
        else:
            pytest.fail("the models are loaded and the server is not ready")


def test_the_error_of_models_that_cannot_be_loaded_is_reported(open_parts: Callable[..., Parts]) -> None:
    parts = open_parts(judge="nli", judge_model="/no/such/model")
    with running_server(parts, ready=False) as address:
        for _ in range(200):
            response = httpx.get(f"{address}/readyz")
            if "still loading" not in response.json()["detail"]:
                break
            time.sleep(0.05)
        assert response.status_code == 503
        assert "/no/such/model" in response.json()["detail"]


def test_the_openapi_description_has_every_route_and_examples(parts: Parts) -> None:
    described = create_app(parts).openapi()
    routes = {f"{m.upper()} {path}" for path, methods in described["paths"].items() for m in methods}
    assert {
        "POST /v1/cite", "POST /v1/ask", "POST /v1/search", "POST /v1/documents", "GET /v1/documents",
        "DELETE /v1/documents/{document_id}", "GET /v1/collections", "GET /healthz", "GET /readyz", "GET /metrics",
        "GET /v1/schemas/{of}", "GET /v1/documents/{document_id}/pages/{number}",
        "GET /v1/answers/{answer_id}/evidence",
    } <= routes  # fmt: skip
    shapes = described["components"]["schemas"]
    ids = [operation["operationId"] for methods in described["paths"].values() for operation in methods.values()]
    assert len(set(ids)) == len(ids)
    assert [one for one in ids if not re.fullmatch(r"[a-z]+(_[a-z]+){0,3}", one)] == []
    assert {"ask", "cite", "judge", "search", "add_documents", "list_documents", "remove_document"} <= set(ids)
    for name, field in (("CiteRequest", "answer"), ("AskRequest", "question"), ("SearchRequest", "query")):
        assert shapes[name]["properties"][field]["examples"]
