"""Explain why a fact's evidence was found: which of its words matched which words of the source, and their weight.

The answer's sentence and the passage are encoded again.  A citation holds its passage, so this needs no index.
"""

from __future__ import annotations

from dataclasses import dataclass

from propcite.attribution.citations import Citation, CitedAnswer, CitedProposition, Evidence
from propcite.attribution.citing.lookup import citation_of, fact_of
from propcite.attribution.errors import AttributionError, NotInAnswerError
from propcite.attribution.propositions import Splitter
from propcite.retrieval.alignment import NEAREST, Alignment, alignment_of
from propcite.retrieval.encoding.base import TextEncoder
from propcite.retrieval.explanation import Explanation, explain
from propcite.retrieval.text import Granularity, Span, join_spans

WITHOUT_TOKENS = ("postcite", "bm25")  # methods that compare no token vectors
Unit = tuple[Span, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """A fact, one piece of its evidence, and their explanation.

    `number` counts the answer's facts from 1; `citation` is None for a near miss.  `text` is what was encoded of the
    answer, from `start` on, which is None if the fact was encoded by itself.  The words of `explanation` lie in `text`
    and in the passage; `unit` is the part of the passage that was compared.

    >>> from propcite import PropCite
    >>> propcite = PropCite.default()
    >>> answer = propcite.cite("The barrier cost 410 million euros.", ["The barrier cost 410 million euros in all."])
    >>> propcite.explain(answer, fact=1).unit_text
    'The barrier cost 410 million euros in all.'
    """

    answer: CitedAnswer
    number: int
    fact: CitedProposition
    evidence: Evidence
    citation: Citation | None
    text: str
    start: int | None
    unit: Unit
    explanation: Explanation

    @property
    def unit_text(self) -> str:
        return join_spans(self.unit, self.evidence.passage.text)


def explain_citation(
    encoder: TextEncoder,
    splitter: Splitter,
    answer: CitedAnswer,
    fact: str | int = 1,
    citation: str | int = "",
    granularity: Granularity | None = None,
    alignment: Alignment | None = None,
) -> Explained:
    """Explain a citation of a fact, named by number, marker or id; by default its first citation, or its near miss.

    `granularity` says what of the evidence is compared: its sentence, its whole passage, or its nearest proposition;
    by default what the answer's method searched for.  `alignment` is by default that of the answer.
    """
    check_comparable(answer, encoder)
    about = fact_of(answer, fact)
    cited = citation_of(about, citation or (about.citations[0].id if about.citations else ""))
    evidence = cited.evidence if cited else about.nearest
    number = answer.facts.index(about) + 1
    if evidence is None:
        raise NotInAnswerError(f"fact {number} has no evidence to explain: cite the answer over more sources")
    level, aligned = granularity or searched_granularity(answer), alignment or _aligned(answer)
    text, start, spans = encoded_as(answer, about)
    units = _units(evidence, level, splitter)
    try:
        explanations = explain(
            encoder, text, evidence.passage, units, spans=spans, granularity=level, alignment=aligned
        )
    except ValueError as error:
        raise AttributionError(f"fact {number} or its source has no word to compare: choose another fact") from error
    explanation, unit = max(zip(explanations, units, strict=True), key=lambda pair: pair[0].score)
    return Explained(answer, number, about, evidence, cited, text, start, unit, explanation)


def check_comparable(answer: CitedAnswer, encoder: TextEncoder) -> None:
    """Raise AttributionError unless the answer was cited by token vectors of this encoder."""
    method = answer.models.get("method", "")
    if method in WITHOUT_TOKENS:
        raise AttributionError(
            f"this answer was cited by {method}, which compares no token vectors: cite it again with 'propositions'"
        )
    made_by = answer.models.get("encoder", encoder.query_name)
    if made_by != encoder.query_name:
        raise AttributionError(
            f"this answer was cited with the encoder {made_by}, not {encoder.query_name}: cite it again, or use that"
        )


def searched_granularity(answer: CitedAnswer) -> Granularity:
    """Return the granularity at which the answer's evidence was searched."""
    return Granularity.PASSAGE if answer.models.get("method") == "paper" else Granularity.SENTENCE


def _aligned(answer: CitedAnswer) -> Alignment:
    return alignment_of(answer.models["alignment"]) if "alignment" in answer.models else NEAREST


def encoded_as(answer: CitedAnswer, fact: CitedProposition) -> tuple[str, int | None, Unit]:
    """Return the text that was encoded for a fact, where it starts in the answer, and the fact's spans in the text."""
    proposition = fact.proposition
    if answer.models.get("method") == "alone":
        return proposition.text, None, (Span(0, len(proposition.text)),)
    sentence = next(s.span for s in answer.sentences if fact in s.propositions)
    return sentence.of(answer.text), sentence.start, tuple(s.shifted(-sentence.start) for s in proposition.spans)


def _units(evidence: Evidence, level: Granularity, splitter: Splitter) -> list[Unit]:
    """Return the parts of the evidence to compare: the whole passage, its sentences, or their propositions."""
    text = evidence.passage.text
    if level is Granularity.PASSAGE:
        return [(Span(0, len(text)).trimmed(text),)]
    sentences = _sentences(evidence)
    if level is Granularity.SENTENCE:
        return [(sentence,) for sentence in sentences]
    split = splitter.split_many([sentence.of(text) for sentence in sentences], [()] * len(sentences))
    units = [
        tuple(span.shifted(sentence.start) for span in proposition.spans)
        for sentence, propositions in zip(sentences, split, strict=True)
        for proposition in propositions
    ]
    return units or [(sentence,) for sentence in sentences]


def _sentences(evidence: Evidence) -> list[Span]:
    """Return the sentences of evidence that has several; else the evidence itself."""
    text = evidence.passage.text
    within = [s.span.trimmed(text) for s in evidence.passage.sentences if not s.is_heading]
    within = [s for s in within if s.overlaps(evidence.span) and any(c.isalnum() for c in s.of(text))]
    return within if len(within) > 1 else [evidence.span]
