"""JSON: objects with a text are sections, rows are sentences, other values are written with their paths."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from real_documents import checked, headings, places

from propcite.app.errors import ReadError
from propcite.app.ingest.readers import document_from_bytes
from propcite.retrieval.text import Document


def read(value: Any, name: str = "x.json") -> Document:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return checked(document_from_bytes(name, data, ""))


def test_objects_with_a_text_are_sections() -> None:
    document = read(
        [
            {"id": 7, "title": "Tides", "text": "The tide is high.", "tags": ["sea", "moon"], "empty": None},
            {"Headline": "Moon", "Body": "The moon is near."},
        ]
    )
    assert headings(document) == [(2, "Tides"), (2, "Moon")]
    assert places(document) == {
        "item 1": "Tides\n\nid: 7\ntags: sea, moon\n\nThe tide is high.",
        "item 2": "Moon\n\nThe moon is near.",
    }
    assert document.title == "x"


def test_a_line_of_jsonl_is_a_place() -> None:
    document = read(b'{"text": "One."}\n\n{"text": "Two.", "title": "T"}\r\n', "x.jsonl")
    assert places(document) == {"line 1": "One.", "line 3": "T\n\nTwo."}


def test_rows_and_other_values() -> None:
    document = read({"title": "Ports", "rows": [{"Port": "Alder", "Visits": 9}], "a": {"b": [1, {"c": True}], "d": ""}})
    assert document.text == "title: Ports\n\nrows\n\nPort = Alder; Visits = 9.\n\na.b[1]: 1\na.b[2].c: true"
    assert list(places(document)) == ["title", "rows, item 1", "a"]
    assert document.title == "Ports"


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (b'{"a": 1,}', "x.json", "x.json is not valid JSON (Expecting property name"),
        (b'{"a": 1}\n{"a"', "x.jsonl", "x.jsonl, line 2, is not valid JSON ("),
        (b"[" * 100_000, "x.json", "x.json is JSON nested too deeply"),
        (b"1" * 9_999, "x.json", "x.json is JSON nested too deeply or with too long a number"),
        (b"null", "x.json", "x.json is empty"),
    ],
)
def test_errors(data: bytes, name: str, reason: str) -> None:
    with pytest.raises(ReadError) as caught:
        read(data, name)
    assert str(caught.value).startswith(reason)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "title", "a", "", "b\n"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_any_json_is_a_document_or_empty(value: Any) -> None:
    try:
        read(value)
    except ReadError as error:
        assert "is empty" in str(error)  # noqa: PT017
