"""Read passages from what a chatbot holds: texts, dicts, LangChain Documents, LlamaIndex nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from propcite.attribution.errors import AttributionError
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Page, Passage, Span

KINDS = "a text, a dict with a text, a Passage, a LangChain Document or a LlamaIndex node"
_TEXT = ("text", "page_content", "content")
_ID = ("id", "id_", "node_id", "passage_id")
_TITLE = ("title", "file_name", "source")
_DOCUMENT = ("document_id", "doc_id", "ref_doc_id", "source", "file_path")
_OWN = ("page_content", "get_content", "node")  # what documents and nodes have: some can be iterated over too
_START = ("start", "start_char_idx", "start_index")


def as_passages(sources: object) -> list[Passage]:
    """Return a passage per source, in order; a source without an id gets its number, counted from 1, as its id.

    A source with the same id and text as an earlier one is left out; a Passage is taken as it is.

    >>> [(p.id, p.text) for p in as_passages(["It is blue.", {"id": "b", "text": "It is red."}])]
    [('1', 'It is blue.'), ('b', 'It is red.')]
    """
    passages: list[Passage] = []
    seen: set[tuple[str, str]] = set()
    for source, passage in _listed(sources):
        if isinstance(source, Passage) or (passage.id, passage.text) not in seen:
            seen.add((passage.id, passage.text))
            passages.append(passage)
    return passages


def as_counted(sources: object) -> list[Passage]:
    """Do the same where markers count the sources: one that is given twice is returned twice.

    >>> [p.id for p in as_counted([{"id": "b", "text": "It is red."}] * 2)]
    ['b', 'b']
    """
    return [passage for _, passage in _listed(sources)]


def _listed(sources: object) -> list[tuple[object, Passage]]:
    """Pair every source with its passage, which has an id."""
    pairs = [(source, _passage(source, number)) for number, source in enumerate(_each(sources), start=1)]
    taken = {passage.id for _, passage in pairs}
    return [
        (source, passage if passage.id or isinstance(source, Passage) else replace(passage, id=free_id(number, taken)))
        for number, (source, passage) in enumerate(pairs, start=1)
    ]


def _each(sources: object) -> Iterator[object]:
    """Yield the sources; a single source stands for a list of one."""
    if isinstance(sources, (str, bytes, Mapping, Passage)) or any(hasattr(sources, name) for name in _OWN):
        yield sources
    elif isinstance(sources, Iterable):
        yield from sources
    else:
        yield sources


def _passage(source: object, number: int) -> Passage:
    if isinstance(source, Passage):
        return source
    if isinstance(source, str):
        return passage_from_text("", source)
    node = source if isinstance(source, Mapping) else getattr(source, "node", source)
    text, more = _first(node, _TEXT), _first(node, ("metadata", "meta"))
    if not isinstance(text, str):
        raise AttributionError(f"source {number} ({type(source).__name__}) has no text to cite: give {KINDS}")
    more = more if isinstance(more, Mapping) else {}
    title, document = (_first(node, names) or _first(more, names) or "" for names in (_TITLE, _DOCUMENT))
    passage = passage_from_text(_name(_first(node, _ID)), text, str(title), str(document))
    start = _first(node, _START) or _first(more, _START)
    return replace(passage, start=start if isinstance(start, int) and start > 0 else 0, pages=_pages(more, text))


def _first(source: object, names: Iterable[str]) -> Any:
    """Return the first of these fields that a source has; None if it has none of them."""
    values = (source.get(n) if isinstance(source, Mapping) else getattr(source, n, None) for n in names)
    return next((value for value in values if value is not None), None)


def _name(value: object) -> str:
    return "" if value is None else str(value)


def free_id(number: int, taken: set[str]) -> str:
    """Return the number as an id, or with a suffix where that is taken, and take it."""
    name = next(n for n in (str(number), *(f"{number}-{i}" for i in range(1, len(taken) + 2))) if n not in taken)
    taken.add(name)
    return name


def _pages(metadata: Mapping[Any, Any], text: str) -> tuple[Page, ...]:
    """Return the page by its label; nothing where there is only a `page`, which may count from 0 or from 1."""
    label = str(metadata.get("page_label", ""))
    return (Page(int(label), Span(0, len(text))),) if label.isdecimal() and text else ()
