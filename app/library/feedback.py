"""Feedback on the citations of a stored answer, and the labelled claims that it yields for training judges."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from propcite.app.errors import AppError, NotFoundError
from propcite.app.library.store import CollectionInfo, Feedback, Opinion, QuotedSpan
from propcite.attribution.citations import Citation, CitedAnswer, CitedProposition, Evidence, Verdict
from propcite.attribution.citing.lookup import citation_of, fact_of
from propcite.retrieval.text import Granularity, Passage, Span

if TYPE_CHECKING:
    from propcite.app.answering.pipeline import Pipeline
    from propcite.app.parts import Parts

SOURCE = "feedback"  # the `source` of exported rows
NUM_SEARCHED = 50  # passages searched for a quote


def make_feedback(
    answer: CitedAnswer,
    fact: str,
    opinion: Opinion,
    *,
    citation: str = "",
    better: QuotedSpan | None = None,
    note: str = "",
    by: str = "",
) -> Feedback:
    """Build feedback on a fact, given by number or id, and on one of its citations, given by marker or id."""
    target = fact_of(answer, fact)
    if opinion is Opinion.BETTER and better is None:
        raise AppError("say which words are better")
    cited = citation_of(target, citation)
    return Feedback(answer.id, target.id, cited.id if cited else "", opinion, better, note, by)


def find_target(answer: CitedAnswer, feedback: Feedback) -> tuple[CitedProposition, Citation | None] | None:
    """Return the fact and citation that feedback is on; None if the answer no longer has them."""
    for fact in answer.facts:
        if fact.id == feedback.fact:
            cited = next((c for c in fact.citations if c.id == feedback.citation), None)
            return (fact, cited) if cited or not feedback.citation else None
    return None


def find_quote(pipeline: Pipeline, quote: str) -> QuotedSpan:
    """Find words that a user copied from a source, ignoring spacing; raise NotFoundError if no passage has them."""
    hits = pipeline.search(quote, Granularity.PASSAGE, NUM_SEARCHED)
    plain = " ".join(quote.split())
    for place in (place for hit in hits for place in hit.everywhere):
        text = place.passage.text
        positions = _without_repeated_spaces(text)
        joined = "".join(text[i] if not text[i].isspace() else " " for i in positions)
        at = joined.find(plain)
        if plain and at >= 0:
            return quoted_span(place.passage, Span(positions[at], positions[at + len(plain) - 1] + 1))
    nearest = f"; nearest: {' '.join(hits[0].text.split())!r}" if hits else ""
    raise NotFoundError(f"no passage contains {plain[:80]!r}: copy the words from the source{nearest}")


def _without_repeated_spaces(text: str) -> list[int]:
    """Return the positions of all characters except spaces after a space."""
    return [i for i, c in enumerate(text) if not (c.isspace() and i and text[i - 1].isspace())]


def quoted_span(passage: Passage, span: Span) -> QuotedSpan:
    return QuotedSpan(passage.id, span.start, span.end, span.of(passage.text))


def supported_label(feedback: Feedback) -> bool | None:
    """Return whether the cited words support the fact according to the feedback; None if it does not say."""
    if not feedback.citation:
        return None
    return {Opinion.RIGHT: True, Opinion.TOO_BROAD: True, Opinion.WRONG: False}.get(feedback.opinion)


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A claim with evidence, whether a person says that it is supported, and the judge's earlier verdict."""

    feedback: Feedback
    question: str
    claim: str
    evidence: tuple[str, ...]
    titles: tuple[str, ...]
    supported: bool
    verdict: Verdict | None = None

    @property
    def row(self) -> dict[str, Any]:
        """Return the row that `propcite eval cite` and the training of judges read."""
        docs = [{"title": title, "text": text} for title, text in zip(self.titles, self.evidence, strict=True)]
        return {
            "source": SOURCE,
            "question": self.question,
            "claim": self.claim,
            "docs": docs,
            "label": "supported" if self.supported else "not_supported",
            "answer": self.feedback.answer_id,
            "opinion": self.feedback.opinion.value,
            "note": self.feedback.note,
            "by": self.feedback.by,
        }


def labelled_claims(answers: Mapping[str, CitedAnswer], feedback: Iterable[Feedback]) -> Iterator[LabelledClaim]:
    """Yield the claims that feedback labels; some feedback labels none, `better` may label two."""
    for entry in feedback:
        answer = answers.get(entry.answer_id)
        target = find_target(answer, entry) if answer else None
        if answer and target:
            yield from _labelled(answer.question, entry, *target)


def export_feedback(parts: Parts, collection: CollectionInfo | None = None) -> str:
    """Return the feedback on a collection's answers, or on all, as JSON lines of claim, evidence and label."""
    feedback = parts.feedback.all(collection)
    answers = {i: parts.library.answer(i) for i in dict.fromkeys(entry.answer_id for entry in feedback)}
    claims = labelled_claims(answers, feedback)
    return "".join(json.dumps(claim.row, ensure_ascii=False) + "\n" for claim in claims)


def _labelled(
    question: str, feedback: Feedback, fact: CitedProposition, cited: Citation | None
) -> Iterator[LabelledClaim]:
    claim, supported = fact.proposition.text, supported_label(feedback)
    if cited and supported is not None:
        # All citations of a fact support it together; a wrong one is wrong alone.
        evidence = [c.evidence for c in fact.citations] if supported else [cited.evidence]
        yield LabelledClaim(feedback, question, claim, *_quotes(evidence), supported, cited.verdict)
    elif fact.nearest and feedback.opinion is Opinion.RIGHT:
        yield LabelledClaim(feedback, question, claim, *_quotes([fact.nearest]), False, fact.verdict)
    if feedback.better:
        yield LabelledClaim(feedback, question, claim, (feedback.better.quote,), ("",), True)


def _quotes(evidence: Sequence[Evidence]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(e.quote for e in evidence), tuple(e.passage.title for e in evidence)
