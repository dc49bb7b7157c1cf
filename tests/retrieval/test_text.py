"""Values are frozen, spans are half-open, and a span outside its text is an error."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.retrieval.text import Document, Granularity, Heading, Hit, Page, Passage, Sentence, Span, join_spans

TEXT = "The cat sat on the mat."


@st.composite
def spans_in(draw: st.DrawFn, text: str) -> Span:
    start = draw(st.integers(0, len(text)))
    return Span(start, draw(st.integers(start, len(text))))


@given(st.text().flatmap(lambda text: st.tuples(st.just(text), spans_in(text))))
def test_a_span_excludes_its_end(drawn: tuple[str, Span]) -> None:
    text, span = drawn
    assert span.of(text) == text[span.start : span.end]
    assert len(span) == len(span.of(text))
    assert bool(span) == bool(span.of(text))
    assert text[: span.start] + span.of(text) + text[span.end :] == text


@given(st.text().flatmap(lambda text: st.tuples(st.just(text), spans_in(text))))
def test_trimming_removes_white_space_at_the_ends_only(drawn: tuple[str, Span]) -> None:
    text, span = drawn
    trimmed = span.trimmed(text)
    assert trimmed.of(text) == span.of(text).strip()
    assert span.start <= trimmed.start <= trimmed.end <= span.end


@given(spans_in("abcdefgh"), spans_in("abcdefgh"))
def test_spans_overlap_if_they_share_a_character(one: Span, other: Span) -> None:
    shared = set(range(one.start, one.end)) & set(range(other.start, other.end))
    # The result for empty spans is undefined.
    if one and other:
        assert one.overlaps(other) == bool(shared)
        assert one.overlaps(other) == other.overlaps(one)


def test_offsets_are_code_points() -> None:
    assert Span(1, 2).of("a😀b") == "😀"
    assert Span(1, 3).of("e\u0301x") == "\u0301x"


def test_adjacent_spans_do_not_overlap() -> None:
    assert not Span(0, 3).overlaps(Span(3, 5))
    assert Span(0, 4).overlaps(Span(3, 5))


def test_spans_are_sorted_by_position() -> None:
    assert sorted([Span(4, 9), Span(0, 7), Span(0, 3)]) == [Span(0, 3), Span(0, 7), Span(4, 9)]


@pytest.mark.parametrize(("start", "end"), [(-1, 3), (5, 4), (-2, -1)])
def test_negative_or_reversed_spans_raise(start: int, end: int) -> None:
    with pytest.raises(ValueError, match=f"got {start} and {end}"):
        Span(start, end)


def test_a_span_beyond_its_text_raises() -> None:
    with pytest.raises(ValueError, match="ends after the text's 23 characters"):
        Span(19, 24).of(TEXT)
    with pytest.raises(ValueError, match="ends after"):
        Span(30, 30).of(TEXT)


def test_shifting_forth_and_back_and_before_the_text() -> None:
    assert Span(4, 7).shifted(10) == Span(14, 17)
    assert Span(4, 7).shifted(10).shifted(-10) == Span(4, 7)
    with pytest.raises(ValueError):
        Span(4, 7).shifted(-5)


@pytest.mark.parametrize(
    "value",
    [
        Span(0, 3),
        Heading(Span(0, 3), 1),
        Page(1, Span(0, 3)),
        Document("d", TEXT),
        Sentence(Span(0, 23)),
        Passage("p", TEXT),
        Hit(Passage("p", TEXT), Granularity.PASSAGE, (Span(0, 3),), 0.5, 0.5),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_are_frozen(value: object) -> None:
    name = fields(value)[0].name
    with pytest.raises(FrozenInstanceError):
        setattr(value, name, None)


@pytest.mark.parametrize(
    ("spans", "words"),
    [
        ([], ""),
        ([Span(0, 7)], "The cat"),
        ([Span(0, 3), Span(8, 11)], "The … sat"),
        ([Span(8, 11), Span(0, 3)], "The … sat"),  # the text's order, not the caller's
        ([Span(0, 3), Span(4, 7)], "The cat"),  # only white space between them
        ([Span(0, 3), Span(3, 7)], "The cat"),
        ([Span(0, 3), Span(4, 7), Span(15, 22)], "The cat … the mat"),
    ],
)
def test_joined_spans_mark_omissions(spans: list[Span], words: str) -> None:
    assert join_spans(spans, TEXT) == words


def test_a_passage_has_a_position_in_the_document_and_pages() -> None:
    passage = Passage("p", TEXT, start=100, pages=(Page(3, Span(0, 8)), Page(4, Span(8, 23))))
    assert passage.in_document(Span(4, 7)) == Span(104, 107)
    assert passage.pages_of(Span(4, 7)) == (3,)
    assert passage.pages_of(Span(4, 8)) == (3,)
    assert passage.pages_of(Span(4, 9)) == (3, 4)
    assert passage.pages_of(Span(8, 9)) == (4,)


def test_a_hits_text_joins_its_spans() -> None:
    hit = Hit(Passage("p", TEXT), Granularity.PROPOSITION, (Span(0, 7), Span(15, 22)), 0.5, 0.5)
    assert hit.text == "The cat … the mat"


def test_granularities_format_as_their_names() -> None:
    assert [f"query_{g}" for g in Granularity] == ["query_passage", "query_sentence", "query_proposition"]
