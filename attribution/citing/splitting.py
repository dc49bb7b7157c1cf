"""Split an answer into sentences, each with its propositions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from propcite.attribution.citations import Proposition
from propcite.attribution.english import is_question, language_of, tag
from propcite.attribution.errors import AttributionError
from propcite.attribution.propositions import Splitter
from propcite.attribution.prose.markers import ExtractedMarkers, extract_markers
from propcite.attribution.prose.sentences import sentences_of
from propcite.retrieval.text import Span

MAX_CONTEXT = 32  # sentences
VERB_TAGS = frozenset("BHIMVEY")
MAX_FRAGMENT = 12  # words of an answer such as "At least three years."


@dataclass(frozen=True, slots=True)
class SplitSentence:
    """A sentence of an answer and its propositions, whose spans lie in the sentence."""

    span: Span
    text: str
    propositions: tuple[Proposition, ...]

    @property
    def as_one_claim(self) -> tuple[Proposition, ...]:
        """Return the sentence as its only claim, which needs support if any of its propositions does."""
        whole = Span(0, len(self.text))
        return (Proposition((whole,), self.text, any(p.check_worthy for p in self.propositions)),)


def answer_text(answer: object) -> str:
    """Return the answer if it is a text; a chat message without content has None, which raises AttributionError."""
    if isinstance(answer, str):
        return answer
    raise AttributionError(f"the answer is a {type(answer).__name__}: give its text")


def split_answer(answer: str, splitter: Splitter) -> list[SplitSentence]:
    """Split an answer into sentences with propositions; earlier sentences resolve a pronoun such as "it"."""
    spans = sentences_of(answer)
    texts = [span.of(answer) for span in spans]
    return split_sentences(spans, texts, contexts_of(texts), splitter)


def contexts_of(texts: Sequence[str]) -> list[Sequence[str]]:
    """Return the sentences before each sentence, oldest first, as far back as any splitter looks.

    >>> contexts_of(["It rained.", "It stopped."])
    [[], ['It rained.']]
    """
    return [texts[max(0, number - MAX_CONTEXT) : number] for number in range(len(texts))]


def split_sentences(
    spans: Sequence[Span], texts: Sequence[str], contexts: Sequence[Sequence[str]], splitter: Splitter
) -> list[SplitSentence]:
    """Split sentences at known places into propositions, all in one batch.

    A splitter sees no citation markers; a proposition's spans are those of the sentence as it stands.
    """
    plain = {text: extract_markers(text) for text in {*texts, *chain.from_iterable(contexts)}}
    before = [[plain[text].text for text in context] for context in contexts]
    propositions = splitter.split_many([plain[text].text for text in texts], before)
    return [
        SplitSentence(span, text, tuple(_placed(one, plain[text]) for one in found))
        for span, text, found in zip(spans, texts, propositions, strict=True)
    ]


def with_question(sentence: SplitSentence, question: str) -> SplitSentence:
    """Return a sentence without a verb as an answer to the question: its claims name what was asked.

    Any other sentence is returned as it is, and any where the question is not in English.

    >>> words = "At least three years."
    >>> fragment = SplitSentence(Span(0, 21), words, (Proposition((Span(0, 21),), words),))
    >>> with_question(fragment, "How long is it supported?").propositions[0].text
    'How long is it supported: At least three years.'
    """
    asked = " ".join(question.split()).rstrip(" ?!.")
    is_short = len(sentence.text.split()) <= MAX_FRAGMENT
    if not is_short or not is_question(asked) or language_of(sentence.text) not in ("English", ""):
        return sentence
    if set(tag(sentence.text, sentence.text).tags) & VERB_TAGS:
        return sentence
    claims = (replace(p, text=f"{asked}: {p.text}") if p.check_worthy else p for p in sentence.propositions)
    return replace(sentence, propositions=tuple(claims))


def _placed(proposition: Proposition, sentence: ExtractedMarkers) -> Proposition:
    """Return the proposition with its spans in the sentence with markers."""
    if not sentence.markers:
        return proposition
    return replace(proposition, spans=tuple(sentence.in_answer(span) for span in proposition.spans))
