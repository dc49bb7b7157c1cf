"""A citation of words that stand at several places lists the others, in every shape that an answer can have."""

from __future__ import annotations

import json
from dataclasses import replace

import jsonschema
import pytest

from propcite import Encoder, PropCite, Retriever
from propcite.attribution.citations import CitedAnswer, Label
from propcite.attribution.citing.splitting import answer_text
from propcite.attribution.formats import FORMATS
from propcite.attribution.formats.cited_documents import CitedDocument, with_documents
from propcite.attribution.formats.explanations.text import explanation_lines
from propcite.attribution.formats.json import from_json, json_schema, to_dict, to_json
from propcite.attribution.formats.json.hits import hit_json
from propcite.attribution.formats.json.native import from_native, to_native
from propcite.attribution.formats.offsets import Unit
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Passage

HEIGHT = "The barrier is 6.4 metres high."
DATES = {"note": "2022", "audit": "2025-02", "press": "2024-10-18"}
PASSAGES = [
    passage_from_text("note:0", f"The gates are new 😀. {HEIGHT} It has fourteen gates.", "Note 14", "note"),
    passage_from_text("audit:0", f"The audit was made in 2025. {HEIGHT}", "Audit", "audit"),
    passage_from_text("press:0", f"Council met today. {HEIGHT.upper()}", "Press release", "press"),
    passage_from_text("ferry:0", "The ferry crosses at eight.", "Ferry", "ferry"),
]


@pytest.fixture(scope="module")
def propcite(encoder: Encoder) -> PropCite:
    return PropCite(encoder)


@pytest.fixture(scope="module")
def collection(encoder: Encoder) -> Retriever:
    return replace(Retriever.over(encoder, PASSAGES), dates=lambda ids: {i: DATES[i] for i in ids if i in DATES})


@pytest.fixture(scope="module")
def answer(propcite: PropCite, collection: Retriever) -> CitedAnswer:
    return propcite.cite(HEIGHT, collection)


def cited(answer: CitedAnswer) -> list[list[str]]:
    return [[c.passage.document_id, *(copy.passage.document_id for copy in c.copies)] for c in answer.citations]


def test_the_newest_is_cited_and_the_others_are_listed(propcite: PropCite, collection: Retriever) -> None:
    answer = propcite.cite(HEIGHT, collection)
    assert cited(answer) == [["audit", "press", "note"]]
    assert [copy.quote for copy in answer.citations[0].copies] == [HEIGHT.upper(), HEIGHT]
    assert len(answer.passages) == 1  # one marker
    asked = propcite.cite("The height is 6.4 metres.", collection, question="How high is it by the press release?")
    assert cited(asked) == [["press", "audit", "note"]]
    with propcite.stream(["The barrier is ", "6.4 metres high."], collection) as stream:
        *_, done = stream
    assert cited(done.answer) == cited(answer)


def test_a_claim_cites_the_place_that_it_names(encoder: Encoder, collection: Retriever) -> None:
    unjudged = PropCite(encoder, judge=None, min_score=-1)
    claim = "Note 14 says that the barrier is 6.4 metres high."
    assert cited(unjudged.cite(claim, collection))[0][0] == "note"


def test_given_passages_keep_their_numbers_and_the_first_is_cited(propcite: PropCite) -> None:
    texts = ["The ferry crosses at eight.", HEIGHT, f"{HEIGHT} Ships pass it at night."]
    answer = propcite.cite(f"The ferry crosses at eight. {HEIGHT}", texts)
    assert [(c.number, c.passage.id, [copy.passage.id for copy in c.copies]) for c in answer.citations] == [
        (1, "1", []),
        (2, "2", ["3"]),
    ]
    kept = propcite.repair(f"{HEIGHT[:-1]} [3].", texts)
    assert [(check.number, check.state.value) for check in kept.checks] == [(3, "kept")]


def test_versions_that_contradict_each_other_are_no_copies(propcite: PropCite, encoder: Encoder) -> None:
    old = passage_from_text("old:0", "The notice period is 30 days.", "Handbook", "old")
    new = passage_from_text("new:0", "The notice period is 60 days.", "Handbook", "new")
    answer = propcite.cite("The notice period is 30 days.", Retriever.over(encoder, [old, new]))
    assert cited(answer) == [["old"]]


def test_what_the_source_has_is_not_cited_from_a_copy_elsewhere(propcite: PropCite, collection: Retriever) -> None:
    claim = "The barrier is 7 metres high."
    answer = propcite.cite(claim, collection.only(["note:0"]), collection=collection)
    (fact,) = answer.facts
    assert fact.verdict is not None
    assert fact.verdict.label is not Label.SUPPORTED
    assert fact.nearest is not None
    assert fact.nearest.shown


def test_json_keeps_the_places_and_reads_answers_without_them(answer: CitedAnswer) -> None:
    assert from_json(to_json(answer)) == answer
    data = json.loads(to_json(answer))
    jsonschema.validate(data, json_schema())
    (citation,) = data["sentences"][0]["citations"]
    assert [copy["document_id"] for copy in citation["copies"]] == ["press", "note"]
    assert citation["copies"][1]["quote"] == HEIGHT
    utf16 = to_native(answer, Unit.UTF_16)
    assert from_native(json.dumps(utf16)) == answer
    start = citation["copies"][1]["start"]
    assert utf16["sentences"][0]["citations"][0]["copies"][1]["start"] == start + 1  # after an emoji
    for one in (data["sentences"][0]["citations"][0], data["sentences"][0]["propositions"][0]["citations"][0]):
        del one["copies"]
    assert cited(from_json(json.dumps(data))) == [["audit"]]


@pytest.mark.parametrize("name", ["markdown", "html", "docx", "json", "csv", "openai", "anthropic"])
def test_every_format_takes_copies_and_reports_name_them(answer: CitedAnswer, name: str) -> None:
    form = FORMATS[name]
    written = form.write(answer)
    if name in ("markdown", "html"):
        assert "also in Press release; Note 14" in written.decode()


def test_a_copy_says_what_became_of_its_document(answer: CitedAnswer) -> None:
    gone = with_documents(answer, {"note": CitedDocument("note", "Note 14", status="source removed")})
    assert [copy.document_status for copy in gone.citations[0].copies] == ["", "source removed"]
    assert "also in Press release; Note 14, source removed" in FORMATS["markdown"].write(gone).decode()
    assert gone == answer


def test_explanations_and_alternatives_name_them(
    propcite: PropCite, collection: Retriever, answer: CitedAnswer
) -> None:
    assert explanation_lines(propcite.explain(answer))[-1] == "Also in Press release; Note 14."
    first, *others = propcite.alternatives(answer, 1, collection, k=3)
    assert first.number == 1
    assert [copy["document_id"] for copy in hit_json(first.hit)["copies"]] == ["press", "note"]
    assert HEIGHT not in [one.hit.text for one in others]


def test_a_passage_that_is_given_twice_is_read_once(propcite: PropCite) -> None:
    twice = [Passage("a", HEIGHT), Passage("b", f"{HEIGHT} ")]
    answer = propcite.cite(HEIGHT, twice)
    assert [(c.passage.id, len(c.copies)) for c in answer.citations] == [("a", 1)]
    assert answer_text(answer.text) == HEIGHT
    assert to_dict(answer)["passages"][1]["id"] == "b"
