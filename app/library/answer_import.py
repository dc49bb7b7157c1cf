"""Import exported answers into a library, each once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from propcite.app.library.store import Library
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats.json.native import from_native
from propcite.retrieval.errors import PropCiteError

TOO_DEEP = "this is not a cited answer: it is nested too deeply"


@dataclass(frozen=True, slots=True)
class ImportedAnswer:
    """The outcome for one answer of a file; `missing` are ids of cited documents that the library does not have."""

    place: str
    state: Literal["kept", "already here", "failed"]
    id: str = ""
    collection: str = ""
    missing: tuple[str, ...] = ()
    reason: str = ""


def read_answers(text: str) -> Iterator[tuple[str, CitedAnswer | str]]:
    """Yield the place of each answer, and the answer or its error; the file is a JSON object, a list or JSON lines."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    if content is None:
        lines = enumerate(text.split("\n"), start=1)
        yield from ((f"line {number}", _parse(line)) for number, line in lines if line.strip())
    else:
        entries = content if isinstance(content, list) else [content]
        yield from ((f"answer {number}", _read(entry)) for number, entry in enumerate(entries, start=1))


def _read(entry: object) -> CitedAnswer | str:
    try:
        return _parse(json.dumps(entry))
    except RecursionError:
        return TOO_DEEP


def _parse(text: str) -> CitedAnswer | str:
    try:
        return from_native(text)
    except RecursionError:
        return TOO_DEEP
    except AttributionError as error:
        return str(error)


def import_answers(
    library: Library, answers: Iterable[tuple[str, CitedAnswer | str]], collection: str
) -> Iterator[ImportedAnswer]:
    """Save each answer in the collection that it names, or in this one if it names none."""
    for place, answer in answers:
        if isinstance(answer, str):
            yield ImportedAnswer(place, "failed", reason=answer)
            continue
        try:
            yield _import_one(library, place, answer, answer.collection or collection)
        except PropCiteError as error:
            yield ImportedAnswer(place, "failed", answer.id, reason=str(error))


def _import_one(library: Library, place: str, answer: CitedAnswer, collection: str) -> ImportedAnswer:
    cited = {passage.document_id for passage in answer.passages}
    missing = tuple(i for i, document in library.cited_documents(answer).items() if document.status and i in cited)
    if library.has_answer(answer.id):
        return ImportedAnswer(place, "already here", answer.id, collection, missing)
    library.save_answer(library.create_collection(collection), answer)
    return ImportedAnswer(place, "kept", answer.id, collection, missing)
