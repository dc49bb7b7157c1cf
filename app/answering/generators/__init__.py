"""Generators: a question and the passages found for it -> the text of an answer."""

from __future__ import annotations

from collections import abc
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from propcite.attribution.llm.usage import Usage
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Passage

if TYPE_CHECKING:  # who writes needs no database
    from propcite.app.library.store import Turn


@dataclass(frozen=True, slots=True)
class Shown:
    """What a generator writes from: the passages, best first, and a retriever over them alone.

    `before` is what was asked and answered in the same conversation, the oldest first; it is no source.
    """

    passages: tuple[Passage, ...]
    retriever: Retriever
    before: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before it is cited.

    `abstained` when the passages do not hold an answer, `incomplete` when the writing ended too soon; `notes` are what
    a reader must know of it.  `given` is the text with the markers that the writer typed, where these are asked for;
    `usage` are the tokens that it took, where that is known.
    """

    text: str
    abstained: bool = False
    incomplete: bool = False
    notes: tuple[str, ...] = ()
    given: str = ""
    usage: Usage | None = field(default=None, compare=False)  # no part of what is said


Writing = abc.Generator[str, None, Draft]


class Generator(Protocol):
    """Anything that writes an answer from passages.

    `prompt` is the name and version of what a language model is asked with; empty for what needs no asking.
    `understanding` names what writes questions anew that follow others.
    """

    name: str
    prompt: str
    understanding: str

    def understand(self, question: str, before: Sequence[Turn]) -> str:
        """The question as it reads without the conversation that it goes on; its own words where they do."""
        ...

    def stream(self, question: str, shown: Shown) -> Writing:
        """Pieces of the text as they are written, empty ones while none comes, then the draft.

        Closing it stops the writing.
        """
        ...

    def generate_many(self, asked: Sequence[tuple[str, Shown]]) -> list[Draft | PropCiteError]:
        """The drafts of many questions in one batch; a question that fails has its error in its place."""
        ...


def drained(writing: Writing) -> Draft:
    """The draft of a stream that nobody reads along."""
    try:
        while True:
            next(writing)
    except StopIteration as ended:
        draft: Draft = ended.value
        return draft
