"""Questions over documents that repeat each other: one passage for the writer, the newest cited, the others named."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from commanded import Propcite, commanded
from scripted_llm import Reply, ScriptedLlm
from serving import parts_with, running_server
from word_encoder import WordEncoder

from propcite.app import parts as bootstrap
from propcite.app.parts import Parts
from propcite.app.server.mcp.results import Results
from propcite.app.server.mcp.wording import search_text
from propcite.attribution.citations import CitedAnswer
from propcite.retrieval.text import Granularity
from propcite.ui.render import hits_html, payload
from propcite.ui.sources import View

LIMIT = "The limit for a hotel is 120 euros a night."
TEXTS = {
    "policy-2023.md": f"---\ntitle: Travel policy 2023\ndate: 2023-01-09\n---\n\n{LIMIT}\n",
    "policy-2024.md": f"---\ntitle: Travel policy 2024\ndate: 2024-01-08\n---\n\n{LIMIT}\n",
    "leaflet.md": f"---\ntitle: Leaflet\ndate: 5 May 2021\n---\n\n{LIMIT}\n",
    "trains.md": "---\ntitle: Trains\ndate: 2020\n---\n\nTickets of the first class are for journeys of three hours.\n",
}
QUESTION = "What is the limit for a hotel?"


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory, loaded: Mapping[str, object]) -> Iterator[Parts]:
    parts = parts_with(loaded, {"travel": TEXTS}, data_dir=tmp_path_factory.mktemp("travel"), collection="travel")
    yield parts
    parts.library.close()


def titles(answer: CitedAnswer) -> list[list[str]]:
    return [[c.passage.title, *(copy.passage.title for copy in c.copies)] for c in answer.citations]


def test_the_newest_is_cited_unless_the_question_names_another(parts: Parts) -> None:
    pipeline = parts.pipeline(parts.library.collection("travel"))
    answer = pipeline.answer(QUESTION)
    assert titles(answer)[0] == ["Travel policy 2024", "Travel policy 2023", "Leaflet"]
    assert len(answer.written_from) == 2
    assert parts.library.answer(answer.id) == answer
    named = pipeline.answer("By the travel policy of 2023, what is the limit for a hotel?")
    assert titles(named)[0][0] == "Travel policy 2023"
    (hit, *_) = pipeline.search("hotel limit in the leaflet", Granularity.SENTENCE)
    assert hit.passage.title == "Leaflet"


def test_documents_are_dated_by_their_field_or_else_by_when_they_were_added() -> None:
    parts = parts_with({"encoder": WordEncoder()}, {"some": TEXTS | {"new.txt": LIMIT}}, data_dir=Path("dated"))
    documents = parts.library.documents(parts.library.collection("some"))
    dates = {d.title: date for d in documents if (date := parts.library.document_dates([d.id])[d.id])}
    assert dates["Leaflet"] == "2021-05-05"
    assert dates["Trains"] == "2020"
    added = next(d.added_at for d in documents if d.source.endswith("new.txt"))
    assert max(dates.values()) == added.isoformat()
    assert parts.library.document_dates(["gone"]) == {}
    parts.library.close()


def test_a_language_model_reads_a_repeated_passage_once(open_parts: Callable[..., Parts], tmp_path: Path) -> None:
    with ScriptedLlm(Reply(chunks=(LIMIT,))) as server:
        parts = open_parts(generator="openai", generator_model="m", llm_url=server.base_url, splitter="rules")
        collection = parts.library.create_collection("travel")
        for name, text in TEXTS.items():
            (tmp_path / name).write_text(text)
        list(parts.ingester(collection).ingest([tmp_path / name for name in TEXTS]))
        answer = parts.pipeline(collection).answer(QUESTION)
        prompt = json.dumps(server.requests[-1].body)
    assert prompt.count(LIMIT) == 1
    assert "first class" in prompt
    assert titles(answer)[0][0] == "Travel policy 2024"


def test_the_command_line_names_the_other_places(
    parts: Parts, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: parts.encoder)
    monkeypatch.setenv("PROPCITE_DATA_DIR", str(parts.settings.data_dir))
    propcite: Propcite = commanded(monkeypatch, capsys)
    also = "also in policy-2023.md; leaflet.md"
    said = propcite("ask", QUESTION, "-c", "travel")
    assert f"policy-2024.md: “{LIMIT}” ({also})" in said.out
    assert also in propcite("search", QUESTION, "-c", "travel").out
    first, *_ = propcite("search", QUESTION, "-c", "travel", "--json").json
    assert [copy["title"] for copy in first["copies"]] == ["Travel policy 2023", "Leaflet"]
    assert "Also in Travel policy 2023; Leaflet." in propcite("explain", "last").out
    assert also in propcite("evidence", "last").out


def test_http_has_the_places(parts: Parts) -> None:
    with running_server(parts) as address:
        body: dict[str, Any] = {"answer": LIMIT, "collection": "travel"}
        answer = httpx.post(f"{address}/v1/cite", json=body, timeout=60).raise_for_status().json()
        query = {"query": QUESTION, "collection": "travel", "granularity": "sentence", "k": 2}
        found = httpx.post(f"{address}/v1/search", json=query, timeout=60).raise_for_status().json()
    (citation,) = answer["sentences"][0]["citations"]
    assert [copy["title"] for copy in citation["copies"]] == ["Travel policy 2023", "Leaflet"]
    assert [copy["quote"] for copy in citation["copies"]] == [LIMIT, LIMIT]
    assert [len(hit.get("copies", [])) for hit in found["hits"]] == [2, 0]


def test_agents_and_the_page_name_them(parts: Parts) -> None:
    collection = parts.library.collection("travel")
    pipeline = parts.pipeline(collection)
    hits = pipeline.search(QUESTION, Granularity.SENTENCE, 2)
    results = Results(parts.library, "travel")
    assert "(also in Travel policy 2023; Leaflet)" in search_text(results.hits(hits, []))
    answer = pipeline.cite(LIMIT)
    (source,) = results.cited(answer, is_kept=True).sources
    assert source.also_in == ["Travel policy 2023", "Leaflet"]
    documents = parts.library.cited_documents(answer)
    assert len(documents) == 3
    views = {id_: View("md", True) for id_ in documents}
    (evidence,) = payload(answer, {}, 0, views)["evidence"].values()
    for shown in (evidence, hits_html(hits, {}, views)):
        also = shown.partition("Also in 2 documents: ")[2].partition("</p>")[0]
        assert also.count("<a ") == 2
        assert "Leaflet</a>" in also
        assert f"source/{answer.citations[0].copies[0].passage.document_id}/reading?cited=" in also
