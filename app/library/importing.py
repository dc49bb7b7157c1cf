"""Exported answers into a library: the same cited answers, each kept once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from propcite.app.library.store import Library
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats.native import from_native
from propcite.retrieval.errors import PropCiteError


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one answer; `missing` are ids of documents that it cites and that are not here."""

    place: str
    state: Literal["kept", "already here", "failed"]
    id: str = ""
    collection: str = ""
    missing: tuple[str, ...] = ()
    reason: str = ""

    @property
    def told(self) -> dict[str, Any]:
        return {
            "place": self.place,
            "state": self.state,
            "id": self.id,
            "collection": self.collection,
            "missing": list(self.missing),
            "reason": self.reason,
        }


def read_answers(text: str) -> Iterator[tuple[str, CitedAnswer | str]]:
    """Each answer of a file with its place, or what is wrong with it: one JSON object, a list, or one a line."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    if whole is None:
        lines = enumerate(text.split("\n"), start=1)
        yield from ((f"line {number}", _read(line)) for number, line in lines if line.strip())
    else:
        several = whole if isinstance(whole, list) else [whole]
        yield from ((f"answer {number}", _read(json.dumps(one))) for number, one in enumerate(several, start=1))


def _read(text: str) -> CitedAnswer | str:
    try:
        return from_native(text)
    except AttributionError as error:
        return str(error)


def import_answers(
    library: Library, answers: Iterable[tuple[str, CitedAnswer | str]], collection: str
) -> Iterator[Imported]:
    """Keep each in the collection that it was cited over; one that was cited over none in this one."""
    for place, answer in answers:
        if isinstance(answer, str):
            yield Imported(place, "failed", reason=answer)
            continue
        try:
            yield _kept(library, place, answer, answer.collection or collection)
        except PropCiteError as error:
            yield Imported(place, "failed", answer.id, reason=str(error))


def _kept(library: Library, place: str, answer: CitedAnswer, collection: str) -> Imported:
    cited = {passage.document_id for passage in answer.passages}
    missing = tuple(i for i, document in library.cited_documents(answer).items() if document.gone and i in cited)
    if library.has_answer(answer.id):
        return Imported(place, "already here", answer.id, collection, missing)
    library.keep_answer(library.create_collection(collection), answer)
    return Imported(place, "kept", answer.id, collection, missing)
