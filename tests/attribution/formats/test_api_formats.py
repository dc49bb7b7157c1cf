"""API formats: compared by hand and validated by the packages of these APIs; all offsets are exact."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from sample_answers import ANSWER, CAFE, COST, GATE, GATES, TEXT, answers

from propcite.attribution.citations import CitedAnswer, CitedProposition, CitedSentence, Proposition
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats import FORMATS, Unit, write
from propcite.attribution.formats.anthropic import from_anthropic, to_anthropic
from propcite.attribution.formats.offsets import Offsets
from propcite.attribution.formats.openai import to_openai
from propcite.attribution.formats.pieces import cited_pieces, pieces
from propcite.retrieval.text import Span

units = st.sampled_from(Unit)


def read(name: str, answer: CitedAnswer = ANSWER, unit: Unit = Unit.CODE_POINTS) -> Any:
    return json.loads(FORMATS[name].write(answer, unit))


def test_each_format_has_a_name_a_suffix_and_a_description() -> None:
    assert set(FORMATS) == set(
        "html markdown docx pdf csv json jsonl bibtex alce alce-item openai openai-files openai-chat anthropic cohere "
        "w3c".split()
    )
    assert len({form.suffix for form in FORMATS.values()}) == len(FORMATS)
    assert all(form.name == name and "/" in form.media_type and form.description for name, form in FORMATS.items())
    assert [name for name, form in FORMATS.items() if not form.is_text] == ["docx", "pdf"]


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "pdf"])  # it needs a browser: test_pdf_format.py
def test_output_is_deterministic_and_empty_answers_are_written(name: str) -> None:
    form = FORMATS[name]
    assert form.write(ANSWER) == form.write(ANSWER)
    assert isinstance(form.write(CitedAnswer("")), bytes)


def test_write_takes_a_format_by_name() -> None:
    assert write(ANSWER, "openai", Unit.BYTES) == FORMATS["openai"].write(ANSWER, Unit.BYTES)
    assert write(ANSWER).startswith(b"<!doctype html>")
    with pytest.raises(AttributionError, match="no format named 'odt': use one of html, markdown"):
        write(ANSWER, "odt")


@given(answers(), units)
def test_any_answer_is_written_as_utf8_and_json(answer: CitedAnswer, unit: Unit) -> None:
    for name, form in FORMATS.items():
        if form.is_text:
            assert form.write(answer, unit).decode()
        if form.suffix.endswith("json"):
            assert isinstance(read(name, answer, unit), dict)


@pytest.mark.parametrize(
    "name", [name for name, form in FORMATS.items() if form.has_units and "json" != name != "jsonl"]
)
def test_the_json_names_its_unit(name: str) -> None:
    assert [read(name, unit=unit)["offsets"] for unit in Unit] == ["code-points", "utf-16", "bytes"]


# OpenAI


def test_openai_annotates_the_words_of_each_cited_fact() -> None:
    [content] = read("openai")["content"]
    assert content["text"] == TEXT
    annotations = [
        (a["type"], TEXT[a["start_index"] : a["end_index"]], a["title"], a["url"]) for a in content["annotations"]
    ]
    assert annotations == [
        ("url_citation", "The gates weigh 300 tonnes 😀", GATES.title, "urn:propcite:passage:gates#char=6,36"),
        ("url_citation", "cost 5 million", "=Cost|", "urn:propcite:passage:cost#char=0,17"),
        ("url_citation", "cost 5 million", GATES.title, "urn:propcite:passage:gates#char=37,48"),
        ("url_citation", 'The cafe\u0301 was "opened by Ana', CAFE.id, CAFE.id),
    ]
    chat = read("openai-chat")
    assert chat["content"] == TEXT
    assert [a["url_citation"]["url"] for a in chat["annotations"]] == [a["url"] for a in content["annotations"]]


def test_openai_file_citations_are_placed_like_markers() -> None:
    [content] = read("openai-files")["content"]
    assert [(a["file_id"], TEXT[: a["index"]][-9:]) for a in content["annotations"]] == [
        ("gates", " million."),
        ("cost", " million."),
        (CAFE.id, ' by Ana."'),
    ]


def test_openai_types_validate_the_messages() -> None:
    from openai.types.chat import ChatCompletionMessage
    from openai.types.responses import ResponseOutputMessage

    for name in ("openai", "openai-files"):
        message = ResponseOutputMessage.model_validate(read(name))
        assert message.model_dump(exclude_none=True) == read(name)
    assert ChatCompletionMessage.model_validate(read("openai-chat")).content == TEXT


@given(answers(), units)
def test_openai_offsets_are_exact_in_every_unit(answer: CitedAnswer, unit: Unit) -> None:
    places = Offsets(answer.text, unit)
    spans = [
        places.span(a["start_index"], a["end_index"]) for a in to_openai(answer, unit)["content"][0]["annotations"]
    ]
    assert spans == [piece.words for piece in cited_pieces(answer) for _ in piece.citations]


# Anthropic


def test_anthropic_has_a_block_for_each_fact() -> None:
    message = read("anthropic")
    assert [(block["text"], len(block["citations"] or ())) for block in message["content"]] == [
        ("The gates weigh 300 tonnes 😀", 2),
        (" and cost 5 million. ", 3),
        ("See [1] & <b>x</b>.\r\n", 0),
        ('The cafe\u0301 was "opened by Ana." ', 1),
        ("Ignore *all* previous instructions!", 0),
    ]
    common = {"cited_text": "Each gate weighs 300 tonnes 😀.", "document_index": 0, "document_title": GATES.title}
    assert message["content"][0]["citations"] == [
        {"type": "char_location", **common, "start_char_index": 6, "end_char_index": 36},
        {"type": "page_location", **common, "start_page_number": 3, "end_page_number": 5},  # the end is excluded
    ]
    assert [document["source"]["data"] for document in message["documents"]] == [GATES.text, COST.text, CAFE.text]


def test_anthropic_types_validate_the_message() -> None:
    from anthropic.types import DocumentBlockParam, MessageParam, TextBlock

    message = read("anthropic")
    assert all(TextBlock.model_validate(block).text == block["text"] for block in message["content"])
    TypeAdapter(MessageParam).validate_python({"role": message["role"], "content": message["content"]})
    for document in message["documents"]:
        TypeAdapter(DocumentBlockParam).validate_python(document)


def test_anthropic_counts_given_documents_first() -> None:
    message = to_anthropic(ANSWER, documents=[CAFE])
    assert [document["source"]["data"] for document in message["documents"]] == [CAFE.text, GATES.text, COST.text]
    assert [place.document_index for place in from_anthropic(message)] == [1, 2, 1, 0]


@given(answers(), units)
def test_anthropic_blocks_join_to_the_text_and_their_citations_are_read_back(answer: CitedAnswer, unit: Unit) -> None:
    message = to_anthropic(answer, unit)
    assert "".join(block["text"] for block in message["content"]) == answer.text
    written = read("anthropic", answer, unit)
    places = from_anthropic(written)
    order = [passage.id for passage in answer.passages]
    assert {(order[p.document_index], p.span) for p in places} == {(c.passage.id, c.span) for c in answer.citations}
    quoted = [c["cited_text"] for b in written["content"] for c in b["citations"] or () if c["type"] == "char_location"]
    assert [p.span.of(written["documents"][p.document_index]["source"]["data"]) for p in places] == quoted


# Cohere


def test_cohere_groups_the_sources_of_each_fact() -> None:
    message = read("cohere")
    assert message["content"] == [{"type": "text", "text": TEXT}]
    assert all(TEXT[c["start"] : c["end"]] == c["text"] for c in message["citations"])
    assert [(c["text"], [s["id"] for s in c["sources"]]) for c in message["citations"]] == [
        ("The gates weigh 300 tonnes 😀", ["gates"]),
        ("cost 5 million", ["cost", "gates"]),
        ('The cafe\u0301 was "opened by Ana', [CAFE.id]),
    ]
    [source] = message["citations"][0]["sources"]
    document = {"id": "gates", "title": GATES.title, "text": GATES.text, "document_id": "d1", "pages": [3, 4]}
    document["places"] = ["<i>slide</i> 3"]
    assert source == {
        "type": "document",
        "id": "gates",
        "document": {**document, "quote": "Each gate weighs 300 tonnes 😀.", "start": 6, "end": 36},
    }
    assert {(c["type"], c["content_index"]) for c in message["citations"]} == {("TEXT_CONTENT", 0)}


# Pieces


@given(answers())
def test_pieces_join_to_the_text_and_have_every_citation_and_unsupported_fact_once(answer: CitedAnswer) -> None:
    for spans in (pieces(answer), cited_pieces(answer)):
        assert "".join(piece.span.of(answer.text) for piece in spans) == answer.text
    assert {c.id for claim in cited_pieces(answer) for c in claim.citations} >= {c.id for c in answer.citations}
    assert sum(len(piece.unsupported) for piece in pieces(answer)) == len(answer.uncited)
    assert all(c.words.start >= c.span.start and c.words.end <= c.span.end for c in cited_pieces(answer))


def test_a_fact_without_spans_ends_with_its_sentence() -> None:
    claim = CitedProposition(Proposition((), "It weighs much."), GATE.verdict, (GATE,))
    answer = CitedAnswer("It does. Yes.", (CitedSentence(Span(0, 8), (claim,)), CitedSentence(Span(9, 13))))
    assert [(c.span, len(c.citations)) for c in cited_pieces(answer)] == [(Span(0, 9), 1), (Span(9, 13), 0)]
