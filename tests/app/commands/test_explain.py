"""Why a fact has its source: on the terminal, as JSON, as a page and over HTTP, from kept answers and from files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx
import jsonschema
import pytest
from commanded import Propcite, commanded
from sample_answers import ANSWER
from serving import running_server
from word_encoder import WordEncoder

from propcite.app import parts as bootstrap
from propcite.app.parts import Parts
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats import FORMATS, Unit
from propcite.attribution.formats.json import to_json

FERRY = "The ferry leaves at seven. It carries ninety people and their bicycles across the bay.\n"
TEXT = "The ferry leaves at eight. It carries ninety people."


@pytest.fixture
def propcite(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Propcite:
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    monkeypatch.setenv("PROPCITE_SPLITTER", "rules")
    monkeypatch.setenv("PROPCITE_JUDGE", "none")
    monkeypatch.setenv("COLUMNS", "80")
    return commanded(monkeypatch, capsys)


@pytest.fixture
def parts(open_parts: Callable[..., Parts]) -> Parts:
    return open_parts(judge="none", splitter="rules")


@pytest.fixture
def answer(parts: Parts, tmp_path: Path) -> CitedAnswer:
    """Cited over a collection, and kept in it."""
    collection = parts.library.create_collection("default")
    (tmp_path / "ferry.txt").write_text(FERRY)
    list(parts.ingester(collection).ingest([tmp_path / "ferry.txt"]))
    return parts.pipeline(collection).cite(TEXT)


# The command line


def test_each_word_stands_beside_those_that_it_met(propcite: Propcite, answer: CitedAnswer) -> None:
    said = propcite("explain", answer.id)
    assert said.code == 0
    assert "ferry.txt: “The ferry leaves at seven.”" in said.out
    rows = [line.split() for line in said.out.splitlines()]
    assert ["✓", "ferry", "20%", "1.00", "ferry"] in rows
    assert any(row[:2] == ["○", "eight"] for row in rows)
    assert "4 of 5 words of weight found; strongest: " in said.out
    assert "not found: “eight”." in said.out
    assert "more: --fact 1 to 2" in said.err
    table = [line for line in said.out.splitlines() if line.strip().startswith(("✓", "○", "word"))]
    assert max(map(len, table)) <= 80


@pytest.mark.parametrize("granularity", ["passage", "sentence", "proposition"])
def test_the_last_answer_at_any_granularity(propcite: Propcite, answer: CitedAnswer, granularity: str) -> None:
    found = propcite("explain", "last", "--fact", "2", "-g", granularity, "--json").json
    jsonschema.validate(found, propcite("schema", "explanation").json)
    assert (found["answer"], found["granularity"], found["fact"]["number"]) == (answer.id, granularity, 2)
    assert sum(map(sum, found["contributions"])) == pytest.approx(found["unit_score"])
    assert found["score"] == pytest.approx(found["evidence"]["score"], abs=0.02) or granularity == "passage"


def test_a_file_of_an_answer_is_explained_as_it_was_kept(
    propcite: Propcite, answer: CitedAnswer, tmp_path: Path
) -> None:
    kept = propcite("explain", answer.id, "--json").json
    (tmp_path / "answer.json").write_text(to_json(answer))
    (tmp_path / "utf16.json").write_bytes(FORMATS["json"].write(answer, Unit("utf-16")))
    for name in ("answer.json", "utf16.json"):
        assert propcite("explain", str(tmp_path / name), "--json").json == kept


def test_an_alignment_may_be_tried(propcite: Propcite, answer: CitedAnswer) -> None:
    found = propcite("explain", answer.id, "--alignment", "top-k=2", "--json").json
    assert found["alignment"] == "top-k=2"
    assert all(sum(map(bool, row)) == 2 for row in found["contributions"])


def test_a_page_is_written(propcite: Propcite, answer: CitedAnswer, tmp_path: Path) -> None:
    said = propcite("explain", answer.id, "--html", str(tmp_path / "why.html"))
    assert (said.code, said.out) == (0, "")
    page = (tmp_path / "why.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "<caption>" in page


def test_a_source_that_was_removed_is_still_explained_and_said(propcite: Propcite, answer: CitedAnswer) -> None:
    assert propcite("remove", "ferry.txt").code == 0
    said = propcite("explain", answer.id)
    assert said.code == 0
    assert "(no longer in the library): “The ferry leaves at seven.”" in " ".join(said.out.split())


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["nothing"], "propcite list --answers"),
        (["ANSWER", "--fact", "9"], "it has 2, counted from 1"),
        (["ANSWER", "--citation", "7"], "the fact has the citations "),
        (["ANSWER", "--alignment", "nearest"], "there is no alignment 'nearest': give one like top-k=2"),
        (["ANSWER", "--html", "/nowhere/why.html"], "give another --html"),
        (["broken.json"], "this is not a cited answer"),
        (["bm25.json"], "cited by bm25, which compares no token vectors: cite it again"),
        (["foreign.json"], "cited with the encoder colbert@1, not words@1: cite it again"),
    ],
)
def test_what_cannot_be_explained_is_one_line(
    propcite: Propcite, answer: CitedAnswer, tmp_path: Path, words: list[str], line: str
) -> None:
    (tmp_path / "broken.json").write_text('{"schema": "something else"}')
    (tmp_path / "bm25.json").write_text(to_json(replace(answer, models={"method": "bm25"})))
    (tmp_path / "foreign.json").write_text(to_json(replace(answer, models={"encoder": "colbert@1"})))
    said = propcite("explain", *(answer.id if word == "ANSWER" else word for word in words))
    assert (said.code, said.out) == (2, "")
    assert line in said.err
    assert said.err.count("\n") == 1


def test_without_any_answer_the_next_step_is_told(propcite: Propcite) -> None:
    said = propcite("explain", "last")
    assert said.code == 2
    assert "no answer is stored yet: run propcite ask QUESTION" in said.err


# HTTP


def test_why_is_told_over_http(parts: Parts, answer: CitedAnswer) -> None:
    foreign = replace(answer, text=f"{TEXT} So", models={"encoder": "colbert@1"})
    parts.library.save_answer(parts.library.collection("default"), foreign)
    with running_server(parts) as address, httpx.Client(base_url=f"{address}/v1") as http:
        place = f"/answers/{answer.id}/explain"
        found = http.get(place, params={"fact": 2, "granularity": "proposition", "alignment": "top-k=2"})
        assert found.status_code == 200
        jsonschema.validate(found.json(), http.get("/schemas/explanation").json())
        assert (found.json()["fact"]["number"], found.json()["alignment"]) == (2, "top-k=2")
        assert http.get(place).json()["fact"]["id"] == answer.facts[0].id
        assert http.get(place, params={"fact": answer.facts[1].id}).json()["fact"]["number"] == 2
        for asked, status, says in (
            ({"fact": 9}, 404, "it has 2, counted from 1"),
            ({"citation": 9}, 404, "the fact has the citations"),
            ({"granularity": "word"}, 422, "granularity"),
            ({"alignment": "nearest"}, 422, "there is no alignment 'nearest'"),
            ({"fakt": 1}, 422, "fakt"),
        ):
            response = http.get(place, params=asked)
            assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
            assert says in response.json()["detail"]
        assert http.get("/answers/nothing/explain").status_code == 404
        other = http.get(f"/answers/{foreign.id}/explain")
        assert (other.status_code, "cited with the encoder colbert@1" in other.json()["detail"]) == (422, True)


def test_every_fact_of_an_answer_that_has_a_source_is_explained(parts: Parts) -> None:
    known = replace(ANSWER, models={})
    for number, fact in enumerate(known.facts, start=1):
        for citation in fact.citations or ((None,) if fact.nearest else ()):
            found = parts.propcite.explain(known, number, citation.id if citation else "")
            assert json.dumps(found.explanation.contributions.tolist())
