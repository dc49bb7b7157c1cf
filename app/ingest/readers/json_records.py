"""JSON and JSON lines: an object with a text is a section of its own; other values are told by where they stand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.decoding import decode
from propcite.app.ingest.readers.draft import Draft, one_line, stem
from propcite.app.ingest.readers.rows import sentence
from propcite.retrieval.text import Document

_TEXTS = ("text", "content", "body", "page_content", "passage", "contents", "abstract", "description", "summary")
_TITLES = ("title", "headline", "heading", "name", "subject")
_LONGEST_TITLE = 300


def read_json(name: str, data: bytes) -> Document:
    draft = Draft()
    value = _parsed(name, decode(name, data))
    _write_value(draft, value)
    title = value.get("title") if isinstance(value, dict) else None
    return draft.document(name, title if isinstance(title, str) else stem(name), {"kind": "json"})


def read_jsonl(name: str, data: bytes) -> Document:
    draft = Draft()
    for number, line in enumerate(decode(name, data).split("\n"), 1):
        if line.strip():
            with draft.place(f"line {number}"):
                _write_item(draft, _parsed(f"{name}, line {number},", line))
    return draft.document(name, stem(name), {"kind": "json"})


def _parsed(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
        raise ReadError(f"{name} is no JSON ({error.msg} at {where}): mend it and add it again") from error
    except (RecursionError, ValueError) as error:
        raise ReadError(f"{name} is JSON that is too deep or has too long a number: flatten it first") from error


def _write_value(draft: Draft, value: Any) -> None:
    """A list's items and an object's lists of objects one by one; the rest by the names that lead to it."""
    if isinstance(value, list):
        _write_list(draft, value, "item")
    elif isinstance(value, dict) and _text_of(value):
        _write_item(draft, value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, list) and inner and all(isinstance(one, dict) for one in inner):
                with draft.under(key, level=1):
                    _write_list(draft, inner, f"{one_line(key)}, item")
            else:
                with draft.place(one_line(key) or "item 1"):
                    _write_lines(draft, inner, key)
    else:
        draft.block(_scalar(value))


def _write_list(draft: Draft, values: list[Any], name: str) -> None:
    for number, value in enumerate(values, 1):
        with draft.place(f"{name} {number}"):
            _write_item(draft, value)


def _write_item(draft: Draft, value: Any) -> None:
    """An object: its title as a heading, its other fields, its text; one without a text in one sentence."""
    if not isinstance(value, dict):
        _write_lines(draft, value, "")
        return
    text = _text_of(value)
    if not text:
        fields = dict(_leaves(value, ""))
        draft.block(sentence(list(fields), list(fields.values())))
        return
    title = _title_of(value)
    draft.block(str(value.get(title, "")), level=2)
    for number, (path, words) in enumerate(_leaves({k: v for k, v in value.items() if k not in (text, title)}, "")):
        draft.block(f"{path}: {words}", tight=number > 0)
    draft.block(str(value[text]))


def _text_of(value: Mapping[str, Any]) -> str:
    """The key of the text: that of the longest one of those known, or an empty string."""
    known = {key.lower(): key for key in value if isinstance(value[key], str) and value[key].strip()}
    return next((known[key] for key in _TEXTS if key in known), "")


def _title_of(value: Mapping[str, Any]) -> str:
    known = {key.lower(): key for key in value if isinstance(value[key], str) and len(value[key]) <= _LONGEST_TITLE}
    return next((known[key] for key in _TITLES if key in known), "")


def _write_lines(draft: Draft, value: Any, path: str) -> None:
    for number, (place, words) in enumerate(_leaves(value, path)):
        draft.block(f"{place}: {words}" if place else words, tight=number > 0)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Each word or number with the names that lead to it, list items counted from 1; what is empty is left out."""
    waiting = [(path, value)]
    while waiting:
        place, inner = waiting.pop()
        if isinstance(inner, dict):
            waiting += [(f"{place}.{key}" if place else key, one) for key, one in reversed(inner.items())]
        elif isinstance(inner, list) and all(not isinstance(one, dict | list) for one in inner):
            inner = ", ".join(filter(None, map(_scalar, inner)))
            if inner:
                yield one_line(place), inner
        elif isinstance(inner, list):
            waiting += [(f"{place}[{number}]", one) for number, one in reversed(list(enumerate(inner, 1)))]
        elif words := _scalar(inner):
            yield one_line(place), words


def _scalar(value: Any) -> str:
    if value is None:
        return ""
    return one_line(value) if isinstance(value, str) else json.dumps(value)
