"""Values of an answer and its support; frozen, every quote cut from its source, never typed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from propcite.retrieval.text import Box, Passage, Span, words_of

MAX_CITATIONS = 3  # a sentence's markers, as ALCE counts them


class Label(StrEnum):
    """What a judge may say of evidence."""

    SUPPORTED = "supported"
    PARTLY = "partly"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of evidence: a label, the probability that it supports the claim, and what differs."""

    label: Label
    probability: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Proposition:
    """The smallest claim in a sentence that can be true or false by itself: one or more spans of that sentence.

    `text` reads by itself; it may carry a shared subject or an antecedent that the spans do not hold.
    `check_worthy` is false for questions, transitions and talk about the conversation: they need no citation.
    """

    spans: tuple[Span, ...]
    text: str
    check_worthy: bool = True


@dataclass(frozen=True, slots=True)
class Evidence:
    """A span of a passage proposed for a proposition, with its similarity.

    `shown` is false for what was found elsewhere in the collection: the writer of the answer did not have it.
    `gone` is what became of its document since, in words, and `address` where on the web that document is, where these
    are known; they are no part of what was said.
    """

    passage: Passage
    span: Span
    score: float
    passage_score: float
    shown: bool = True
    gone: str = field(default="", compare=False)
    address: str = field(default="", compare=False)

    @property
    def quote(self) -> str:
        return self.span.of(self.passage.text)


@dataclass(frozen=True, slots=True)
class Citation:
    """Accepted evidence.  `number` is its passage's marker in the answer, counted by first appearance from 1."""

    number: int
    evidence: Evidence
    verdict: Verdict

    @property
    def passage(self) -> Passage:
        return self.evidence.passage

    @property
    def span(self) -> Span:
        return self.evidence.span

    @property
    def quote(self) -> str:
        return self.evidence.quote

    @property
    def score(self) -> float:
        return self.evidence.score

    @property
    def pages(self) -> tuple[int, ...]:
        return self.passage.pages_of(self.span)

    @property
    def boxes(self) -> tuple[Box, ...]:
        """The lines of the source on which the quote is seen."""
        return self.passage.boxes_of(self.span)

    @property
    def places(self) -> tuple[str, ...]:
        """Where a person finds the quote in a source without pages: `slide 3`, `Budget, row 14`."""
        return self.passage.places_of(self.span)

    @property
    def shown(self) -> bool:
        return self.evidence.shown

    @property
    def id(self) -> str:
        """Stable: the same words of the same passage have the same id in every answer."""
        return _digest("citation", self.passage.id, f"{self.span.start}:{self.span.end}", self.quote)


@dataclass(frozen=True, slots=True)
class CitedProposition:
    """A proposition of the answer with what was found for it.

    Its spans lie in the answer.  Several citations support it together.  `nearest` is the best evidence that was not
    good enough, for a proposition without a citation.  `verdict` is None for a proposition that needs no support.
    """

    proposition: Proposition
    verdict: Verdict | None
    citations: tuple[Citation, ...] = ()
    nearest: Evidence | None = None

    @property
    def id(self) -> str:
        """Stable: the same claim at the same place of an answer has the same id."""
        places = (f"{span.start}:{span.end}" for span in self.proposition.spans)
        return _digest("proposition", self.proposition.text, *places)


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of the answer: its span, and its propositions with their citations."""

    span: Span
    propositions: tuple[CitedProposition, ...] = ()
    max_citations: int = MAX_CITATIONS

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The union over propositions, one a passage, the strongest first, at most `max_citations`; in marker order."""
        best: dict[str, Citation] = {}
        for citation in (c for p in self.propositions for c in p.citations):
            held = best.get(citation.passage.id)
            if held is None or citation.score > held.score:
                best[citation.passage.id] = citation
        strongest = sorted(best.values(), key=lambda c: -c.score)[: self.max_citations]
        return tuple(sorted(strongest, key=lambda c: c.number))


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """An answer, its sentences, their propositions, the citations of each, and what stayed uncited.

    `collection` names what it was cited over; it is empty for given passages.  `index_version` names which passages
    these were and the encoder that read them.  `incomplete` when its writing ended too soon; `notes` are what else a
    reader must know of how it was written.

    `after` is the id of the answer that this one follows in a conversation; `understood` is the question as it was
    looked for, where it is not the very words that were asked.  `written_from` are the ids of the passages that its
    writer was given, the best first.
    """

    text: str
    sentences: tuple[CitedSentence, ...] = ()
    question: str = ""
    collection: str = ""
    abstained: bool = False
    index_version: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    incomplete: bool = False
    notes: tuple[str, ...] = ()
    after: str = ""
    understood: str = ""
    written_from: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Stable: the same answer to the same question, cited alike over the same collection, has the same id.

        One that follows another is another answer than the same words at the beginning of a conversation.
        """
        parts = [self.collection, self.question, self.text]
        parts += [f"{c.passage.id}:{c.span.start}:{c.span.end}" for c in self.citations]
        parts += [f"after {self.after}"] if self.after else []
        return _digest(*parts)

    @property
    def propositions(self) -> tuple[CitedProposition, ...]:
        return tuple(p for sentence in self.sentences for p in sentence.propositions)

    @property
    def facts(self) -> tuple[CitedProposition, ...]:
        """The propositions that need support, with it or without; people count them from 1."""
        return tuple(p for p in self.propositions if p.proposition.check_worthy)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Every citation of every proposition, in the order of the answer."""
        return tuple(c for p in self.propositions for c in p.citations)

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The cited passages in the order of their markers."""
        numbered = {c.number: c.passage for c in self.citations}
        return tuple(numbered[n] for n in sorted(numbered))

    @property
    def uncited(self) -> tuple[CitedProposition, ...]:
        """The propositions that need support and have none: reported, not hidden."""
        return tuple(p for p in self.facts if not p.citations)

    @property
    def uncited_spans(self) -> tuple[Span, ...]:
        """The answer's words that need support and have none, without those that another proposition has cited."""
        bare = bytearray(len(self.text))
        for p in (*self.uncited, *(p for p in self.propositions if p.citations)):
            for span in p.proposition.spans:
                bare[span.start : span.end] = (b"\0" if p.citations else b"\1") * len(span)
        spans = (Span(*found.span()).trimmed(self.text) for found in re.finditer(rb"\x01+", bare))
        return tuple(span for span in spans if any(c.isalnum() for c in span.of(self.text)))

    @property
    def coverage(self) -> float:
        """The share of the propositions that need support and have it; 1 when none needs any."""
        return sum(bool(p.citations) for p in self.facts) / len(self.facts) if self.facts else 1.0

    def words(self, spans: Iterable[Span]) -> str:
        return words_of(spans, self.text)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
