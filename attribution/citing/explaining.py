"""Why a fact's evidence was found: which words of the fact met which words of the source, and how much each counted.

The answer's sentence and the passage are read anew; a citation holds its passage, so no index and no database is asked.
"""

from __future__ import annotations

from dataclasses import dataclass

from propcite.attribution.citations import Citation, CitedAnswer, CitedProposition, Evidence
from propcite.attribution.citing.lookup import citation_of, fact_of
from propcite.attribution.errors import AttributionError, NotInAnswerError
from propcite.attribution.propositions import PropositionSplitter
from propcite.retrieval.alignment import NEAREST, Alignment, alignment_of
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.explanation import Explanation, explain
from propcite.retrieval.text import Granularity, Span, words_of

WITHOUT_TOKENS = ("postcite", "bm25")  # methods that compare no token vectors
Unit = tuple[Span, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """A fact, one piece of its evidence, and their explanation.

    `number` counts the answer's facts from 1; `citation` is None for a near miss.  `text` is what was read of the
    answer, its place there begins at `start`, None where the fact was read by itself; the words of `explanation` lie
    in it and in the passage, of which `unit` was compared.
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
        return words_of(self.unit, self.evidence.passage.text)


def explain_citation(
    encoder: Encoder,
    splitter: PropositionSplitter,
    answer: CitedAnswer,
    fact: str | int = 1,
    citation: str | int = "",
    granularity: Granularity | None = None,
    alignment: Alignment | None = None,
) -> Explained:
    """Of a fact by number or id, and of its citation by marker or id: without a name its first, or its near miss.

    `granularity` says against what: the evidence's sentence, its whole passage, or the nearest proposition of it; by
    default what the answer's method searched for.  `alignment` says which words count, by default as when it was cited.
    """
    check_comparable(answer, encoder)
    about = fact_of(answer, fact)
    cited = citation_of(about, citation or (about.citations[0].id if about.citations else ""))
    evidence = cited.evidence if cited else about.nearest
    number = answer.facts.index(about) + 1
    if evidence is None:
        raise NotInAnswerError(
            f"nothing came near fact {number}, so nothing explains it: cite the answer over more sources"
        )
    level, aligned = granularity or searched(answer), alignment or _aligned(answer)
    text, start, spans = as_asked(answer, about)
    units = _units(evidence, level, splitter)
    try:
        found = explain(encoder, text, evidence.passage, units, spans=spans, granularity=level, alignment=aligned)
    except ValueError as error:
        raise AttributionError(f"fact {number} or its source has no word to compare: choose another fact") from error
    explanation, unit = max(zip(found, units, strict=True), key=lambda pair: pair[0].score)
    return Explained(answer, number, about, evidence, cited, text, start, unit, explanation)


def check_comparable(answer: CitedAnswer, encoder: Encoder) -> None:
    """Whether there is something to explain, and it can be read as it was."""
    method = answer.models.get("method", "")
    if method in WITHOUT_TOKENS:
        raise AttributionError(
            f"this answer was cited by {method}, which compares no token vectors: cite it anew by 'propositions'"
        )
    made_by = answer.models.get("encoder", encoder.query_name)
    if made_by != encoder.query_name:
        raise AttributionError(
            f"this answer was cited with the encoder {made_by}, here is {encoder.query_name}: cite it anew, or use that"
        )


def searched(answer: CitedAnswer) -> Granularity:
    """What the answer's evidence was looked for among."""
    return Granularity.PASSAGE if answer.models.get("method") == "paper" else Granularity.SENTENCE


def _aligned(answer: CitedAnswer) -> Alignment:
    return alignment_of(answer.models["alignment"]) if "alignment" in answer.models else NEAREST


def as_asked(answer: CitedAnswer, fact: CitedProposition) -> tuple[str, int | None, Unit]:
    """What was encoded for a fact, where that stands in the answer, and the fact's spans in it."""
    proposition = fact.proposition
    if answer.models.get("method") == "alone":
        return proposition.text, None, (Span(0, len(proposition.text)),)
    sentence = next(s.span for s in answer.sentences if fact in s.propositions)
    return sentence.of(answer.text), sentence.start, tuple(s.shifted(-sentence.start) for s in proposition.spans)


def _units(evidence: Evidence, level: Granularity, splitter: PropositionSplitter) -> list[Unit]:
    """What of the evidence may be compared: the whole passage, its sentences, or their propositions."""
    text = evidence.passage.text
    if level is Granularity.PASSAGE:
        return [(Span(0, len(text)).trimmed(text),)]
    sentences = _sentences(evidence)
    if level is Granularity.SENTENCE:
        return [(sentence,) for sentence in sentences]
    split = splitter.split_many([sentence.of(text) for sentence in sentences], [()] * len(sentences))
    found = [
        tuple(span.shifted(sentence.start) for span in proposition.spans)
        for sentence, propositions in zip(sentences, split, strict=True)
        for proposition in propositions
    ]
    return found or [(sentence,) for sentence in sentences]


def _sentences(evidence: Evidence) -> list[Span]:
    """The sentences of evidence that is longer than one; else the evidence."""
    text = evidence.passage.text
    within = [s.span.trimmed(text) for s in evidence.passage.sentences if not s.is_heading]
    within = [s for s in within if s.overlaps(evidence.span) and any(c.isalnum() for c in s.of(text))]
    return within if len(within) > 1 else [evidence.span]
