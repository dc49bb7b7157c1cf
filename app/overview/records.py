"""Records of overviews: questions with what answers them, and a document in short."""

from __future__ import annotations

from dataclasses import dataclass

from propcite.retrieval.text import Span


@dataclass(frozen=True, slots=True)
class Line:
    """Words of a document as they stand there: `span` is their place in the document, `place` names it for readers.

    `passage` is the place of the passage around them.  `level` is that of a heading, from 1; 0 for a sentence.
    """

    text: str
    span: Span
    passage_id: str
    passage: Span
    place: str = ""
    level: int = 0


@dataclass(frozen=True, slots=True)
class Overview:
    """A document in short; `outline` is empty where no headings were found, `summary` where nothing stands alone."""

    summary: tuple[Line, ...] = ()
    outline: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class SuggestedQuestion:
    """A question that the collection answers, and the sentence of a document that does."""

    question: str
    document_id: str
    title: str
    answer: Line
