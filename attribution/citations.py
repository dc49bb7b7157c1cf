"""Frozen values of a cited answer.  A quote is always a slice of its source, never a text of its own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from propcite.attribution.question_parts import Answered, QuestionPart
from propcite.retrieval.text import Box, Hit, Passage, Span, join_spans

MAX_CITATIONS = 3  # markers per sentence, as in ALCE


class Label(StrEnum):
    """The verdict of a judge on evidence; `unchecked` where none was given, or not over all the documents.

    >>> Label("partly")
    <Label.PARTLY: 'partly'>
    """

    SUPPORTED = "supported"
    PARTLY = "partly"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's label for evidence, the probability that it supports the claim, and what differs.

    >>> Verdict(Label.SUPPORTED, 0.97).label.value
    'supported'
    """

    label: Label
    probability: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Proposition:
    """The smallest claim in a sentence that can be true or false by itself: one or more spans of that sentence.

    `text` can be understood alone; it may contain a shared subject or an antecedent from outside the spans.
    `check_worthy` is false for questions, transitions and talk about the conversation: they need no citation.

    >>> Proposition((Span(0, 31),), "The barrier is 6.4 metres high.").check_worthy
    True
    """

    spans: tuple[Span, ...]
    text: str
    check_worthy: bool = True


@dataclass(frozen=True, slots=True)
class Evidence:
    """A span of a passage proposed for a proposition, with its similarity.

    `shown` is false if the span was found elsewhere in the collection, in a passage that the writer of the answer did
    not have.  `document_status` says in words that the document was replaced or removed since, `doubt` why its words
    may differ from those of the source, `address` is its web address, `link` opens the words in their document, as
    the server that sent the answer says; they are empty if unknown, and evidence that differs in them alone is equal.
    `copies` are other places of the same words, in the order in which they would be cited; their scores are those of
    the evidence.

    >>> from propcite import PropCite
    >>> text = "The barrier is 6.4 metres high."
    >>> answer = PropCite.default().cite(text, [f"{text} It was finished in 2024."])
    >>> answer.citations[0].evidence.quote
    'The barrier is 6.4 metres high.'
    """

    passage: Passage
    span: Span
    score: float
    passage_score: float
    shown: bool = True
    copies: tuple[Evidence, ...] = ()
    document_status: str = field(default="", compare=False)
    doubt: str = field(default="", compare=False)
    address: str = field(default="", compare=False)
    link: str = field(default="", compare=False)

    @classmethod
    def of(cls, hit: Hit, score: float | None = None, *, shown: bool = True) -> Evidence:
        """Return a hit of a search as evidence, with its copies; `score` replaces the hit's own."""
        scores = hit.score if score is None else score, hit.passage_score
        copies = tuple(cls(copy.passage, copy.spans[0], *scores, shown) for copy in hit.copies)
        return cls(hit.passage, hit.spans[0], *scores, shown, copies)

    @property
    def quote(self) -> str:
        return self.span.of(self.passage.text)


@dataclass(frozen=True, slots=True)
class Citation:
    """Accepted evidence.  `number` is the marker of its passage; passages are numbered from 1 by first appearance.

    >>> from propcite import PropCite
    >>> text = "The barrier is 6.4 metres high."
    >>> answer = PropCite.default().cite(text, [f"{text} It was finished in 2024."])
    >>> [(citation.number, citation.quote) for citation in answer.citations]
    [(1, 'The barrier is 6.4 metres high.')]
    """

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
        """Return the rectangles of the lines on which the quote is visible in its document."""
        return self.passage.boxes_of(self.span)

    @property
    def places(self) -> tuple[str, ...]:
        """Return named places of the quote in a source without pages: `slide 3`, `Budget, row 14`."""
        return self.passage.places_of(self.span)

    @property
    def shown(self) -> bool:
        return self.evidence.shown

    @property
    def copies(self) -> tuple[Evidence, ...]:
        """Return other places of the same words."""
        return self.evidence.copies

    @property
    def id(self) -> str:
        """Return an id that is the same in every answer for the same words of the same passage."""
        return _digest("citation", self.passage.id, f"{self.span.start}:{self.span.end}", self.quote)


@dataclass(frozen=True, slots=True)
class CitedProposition:
    """A proposition of the answer with its verdict and citations.

    Its spans lie in the answer.  Several citations support it together.  `nearest` is the best rejected evidence of a
    proposition without a citation.  `verdict` is None if the proposition needs no support.

    >>> from propcite import PropCite
    >>> text = "The barrier is 6.4 metres high."
    >>> answer = PropCite.default().cite(text, [f"{text} It was finished in 2024."])
    >>> [(fact.proposition.text, fact.verdict.label.value) for fact in answer.facts]
    [('The barrier is 6.4 metres high.', 'supported')]
    """

    proposition: Proposition
    verdict: Verdict | None
    citations: tuple[Citation, ...] = ()
    nearest: Evidence | None = None

    @property
    def id(self) -> str:
        """Return an id that is the same for the same claim at the same place of an answer."""
        places = (f"{span.start}:{span.end}" for span in self.proposition.spans)
        return _digest("proposition", self.proposition.text, *places)


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of the answer: its span, and its propositions with their citations.

    >>> from propcite import PropCite
    >>> text = "The barrier is 6.4 metres high."
    >>> answer = PropCite.default().cite(text, [f"{text} It was finished in 2024."])
    >>> [(sentence.span.of(answer.text), len(sentence.citations)) for sentence in answer.sentences]
    [('The barrier is 6.4 metres high.', 1)]
    """

    span: Span
    propositions: tuple[CitedProposition, ...] = ()
    max_citations: int = MAX_CITATIONS

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Return the strongest citations of all propositions, one per passage, at most `max_citations`, by number."""
        best: dict[str, Citation] = {}
        for citation in (c for p in self.propositions for c in p.citations):
            previous = best.get(citation.passage.id)
            if previous is None or citation.score > previous.score:
                best[citation.passage.id] = citation
        strongest = sorted(best.values(), key=lambda c: -c.score)[: self.max_citations]
        return tuple(sorted(strongest, key=lambda c: c.number))


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """An answer, its sentences, their propositions, and the citations of each.

    `collection` is the name of the collection that it cites, empty for passages passed in.  `index_version` identifies
    the passages searched and the encoder.  `incomplete` is true if the writing stopped early; `notes` hold what else
    readers must know of how it was written.

    `after` is the id of the answer that this one follows in a conversation.  `understood` is the question that was
    searched for, if it differs from `question`.  `written_from` are the ids of the passages that the writer had, the
    best first.  `parts` says per thing that the question asks whether it is answered; empty without a question.

    >>> from propcite import PropCite
    >>> text = "The barrier is 6.4 metres high."
    >>> answer = PropCite.default().cite(text, [f"{text} It was finished in 2024."])
    >>> answer.coverage, answer.uncited
    (1.0, ())
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
    parts: tuple[QuestionPart, ...] = ()

    @property
    def id(self) -> str:
        """Return an id that is the same for the same answer, question, collection and citations.

        An answer that follows another has an id other than that of the same words at the start of a conversation.
        """
        parts = [self.collection, self.question, self.text]
        parts += [f"{c.passage.id}:{c.span.start}:{c.span.end}" for c in self.citations]
        parts += [f"after {self.after}"] if self.after else []
        return _digest(*parts)

    @property
    def answered(self) -> Answered | None:
        """Return whether the question is answered: partly where some of its parts are; None where it is not known."""
        if not self.parts:
            return None
        found = {part.answered for part in self.parts}
        return found.pop() if len(found) == 1 else Answered.PARTLY

    @property
    def is_empty(self) -> bool:
        """Return whether it abstains and has no words that come near to an answer either."""
        return self.abstained and not self.citations

    @property
    def propositions(self) -> tuple[CitedProposition, ...]:
        return tuple(p for sentence in self.sentences for p in sentence.propositions)

    @property
    def facts(self) -> tuple[CitedProposition, ...]:
        """Return the propositions that need support, with or without it; people count them from 1."""
        return tuple(p for p in self.propositions if p.proposition.check_worthy)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Return every citation of every proposition, in the order of the answer."""
        return tuple(c for p in self.propositions for c in p.citations)

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Return the cited passages in the order of their markers."""
        numbered = {c.number: c.passage for c in self.citations}
        return tuple(numbered[n] for n in sorted(numbered))

    @property
    def uncited(self) -> tuple[CitedProposition, ...]:
        """Return the propositions that need support and have none."""
        return tuple(p for p in self.facts if not p.citations)

    @property
    def uncited_spans(self) -> tuple[Span, ...]:
        """Return the spans that need support and have none, without words that another proposition has cited."""
        bare = bytearray(len(self.text))  # 1 for each character of uncited words
        for p in (*self.uncited, *(p for p in self.propositions if p.citations)):
            for span in p.proposition.spans:
                bare[span.start : span.end] = (b"\0" if p.citations else b"\1") * len(span)
        spans = (Span(*run.span()).trimmed(self.text) for run in re.finditer(rb"\x01+", bare))
        return tuple(span for span in spans if any(c.isalnum() for c in span.of(self.text)))

    @property
    def coverage(self) -> float:
        """Return the share of the facts that have support; 1 if there are none."""
        return sum(bool(p.citations) for p in self.facts) / len(self.facts) if self.facts else 1.0

    def words(self, spans: Iterable[Span]) -> str:
        return join_spans(spans, self.text)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
