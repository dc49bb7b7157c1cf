"""Opinions on a kept answer: which fact and citation each is on, and what it says of claims and evidence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from propcite.app.errors import AppError, NotFoundError
from propcite.app.library.store import CollectionInfo, Feedback, Opinion, Words
from propcite.attribution.citations import Citation, CitedAnswer, CitedProposition, Evidence, Verdict
from propcite.attribution.citing.lookup import citation_of, fact_of
from propcite.retrieval.text import Granularity, Passage, Span

if TYPE_CHECKING:
    from propcite.app.answering.pipeline import Pipeline
    from propcite.app.parts import Parts

SOURCE = "feedback"  # of the rows that opinions become
NUM_LOOKED_AT = 50  # passages among which better words are looked for


def opinion_on(
    answer: CitedAnswer,
    fact: str,
    opinion: Opinion,
    *,
    citation: str = "",
    better: Words | None = None,
    note: str = "",
    by: str = "",
) -> Feedback:
    """An opinion on a fact, by its number or id, and on one of its citations, by its marker or id."""
    about = fact_of(answer, fact)
    if opinion is Opinion.BETTER and better is None:
        raise AppError("say which words are better")
    cited = citation_of(about, citation)
    return Feedback(answer.id, about.id, cited.id if cited else "", opinion, better, note, by)


def cited_of(answer: CitedAnswer, given: Feedback) -> tuple[CitedProposition, Citation | None] | None:
    """What an opinion is on; None where the answer no longer holds it."""
    for fact in answer.facts:
        if fact.id == given.fact:
            cited = next((c for c in fact.citations if c.id == given.citation), None)
            return (fact, cited) if cited or not given.citation else None
    return None


def words_of_source(pipeline: Pipeline, wanted: str) -> Words:
    """The words that somebody copied from a source, where the collection has them."""
    hits = pipeline.search(wanted, Granularity.PASSAGE, NUM_LOOKED_AT)
    plain = " ".join(wanted.split())
    for hit in hits:
        text = hit.passage.text
        places = _places(text)
        joined = "".join(text[i] if not text[i].isspace() else " " for i in places)
        at = joined.find(plain)
        if plain and at >= 0:
            return words_in(hit.passage, Span(places[at], places[at + len(plain) - 1] + 1))
    near = f"; nearest: {' '.join(hits[0].text.split())!r}" if hits else ""
    raise NotFoundError(f"no passage says {plain[:80]!r}: copy the words from the source{near}")


def _places(text: str) -> list[int]:
    """The places of characters, of each run of spaces the first."""
    return [i for i, c in enumerate(text) if not (c.isspace() and i and text[i - 1].isspace())]


def words_in(passage: Passage, span: Span) -> Words:
    return Words(passage.id, span.start, span.end, span.of(passage.text))


def says_supported(given: Feedback) -> bool | None:
    """Whether a person says that the cited words support the fact; None where that is not said."""
    if not given.citation:
        return None
    return {Opinion.RIGHT: True, Opinion.TOO_BROAD: True, Opinion.WRONG: False}.get(given.opinion)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A claim with evidence of which a person said whether it supports it, and what the judge had said."""

    given: Feedback
    question: str
    claim: str
    evidence: tuple[str, ...]
    titles: tuple[str, ...]
    supported: bool
    verdict: Verdict | None = None

    @property
    def row(self) -> dict[str, Any]:
        """As `propcite eval cite` and the training of judges read it."""
        docs = [{"title": title, "text": text} for title, text in zip(self.titles, self.evidence, strict=True)]
        return {
            "source": SOURCE,
            "question": self.question,
            "claim": self.claim,
            "docs": docs,
            "label": "supported" if self.supported else "not_supported",
            "answer": self.given.answer_id,
            "opinion": self.given.opinion.value,
            "note": self.given.note,
            "by": self.given.by,
        }


def labelled(answers: Mapping[str, CitedAnswer], given: Iterable[Feedback]) -> Iterator[Labelled]:
    """What opinions say of claims and evidence; some say nothing of that."""
    for one in given:
        answer = answers.get(one.answer_id)
        found = cited_of(answer, one) if answer else None
        if answer and found:
            yield from _labelled(answer.question, one, *found)


def exported(parts: Parts, collection: CollectionInfo | None = None) -> str:
    """What was said of a collection's answers, or of all, as JSON lines of claim, evidence and label."""
    given = parts.feedback.all(collection)
    answers = {i: parts.library.answer(i) for i in dict.fromkeys(one.answer_id for one in given)}
    return "".join(json.dumps(one.row, ensure_ascii=False) + "\n" for one in labelled(answers, given))


def _labelled(question: str, given: Feedback, fact: CitedProposition, cited: Citation | None) -> Iterator[Labelled]:
    claim, supported = fact.proposition.text, says_supported(given)
    if cited and supported is not None:
        together = [c.evidence for c in fact.citations] if supported else [cited.evidence]
        yield Labelled(given, question, claim, *_read(together), supported, cited.verdict)
    elif fact.nearest and given.opinion is Opinion.RIGHT:
        yield Labelled(given, question, claim, *_read([fact.nearest]), False, fact.verdict)
    if given.better:
        yield Labelled(given, question, claim, (given.better.quote,), ("",), True)


def _read(evidence: Sequence[Evidence]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(e.quote for e in evidence), tuple(e.passage.title for e in evidence)
