"""An answer in parts: its sentences, each with its propositions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from propcite.attribution.citations import Proposition
from propcite.attribution.errors import AttributionError
from propcite.attribution.propositions import PropositionSplitter
from propcite.attribution.prose.sentences import sentences_of
from propcite.retrieval.text import Span

MOST_CONTEXT = 32  # sentences


@dataclass(frozen=True, slots=True)
class Part:
    """A sentence of the answer with its propositions, whose spans lie in the sentence."""

    span: Span
    text: str
    propositions: tuple[Proposition, ...]


def text_of(answer: object) -> str:
    """The answer, if it is a text: a message without content has None."""
    if isinstance(answer, str):
        return answer
    raise AttributionError(f"the answer is a {type(answer).__name__}: give its text")


def split_answer(answer: str, splitter: PropositionSplitter) -> list[Part]:
    """The answer's sentences, each with its propositions; those before a sentence say what "it" is."""
    spans = sentences_of(answer)
    texts = [span.of(answer) for span in spans]
    return split_parts(spans, texts, contexts_of(texts), splitter)


def contexts_of(texts: Sequence[str]) -> list[Sequence[str]]:
    """For each sentence those before it, oldest first, as far back as any splitter looks.

    >>> contexts_of(["It rained.", "It stopped."])
    [[], ['It rained.']]
    """
    return [texts[max(0, number - MOST_CONTEXT) : number] for number in range(len(texts))]


def split_parts(
    spans: Sequence[Span], texts: Sequence[str], contexts: Sequence[Sequence[str]], splitter: PropositionSplitter
) -> list[Part]:
    propositions = splitter.split_many(texts, contexts)
    return [Part(*part) for part in zip(spans, texts, map(tuple, propositions), strict=True)]


def whole(part: Part) -> tuple[Proposition, ...]:
    """The sentence as its only claim, which needs support if any proposition of it does."""
    return (Proposition((Span(0, len(part.text)),), part.text, any(p.check_worthy for p in part.propositions)),)
