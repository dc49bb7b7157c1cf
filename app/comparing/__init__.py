"""Compare two selections of documents: what they say to one question, or all that they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from propcite.app.answering.pipeline import refuse_partial
from propcite.app.errors import AppError
from propcite.app.library.selection import selected_documents
from propcite.retrieval.index import ProgressReport, ignore_progress
from propcite.retrieval.interrupting import in_turn

if TYPE_CHECKING:
    from propcite.app.answering.pipeline import Pipeline
    from propcite.app.library.store import CollectionInfo, Library
    from propcite.attribution.citing.comparing import Comparison
    from propcite.attribution.versions.records import TextComparison
    from propcite.retrieval.retriever import Retriever


T = TypeVar("T")


def compare(left: Pipeline, right: Pipeline, question: str, report: ProgressReport = ignore_progress) -> Comparison:
    """Answer a question on each side and match the facts; both answers are stored.

    A side that has no answer abstains, and has no facts.
    """
    report("Asking the left side", 0.0)
    one = left.answer(question)
    report("Asking the right side", 0.4)
    other = right.answer(question)
    report("Matching what both say", 0.8)
    sides = left.retriever(), right.retriever()
    with in_turn(len(one.text) + len(other.text)):
        compared = left.propcite.compare_answers(one, sides[0], other, sides[1])
    return _of_whole(compared, *sides)


def compare_whole(left: Pipeline, right: Pipeline, report: ProgressReport = ignore_progress) -> TextComparison:
    """Pair the sentences of both sides, without a question; nothing is stored.

    AttributionError for a side of more sentences than are compared.
    """
    sides = left.retriever(), right.retriever()
    return _of_whole(left.propcite.compare_texts(*sides, report), *sides)


def _of_whole(compared: T, *sides: Retriever) -> T:
    """Return a comparison, unless documents were left out: what they say would be missing on one side."""
    for side in sides:
        refuse_partial(side)
    return compared


def num_passages(*sides: Pipeline) -> int:
    """Count the passages of the sides."""
    retrievers = (side.retriever() for side in sides)
    return sum(len(one.index.ids(one.allow)) for one in retrievers)


def check_sides(library: Library, collection: CollectionInfo, left: Sequence[str], right: Sequence[str]) -> None:
    """Raise an error unless each side names documents of the collection, and not both the same."""
    if not (left and right):
        raise AppError("a comparison needs documents on both sides: name at least one on each")
    one, other = (set(selected_documents(library, collection, names)) for names in (left, right))
    if one == other:
        raise AppError("both sides name the same documents: name another one on one of them")
