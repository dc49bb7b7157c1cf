"""Offsets in other units: exact at every boundary, rejected inside a character, and quick for a long text."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_answers import ANSWER, answers, texts

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats import FORMATS
from propcite.attribution.formats.json import SCHEMA, from_json, to_dict, to_json
from propcite.attribution.formats.json.native import from_native, to_native
from propcite.attribution.formats.offsets import Offsets, Unit
from propcite.retrieval.text import Span

WIDTHS = {
    Unit.CODE_POINTS: lambda c: 1,  # noqa: ARG005 - each is one
    Unit.UTF_16: lambda c: len(c.encode("utf-16-le", "surrogatepass")) // 2,
    Unit.BYTES: lambda c: len(c.encode("utf-8", "surrogatepass")),
}
units = st.sampled_from(Unit)


def test_offsets_in_each_unit() -> None:
    text = "aé€😀b"
    assert [Offsets(text, Unit.UTF_16).of(i) for i in range(6)] == [0, 1, 2, 3, 5, 6]
    assert [Offsets(text, Unit.BYTES).of(i) for i in range(6)] == [0, 1, 3, 6, 10, 11]
    assert Offsets(text, Unit.BYTES).pair(Span(2, 4)) == (3, 10)
    assert Offsets(text, Unit.BYTES).span(3, 10) == Span(2, 4)


def test_widths_change_at_the_limits_of_the_encodings() -> None:
    last_and_first = "\x7f\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff"
    for unit in (Unit.UTF_16, Unit.BYTES):
        ends = [Offsets(c, unit).of(1) for c in last_and_first]
        assert ends == [WIDTHS[unit](c) for c in last_and_first]


@given(texts, units)
def test_every_boundary_is_converted_exactly_in_both_directions(text: str, unit: Unit) -> None:
    offsets, expected = Offsets(text, unit), 0
    boundaries = set()
    for point, character in enumerate([*text, ""]):
        assert offsets.of(point) == expected
        assert offsets.back(expected) == point
        boundaries.add(expected)
        expected += WIDTHS[unit](character)
    for inside in set(range(-1, expected + 2)) - boundaries:
        with pytest.raises(ValueError, match="no character begins or ends"):
            offsets.back(inside)
    for beyond in (-1, len(text) + 1):
        with pytest.raises(ValueError, match="does not lie"):
            offsets.of(beyond)


def test_a_lone_surrogate_counts_as_its_replacement() -> None:
    text = "x\ud83d\ude00y"  # two lone surrogates that must not be joined: each is written as �
    written = json.loads(FORMATS["json"].write(CitedAnswer(text)))["text"]
    assert written == "x\ufffd\ufffdy"
    for unit in Unit:
        assert [Offsets(text, unit).of(i) for i in range(5)] == [Offsets(written, unit).of(i) for i in range(5)]


def test_a_long_text_is_converted_quickly() -> None:
    text = "The café — 😀 " * 100_000
    start = time.perf_counter()
    for unit in (Unit.UTF_16, Unit.BYTES):
        offsets = Offsets(text, unit)
        assert all(offsets.back(offsets.of(i)) == i for i in range(0, len(text), 997))
    assert time.perf_counter() - start < 3


# PropCite's own JSON in these units


def test_another_unit_is_named_in_the_schema() -> None:
    written = to_native(ANSWER, Unit.UTF_16)
    assert (written["schema"], written["offsets"]) == (f"{SCHEMA};offsets=utf-16", "utf-16")
    assert written["document_offsets"] == "code-points"
    assert to_native(ANSWER) == to_dict(ANSWER)
    with pytest.raises(AttributionError, match="schema"):
        from_json(json.dumps(written))


def test_offsets_behind_an_emoji_change_and_offsets_in_documents_do_not() -> None:
    plain, counted = to_native(ANSWER), to_native(ANSWER, Unit.UTF_16)
    first = [data["sentences"][0]["propositions"][0]["citations"][0] for data in (plain, counted)]
    assert [(c["start"], c["end"]) for c in first] == [(6, 36), (6, 37)]
    assert [(c["document_start"], c["document_end"]) for c in first] == [(106, 136), (106, 136)]
    boxes = [data["passages"][0]["boxes"] + c["boxes"] for data, c in zip((plain, counted), first, strict=True)]
    assert [[(box["start"], box["end"]) for box in several] for several in boxes] == [
        [(6, 20), (20, 48), (6, 20), (20, 48)],
        [(6, 20), (20, 49), (6, 20), (20, 49)],
    ]
    assert [data["sentences"][0]["end"] for data in (plain, counted)] == [48, 49]
    assert [data["passages"][0]["pages"][1] for data in (plain, counted)] == [
        {"number": 4, "start": 20, "end": 48},
        {"number": 4, "start": 20, "end": 49},
    ]
    assert [data["passages"][0]["places"][1] for data in (plain, counted)] == [
        {"name": "slide 4", "start": 37, "end": 48},
        {"name": "slide 4", "start": 38, "end": 49},
    ]


@given(answers(), units)
def test_an_answer_is_read_back_from_every_unit(answer: CitedAnswer, unit: Unit) -> None:
    written = FORMATS["json"].write(answer, unit).decode()
    assert from_native(written) == from_json(to_json(answer))
    data = json.loads(written)
    encoding = {Unit.CODE_POINTS: "utf-32-le", Unit.UTF_16: "utf-16-le", Unit.BYTES: "utf-8"}[unit]
    size = {Unit.CODE_POINTS: 4, Unit.UTF_16: 2, Unit.BYTES: 1}[unit]
    for sentence in data["sentences"]:
        part = data["text"].encode(encoding)[sentence["start"] * size : sentence["end"] * size]
        assert part.decode(encoding) == sentence["text"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"offsets": "inches"}', '{"offsets": "bytes"}', '{"offsets": "utf-16"}']
)
def test_invalid_answers_are_rejected(text: str) -> None:
    with pytest.raises(AttributionError, match="not a cited answer"):
        from_native(text)


def test_an_offset_inside_a_character_is_rejected() -> None:
    data = to_native(ANSWER, Unit.BYTES)
    data["sentences"][0]["end"] = data["text"].encode().index("😀".encode()) + 1
    with pytest.raises(AttributionError, match="no character begins or ends at offset"):
        from_native(json.dumps(data))
