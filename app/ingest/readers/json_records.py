"""JSON and JSON lines: an object with a text becomes a section; other values are written with their paths."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.draft import Draft, one_line, title_from_name
from propcite.app.ingest.readers.plain_text import decode
from propcite.app.ingest.readers.rows import row_sentence
from propcite.retrieval.text import Document

_TEXT_KEYS = ("text", "content", "body", "page_content", "passage", "contents", "abstract", "description", "summary")
_TITLE_KEYS = ("title", "headline", "heading", "name", "subject")
_MAX_TITLE = 300


def read_json(name: str, data: bytes) -> Document:
    draft = Draft()
    value = _parsed(name, decode(name, data))
    _write_value(draft, value)
    title = value.get("title") if isinstance(value, dict) else None
    return draft.document(name, title if isinstance(title, str) else title_from_name(name), {"kind": "json"})


def read_jsonl(name: str, data: bytes) -> Document:
    draft = Draft()
    for number, line in enumerate(decode(name, data).split("\n"), 1):
        if line.strip():
            with draft.place(f"line {number}"):
                _write_item(draft, _parsed(f"{name}, line {number},", line))
    return draft.document(name, title_from_name(name), {"kind": "json"})


def _parsed(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
        raise ReadError(f"{name} is not valid JSON ({error.msg} at {where}): fix it and add it again") from error
    except (RecursionError, ValueError) as error:
        raise ReadError(f"{name} is JSON nested too deeply or with too long a number: flatten it first") from error


def _write_value(draft: Draft, value: Any) -> None:
    """Write a list's items, and an object's lists of objects, one by one; write other values with their paths."""
    if isinstance(value, list):
        _write_list(draft, value, "item")
    elif isinstance(value, dict) and _text_key(value):
        _write_item(draft, value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, list) and inner and all(isinstance(item, dict) for item in inner):
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
    """Write an object: its title as a heading, its other fields, its text.  Without a text it is one sentence."""
    if not isinstance(value, dict):
        _write_lines(draft, value, "")
        return
    text_key = _text_key(value)
    if not text_key:
        fields = dict(_leaves(value, ""))
        draft.block(row_sentence(list(fields), list(fields.values())))
        return
    title_key = _title_key(value)
    draft.block(str(value.get(title_key, "")), level=2)
    others = {key: field for key, field in value.items() if key not in (text_key, title_key)}
    for number, (path, words) in enumerate(_leaves(others, "")):
        draft.block(f"{path}: {words}", tight=number > 0)
    draft.block(str(value[text_key]))


def _text_key(value: Mapping[str, Any]) -> str:
    """Return the key of an object's text, by the order of `_TEXT_KEYS`, or an empty string."""
    keys = {key.lower(): key for key in value if isinstance(value[key], str) and value[key].strip()}
    return next((keys[key] for key in _TEXT_KEYS if key in keys), "")


def _title_key(value: Mapping[str, Any]) -> str:
    keys = {key.lower(): key for key in value if isinstance(value[key], str) and len(value[key]) <= _MAX_TITLE}
    return next((keys[key] for key in _TITLE_KEYS if key in keys), "")


def _write_lines(draft: Draft, value: Any, path: str) -> None:
    for number, (place, words) in enumerate(_leaves(value, path)):
        draft.block(f"{place}: {words}" if place else words, tight=number > 0)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield each string or number that is not empty with its path, list items counted from 1."""
    pending = [(path, value)]  # a stack, since values may be nested almost as deep as the recursion limit
    while pending:
        place, inner = pending.pop()
        if isinstance(inner, dict):
            pending += [(f"{place}.{key}" if place else key, field) for key, field in reversed(inner.items())]
        elif isinstance(inner, list) and all(not isinstance(item, dict | list) for item in inner):
            inner = ", ".join(filter(None, map(_scalar, inner)))
            if inner:
                yield one_line(place), inner
        elif isinstance(inner, list):
            pending += [(f"{place}[{number}]", item) for number, item in reversed(list(enumerate(inner, 1)))]
        elif words := _scalar(inner):
            yield one_line(place), words


def _scalar(value: Any) -> str:
    if value is None:
        return ""
    return one_line(value) if isinstance(value, str) else json.dumps(value)
