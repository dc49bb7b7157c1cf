"""Generators write the text of an answer from a question and the passages retrieved for it."""

from __future__ import annotations

from collections import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from propcite.attribution.llm.usage import Usage
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Passage

if TYPE_CHECKING:  # a generator needs no database
    from propcite.app.library.store import Turn


@dataclass(frozen=True, slots=True)
class GenerationContext:
    """What a generator writes from: the passages, best first, and a retriever over these alone.

    `turns` are the earlier questions and answers of the conversation, oldest first; they are no source.  `supports`
    says whether the passages support words as the answer to the question; without it, nothing is checked.

    >>> from propcite import Encoder, Passage, Retriever
    >>> passages = (Passage("a", "The barrier cost 410 million euros."),)
    >>> GenerationContext(passages, Retriever.over(Encoder(), passages)).passages[0].id
    'a'
    """

    passages: tuple[Passage, ...]
    retriever: Retriever
    turns: tuple[Turn, ...] = ()
    supports: Callable[[str], bool] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before it is cited.

    `abstained` is true if the passages hold no answer, `incomplete` if the writing ended too soon; `notes` tell a
    reader what to know about it.  `given` is the text with the writer's own markers, where the prompt asks for them;
    `usage` counts tokens, where the model reports them.  `answered` has the probability that each part of the question
    is answered, where that was read in the sources.

    >>> Draft("The barrier cost 410 million euros.").abstained
    False
    """

    text: str
    abstained: bool = False
    incomplete: bool = False
    notes: tuple[str, ...] = ()
    given: str = ""
    usage: Usage | None = field(default=None, compare=False)  # not part of the text
    answered: Mapping[str, float] = field(default_factory=dict, compare=False)


Writing = abc.Generator[str, None, Draft]


class Generator(Protocol):
    """Anything that writes an answer from passages.

    `prompt` is the name and version of the prompt; empty where there is none.  `understanding` names what completes
    a question that follows others.

    >>> class FirstSentence:
    ...     name, prompt, understanding = "first sentence", "", ""
    ...     def understand(self, question, turns):
    ...         return question
    ...     def stream(self, question, context):
    ...         text = context.passages[0].text.split(". ")[0]
    ...         yield text
    ...         return Draft(text)
    ...     def generate_many(self, requests):
    ...         return [draft_of(self.stream(*request)) for request in requests]
    >>> generator: Generator = FirstSentence()
    >>> generator.name
    'first sentence'
    """

    name: str
    prompt: str
    understanding: str

    def understand(self, question: str, turns: Sequence[Turn]) -> str:
        """Return the question as it reads without the conversation; unchanged where it stands alone."""
        ...

    def stream(self, question: str, context: GenerationContext) -> Writing:
        """Yield pieces of the text as they are written, empty ones while none comes, and return the draft.

        Closing the generator stops the writing.
        """
        ...

    def generate_many(self, requests: Sequence[tuple[str, GenerationContext]]) -> list[Draft | PropCiteError]:
        """Return the drafts of many questions, written in one batch; one that fails has its error in its place."""
        ...


def draft_of(writing: Writing) -> Draft:
    """Read a stream to its end and return its draft."""
    try:
        while True:
            next(writing)
    except StopIteration as ended:
        draft: Draft = ended.value
        return draft
