"""JSON of answers: read back unchanged, valid by its schema, and rejected if anything in it was changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from sample_answers import GATES

from propcite.attribution.citations import (
    Citation,
    CitedAnswer,
    CitedProposition,
    CitedSentence,
    Evidence,
    Label,
    Proposition,
    Verdict,
)
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats.json import SCHEMA, from_dict, from_json, json_schema, to_dict, to_json
from propcite.attribution.formats.json.repairs import repair_schema
from propcite.attribution.question_parts import Answered, QuestionPart
from propcite.retrieval.text import Passage, Sentence, Span

TEXT = "The gates weigh 300 tonnes — each. 😀 It cost 5 million. Is that all?"
NO_CONVERSATION: dict[str, Any] = {"after": "", "understood": "", "written_from": (), "parts": ()}
COST = Passage("cost", "It cost 4 million.", document_id="d2", sentences=(Sentence(Span(0, 18)),))


@pytest.fixture
def answer() -> CitedAnswer:
    """Return an answer with all fields set."""
    citation = Citation(1, Evidence(GATES, Span(6, 36), 0.8123, 0.5), Verdict(Label.SUPPORTED, 0.93))
    weighs = CitedProposition(
        Proposition((Span(0, 9), Span(10, 26)), "The gates weigh 300 tonnes."), citation.verdict, (citation,)
    )
    cost = CitedProposition(
        Proposition((Span(37, 55),), "It cost 5 million."),
        Verdict(Label.CONTRADICTED, 0.35, "source says 4 million; answer says 5 million"),
        (),
        Evidence(COST, Span(0, 18), 0.9, 0.9),
    )
    ask = CitedProposition(Proposition((Span(56, 68),), "Is that all?", check_worthy=False), None)
    return CitedAnswer(
        TEXT,
        (
            CitedSentence(Span(0, 34), (weighs,)),
            CitedSentence(Span(35, 55), (cost,), max_citations=1),
            CitedSentence(Span(56, 68), (ask,)),
        ),
        question="How heavy are “they”?",
        abstained=True,
        models={"encoder": "MiniLM"},
        timings_ms={"judge": 1.25},
        incomplete=True,
        notes=("the server went away",),
        after="feedbeef0123",
        understood="How heavy are the gates?",
        written_from=("gates", "cost"),
        parts=(QuestionPart("How heavy are the gates?", Answered.YES, 0.91, Span(0, 34)),),
    )


@pytest.mark.parametrize("text", ["[" * 100_000, '{"schema": "propcite/answer/1", "x": %s}' % ("[" * 900 + "]" * 900)])
def test_deeply_nested_json_is_rejected(text: str) -> None:
    with pytest.raises(AttributionError, match="not a cited answer"):
        from_json(text)


def test_an_answer_is_read_back(answer: CitedAnswer) -> None:
    assert from_json(to_json(answer)) == answer
    assert from_json(to_json(answer, indent=2)) == answer
    assert from_dict(to_dict(answer)) == answer
    assert from_json(to_json(answer)).id == answer.id
    assert from_json(to_json(CitedAnswer(""))) == CitedAnswer("")


def test_json_follows_the_published_schema(answer: CitedAnswer) -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    jsonschema.validate(json.loads(to_json(answer)), json_schema())
    jsonschema.validate(json.loads(to_json(CitedAnswer(""))), json_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(to_json(answer)) | {"schema": "propcite/answer/7"}, json_schema())


def test_a_schema_names_its_dialect_and_its_id() -> None:
    for schema, name in ((json_schema(), "answer:6"), (repair_schema(), "repair:1")):
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        assert schema["$id"] == f"urn:propcite:schema:{name}"
        jsonschema.Draft202012Validator.check_schema(schema)


def test_an_answer_of_version_1_is_read(answer: CitedAnswer) -> None:
    def as_first(value: Any) -> Any:
        if isinstance(value, list):
            return [as_first(item) for item in value]
        if not isinstance(value, dict):
            return value
        new = {"shown", "boxes", "places"} | ({"id"} if "spans" in value or "verdict" in value else set())
        return {name: as_first(item) for name, item in value.items() if name not in new}

    first = as_first(json.loads(to_json(answer)))
    del first["uncited_spans"], first["index_version"], first["incomplete"], first["notes"]
    del first["after"], first["understood"], first["written_from"], first["answered"], first["parts"]
    result = from_json(json.dumps(first | {"schema": "propcite/answer/1"}))
    assert [c.quote for c in result.citations] == [c.quote for c in answer.citations]
    assert [c.boxes for c in result.citations] == [()]
    assert result.id == replace(answer, **NO_CONVERSATION).id
    with pytest.raises(AttributionError, match="Field required"):
        from_json(json.dumps(first | {"schema": SCHEMA}))


def test_an_answer_of_version_2_is_read(answer: CitedAnswer) -> None:
    second = json.loads(to_json(answer)) | {"schema": "propcite/answer/2"}
    del second["incomplete"], second["notes"], second["after"], second["understood"], second["written_from"]
    del second["answered"], second["parts"]
    assert from_json(json.dumps(second)) == replace(answer, incomplete=False, notes=(), **NO_CONVERSATION)
    with pytest.raises(AttributionError, match="Field required"):
        from_json(json.dumps(second | {"schema": "propcite/answer/3"}))


def test_an_answer_of_version_3_is_read_without_places(answer: CitedAnswer) -> None:
    def as_third(value: Any) -> Any:
        if isinstance(value, list):
            return [as_third(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {name: as_third(item) for name, item in value.items() if name != "places"}

    third = as_third(json.loads(to_json(answer)))
    del third["answered"], third["parts"]
    result = from_json(json.dumps(third | {"schema": "propcite/answer/3"}))
    assert [c.places for c in answer.citations] == [("<i>slide</i> 3",)]
    assert [(c.quote, c.places) for c in result.citations] == [(c.quote, ()) for c in answer.citations]
    with pytest.raises(AttributionError, match="Field required"):
        from_json(json.dumps(third | {"schema": SCHEMA}))


def test_an_answer_of_version_4_is_read_without_conversation(answer: CitedAnswer) -> None:
    fourth = json.loads(to_json(answer))
    del fourth["after"], fourth["understood"], fourth["written_from"], fourth["answered"], fourth["parts"]
    assert from_json(json.dumps(fourth | {"schema": "propcite/answer/4"})) == replace(answer, **NO_CONVERSATION)
    with pytest.raises(AttributionError, match="Field required"):
        from_json(json.dumps(fourth | {"schema": SCHEMA}))


def test_an_answer_of_version_5_is_read_without_parts(answer: CitedAnswer) -> None:
    fifth = json.loads(to_json(answer))
    assert (fifth.pop("answered"), len(fifth.pop("parts"))) == ("yes", 1)
    assert from_json(json.dumps(fifth | {"schema": "propcite/answer/5"})) == replace(answer, parts=())
    with pytest.raises(AttributionError, match="Field required"):
        from_json(json.dumps(fifth | {"schema": SCHEMA}))


def test_a_part_beyond_the_end_of_the_answer_is_an_error(answer: CitedAnswer) -> None:
    data = json.loads(to_json(answer))
    data["parts"][0]["end"] = 10_000
    with pytest.raises(AttributionError, match="inconsistent"):
        from_json(json.dumps(data))


def test_the_id_depends_on_the_previous_answer(answer: CitedAnswer) -> None:
    assert replace(answer, after="").id != answer.id == replace(answer, understood="", written_from=()).id


def test_the_schema_describes_its_parts() -> None:
    parts = json_schema()["$defs"]
    assert all(
        parts[name]["description"] for name in ("CitationJson", "PropositionJson", "SentenceJson", "PassageJson")
    )


def test_citations_contain_all_that_a_quote_needs(answer: CitedAnswer) -> None:
    written = to_dict(answer)
    citation = written["sentences"][0]["citations"][0]
    assert citation["quote"] == "Each gate weighs 300 tonnes 😀."[: 36 - 6]
    assert (citation["start"], citation["end"]) == (6, 36)
    assert (citation["document_start"], citation["document_end"]) == (106, 136)
    assert citation["pages"] == [3, 4]
    assert [(box["page"], box["top"]) for box in citation["boxes"]] == [(3, 0.2), (4, 0.1)]
    assert written["uncited"] == ["It cost 5 million."]
    assert written["coverage"] == 0.5
    assert [p["id"] for p in written["passages"]] == ["gates", "cost"]


def test_offsets_count_code_points(answer: CitedAnswer) -> None:
    written = json.loads(to_json(answer))
    for sentence in written["sentences"]:
        assert written["text"][sentence["start"] : sentence["end"]] == sentence["text"]


def test_a_lone_surrogate_is_written_as_a_replacement_character() -> None:
    written = to_json(CitedAnswer("tide \ud83d!", (CitedSentence(Span(0, 7)),), question="\udfff?"))
    assert written.encode()
    result = from_json(written)
    assert (result.text, result.question, result.sentences[0].span) == ("tide \ufffd!", "\ufffd?", Span(0, 7))


def citation_of(data: Any) -> Any:
    return data["sentences"][0]["propositions"][0]["citations"][0]


def nearest_of(data: Any) -> Any:
    return data["sentences"][1]["propositions"][0]["nearest"]


TAMPERED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "another quote": (lambda d: citation_of(d).update(quote="Each gate weighs 900 tonnes."), "is not at its place in"),
    "a longer quote": (lambda d: citation_of(d).update(quote=citation_of(d)["quote"] + " "), "is not at its place in"),
    "another place": (lambda d: citation_of(d).update(start=7), "is not at its place in passage 'gates'"),
    "a place beyond the passage": (lambda d: citation_of(d).update(end=900), "ends after the text's"),
    "a place that runs backwards": (lambda d: citation_of(d).update(start=30, end=20), "a span needs 0 <= start"),
    "a negative place": (lambda d: citation_of(d).update(start=-1), "a span needs 0 <= start"),
    "another passage": (lambda d: citation_of(d).update(passage_id="cost"), "ends after the text's"),
    "an unknown passage": (lambda d: citation_of(d).update(passage_id="nobody"), "'nobody'"),
    "another source": (lambda d: d["passages"][0].update(text="Gates\n" + "x" * 42), "is not at its place in"),
    "no sources": (lambda d: d.update(passages=[]), "'gates'"),
    "another near miss": (lambda d: nearest_of(d).update(quote="It cost 5 million."), "is not at its place in"),
    "another answer": (lambda d: d.update(text=TEXT.replace("300", "900")), "is not at its place in the answer"),
    "a shorter answer": (lambda d: d.update(text=TEXT[:20]), "ends after the text's 20 characters"),
    "another sentence": (lambda d: d["sentences"][1].update(text="It cost nothing."), "not at its place in the answer"),
    "a proposition elsewhere": (
        lambda d: d["sentences"][0]["propositions"][0].update(spans=[[0, 40]]),
        "reaches beyond its sentence",
    ),
    "another schema": (lambda d: d.update(schema="propcite/answer/9"), "schema: Input should be 'propcite/answer/6'"),
    "no schema": (lambda d: d.pop("schema"), "schema: Field required"),
    "no text": (lambda d: d.pop("text"), "text: Field required"),
    "a new label": (
        lambda d: citation_of(d)["verdict"].update(label="certain"),
        "sentences.0.propositions.0.citations.0.verdict.label: Input should be 'supported'",
    ),
    "words for a number": (lambda d: citation_of(d).update(score="high"), "score: Input should be a valid number"),
    "a span of three": (
        lambda d: d["sentences"][0]["propositions"][0].update(spans=[[0, 1, 2]]),
        "sentences.0.propositions.0.spans.0",
    ),
    "a sentence that is none": (lambda d: d["sentences"].append("The end."), "sentences.3"),
}


@pytest.mark.parametrize("change", TAMPERED)
def test_a_changed_answer_is_rejected_in_one_line(answer: CitedAnswer, change: str) -> None:
    tamper, message = TAMPERED[change]
    data = copy.deepcopy(json.loads(to_json(answer)))
    tamper(data)
    with pytest.raises(AttributionError) as error:
        from_json(json.dumps(data))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "{}", '"answer"', "not json", "{" * 5000, '{"schema": NaN}', "\ufeff{}", '"\\ud800"']
)
def test_invalid_answers_are_rejected_in_one_line(text: str) -> None:
    with pytest.raises(AttributionError, match=f"this is not a cited answer \\({SCHEMA}\\): ") as error:
        from_json(text)
    assert "\n" not in str(error.value)


def test_unknown_fields_are_ignored(answer: CitedAnswer) -> None:
    data = json.loads(to_json(answer)) | {"mood": "cheerful"}
    assert from_json(json.dumps(data)) == answer


@pytest.mark.parametrize("link", ["https://propcite.example/reading/x#cited", "javascript:alert(1)"])
def test_the_link_of_a_server_is_read_if_a_browser_may_open_it(answer: CitedAnswer, link: str) -> None:
    data = to_dict(answer)
    for sentence in data["sentences"]:
        for fact in sentence["propositions"]:
            for citation in fact["citations"]:
                citation["link"] = link
    read = from_json(json.dumps(data))
    assert {c.evidence.link for c in read.citations} == {link if link.startswith("https") else ""}
    assert read == answer
    assert to_dict(read) == to_dict(answer)
