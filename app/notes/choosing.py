"""Choose the notes that are about an answer or about documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from propcite.app.library.records import Note
from propcite.attribution.citations import CitedAnswer


def notes_on_answer(notes: Iterable[Note], answer: CitedAnswer) -> list[Note]:
    """Return the notes that pin the answer, one of its facts or one of its quotes; empty if none does."""
    return [note for note in notes if note.pinned and _is_from(note, note.pinned, answer)]


def notes_on_documents(notes: Iterable[Note], ids: Collection[str]) -> list[Note]:
    """Return the notes that cite one of the documents, in what they pin or in what is written."""
    return [note for note in notes if any(id_ in ids for id_ in cited_documents(note))]


def cited_documents(note: Note) -> set[str]:
    """Return the ids of the documents that a note cites."""
    citations = [citation for part in (note.pinned, note.cited) if part for citation in part.citations]
    return {citation.passage.document_id for citation in citations}


def number_of_part(part: CitedAnswer, answer: CitedAnswer) -> int:
    """Return the number of the fact of an answer that a pinned part is, or whose quote it is; 0 if there is none."""
    cited = {citation.id for citation in part.citations}
    facts = list(enumerate(answer.facts, start=1))
    by_words = (number for number, fact in facts if fact.proposition.text == part.text)
    by_quote = (number for number, fact in facts if cited & {citation.id for citation in fact.citations})
    return next(by_words, next(by_quote, 0))


def _is_from(note: Note, part: CitedAnswer, answer: CitedAnswer) -> bool:
    """Return whether a part was pinned from an answer.

    Where the note does not know its answer: a fact and a quote have the answer's question and citations.
    """
    if note.answer or part.id == answer.id:
        return answer.id in (note.answer, part.id)
    if (part.question, part.collection) != (answer.question, answer.collection):
        return False
    of_part, of_answer = ({citation.id for citation in one.citations} for one in (part, answer))
    is_fact = part.text in {fact.proposition.text for fact in answer.facts}
    return of_part <= of_answer and (is_fact or bool(of_part))
