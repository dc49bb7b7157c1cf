"""A notebook as one cited answer, which every format writes: what was pinned and written, with all its references."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from propcite.app.library.records import Note
from propcite.attribution.citations import CitedAnswer, CitedProposition, CitedSentence
from propcite.retrieval.text import Span

BETWEEN = "\n\n"
BESIDE = "Written beside it:"


def notebook_answer(collection: str, notes: Sequence[Note]) -> CitedAnswer:
    """Return the notes in their order; passages are numbered through, and every place counts in the whole text."""
    text, sentences = "", list[CitedSentence]()
    numbers: dict[str, int] = {}
    models: dict[str, str] = {}
    for part in _parts(notes):
        text += BETWEEN if text else ""
        sentences += [_moved(sentence, len(text), numbers) for sentence in part.sentences]
        text += part.text.strip("\n")
        models |= part.models
    models.pop("generator", None)  # people wrote the notes
    return CitedAnswer(text, tuple(sentences), f"Notes on {collection}", collection, models=models)


def _parts(notes: Sequence[Note]) -> Iterator[CitedAnswer]:
    """Yield what the notes say; of several, each begins with a line of its own."""
    for number, note in enumerate(notes, start=1):
        if len(notes) > 1:
            yield CitedAnswer(_head(number, note))
        if note.pinned:
            yield from [CitedAnswer(note.pinned.question)] if note.pinned.question else []
            yield note.pinned
        if note.text.strip():
            yield from [CitedAnswer(BESIDE)] if note.pinned else []
            yield note.cited or CitedAnswer(note.text)


def _head(number: int, note: Note) -> str:
    day = f"{note.changed_at.astimezone():%d %B %Y}".removeprefix("0")
    return ", ".join(filter(None, [f"Note {number}", f"by {note.by}" if note.by else "", day]))


def _moved(sentence: CitedSentence, by: int, numbers: dict[str, int]) -> CitedSentence:
    propositions = tuple(_proposition(one, by, numbers) for one in sentence.propositions)
    return replace(sentence, span=sentence.span.shifted(by), propositions=propositions)


def _proposition(cited: CitedProposition, by: int, numbers: dict[str, int]) -> CitedProposition:
    spans: tuple[Span, ...] = tuple(span.shifted(by) for span in cited.proposition.spans)
    citations = tuple(replace(c, number=numbers.setdefault(c.passage.id, len(numbers) + 1)) for c in cited.citations)
    return replace(cited, proposition=replace(cited.proposition, spans=spans), citations=citations)
