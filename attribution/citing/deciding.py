"""From a claim's candidates to its citations: what the judge accepts, alone or together, or the nearest miss."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from propcite.attribution.citations import Citation, CitedProposition, Evidence, Label, Proposition, Verdict
from propcite.attribution.english.comparing.differences import difference
from propcite.attribution.english.comparing.rows import rows_beside
from propcite.attribution.english.pronouns.antecedent import insertions, without_marks
from propcite.attribution.english.words import content_words, numbers, share_found
from propcite.attribution.judges import Case, Judge
from propcite.retrieval.text import Granularity, Hit, Passage, Span, words_of

CANDIDATES = 3  # sentences judged for one claim: the nearest may be a near-duplicate with another number
MARGIN_DEPTH = 24  # candidates looked at for the second-best passage: one passage may hold many of the best
NUMBERS_DEPTH = 12  # and whose passages are looked through for the one sentence that states a claim's numbers
MIN_SCORE = 0.5  # without a judge, the similarity from which evidence counts
SURE_FROM = 0.9  # evidence so likely to support a claim is not compared with what comes next
JOINT_FLOOR = 0.2  # two pieces together are judged when the better one alone is at least so likely to support
JOINT_GAIN = 0.15  # and are cited when together they are likelier by this
PRONOUN = re.compile(r"(?:it|he|she|they|its|his|her|their|this|these)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Claim:
    """A proposition of a sentence of the answer, and what was found for it, best first."""

    proposition: Proposition
    sentence: str
    hits: tuple[Hit, ...] = ()

    def as_read_beside(self, evidence: str) -> str:
        """With the antecedent, unless the source itself says "it" where the answer does."""
        if PRONOUN.match(evidence) and insertions(self.proposition.text):
            return words_of(self.proposition.spans, self.sentence)
        return without_marks(self.proposition.text)


@dataclass(frozen=True, slots=True)
class Decider:
    """Says which candidates a claim may cite."""

    judge: Judge | None
    candidates: int = CANDIDATES
    num_cited: int = 1
    min_score: float = MIN_SCORE
    min_margin: float = 0.0
    joint: bool = True

    @property
    def depth(self) -> int:
        """How many candidates must be found for each claim."""
        return max(self.candidates, self.num_cited, NUMBERS_DEPTH, MARGIN_DEPTH if self.min_margin else 1)

    def decide(self, claims: Sequence[Claim], *, shown: bool = True) -> list[CitedProposition]:
        """All claims in three batches: the nearest of each, the others where that is not sure, then pairs."""
        heard = [self._heard(claim) for claim in claims]
        nearest = self._judged(claims, [hits[: self.num_cited] for hits in heard])
        unsure = [not any(v.probability >= SURE_FROM for _, v in judged) for judged in nearest]
        others = [hits[self.num_cited :] if more else [] for hits, more in zip(heard, unsure, strict=True)]
        judged = [one + two for one, two in zip(nearest, self._judged(claims, others), strict=True)]
        decided = [self._alone(claim, found, shown) for claim, found in zip(claims, judged, strict=True)]
        if self.joint and self.judge:
            decided = self._together(claims, heard, decided, shown)
        return [_told(claim, found) for claim, found in zip(claims, decided, strict=True)]

    def verdicts(self, claim: Claim) -> list[Verdict]:
        """On each of its hits by itself."""
        return self._verdicts([(claim, (hit,)) for hit in claim.hits])

    def _judged(self, claims: Sequence[Claim], candidates: Sequence[Sequence[Hit]]) -> list[list[tuple[Hit, Verdict]]]:
        """Each candidate of each claim by itself."""
        asked = [(claim, (hit,)) for claim, hits in zip(claims, candidates, strict=True) for hit in hits]
        verdicts = iter(self._verdicts(asked))
        return [[(hit, next(verdicts)) for hit in hits] for hits in candidates]

    def _heard(self, claim: Claim) -> Sequence[Hit]:
        """The candidates that are judged; none when the best passage does not lead clearly enough."""
        hits = claim.hits
        others = [hit.score for hit in hits if hit.passage.id != hits[0].passage.id]
        if hits and others and hits[0].score - others[0] < self.min_margin:
            return []
        heard = hits[: max(self.candidates, self.num_cited)]
        return [*heard, *_stating_the_numbers(claim, heard)] if self.judge else heard

    def _verdicts(self, asked: Sequence[tuple[Claim, tuple[Hit, ...]]]) -> list[Verdict]:
        if self.judge is None:
            return [_by_score(hits[0].score, self.min_score) for _, hits in asked]
        return self.judge.judge([_case(claim, hits) for claim, hits in asked]) if asked else []

    def _alone(self, claim: Claim, heard: Sequence[tuple[Hit, Verdict]], shown: bool) -> CitedProposition:
        """The likeliest evidence that the judge accepts, the nearest of equals; else the likeliest is a near miss."""
        accepted: dict[str, Citation] = {}
        for hit, verdict in sorted(heard, key=lambda pair: -pair[1].probability):
            if verdict.label is Label.SUPPORTED:
                accepted.setdefault(hit.passage.id, Citation(0, _evidence(hit, shown), verdict))
        if accepted:
            citations = tuple(accepted.values())[: self.num_cited]
            return CitedProposition(claim.proposition, citations[0].verdict, citations)
        if not heard:
            nearest = _evidence(claim.hits[0], shown) if claim.hits else None
            return CitedProposition(claim.proposition, Verdict(Label.UNSUPPORTED, 0.0), (), nearest)
        best, verdict = max(heard, key=lambda pair: (pair[1].label is Label.CONTRADICTED, pair[1].probability))
        return CitedProposition(claim.proposition, verdict, (), _evidence(best, shown))

    def _together(
        self, claims: Sequence[Claim], heard: Sequence[Sequence[Hit]], decided: list[CitedProposition], shown: bool
    ) -> list[CitedProposition]:
        """Two sentences may say together what neither says alone."""
        pairs = {i: self._pairs(decided[i], heard[i]) for i in range(len(claims)) if _is_open(decided[i])}
        verdicts = iter(self._verdicts([(claims[i], pair) for i, found in pairs.items() for pair in found]))
        together = list(decided)
        for i, found in pairs.items():
            judged = [(next(verdicts), pair) for pair in found]
            likeliest = max(judged, key=lambda both: both[0].probability, default=None)
            if likeliest and self._accepts(likeliest[0], decided[i]):
                citations = tuple(Citation(0, _evidence(hit, shown), likeliest[0]) for hit in likeliest[1])
                together[i] = CitedProposition(claims[i].proposition, likeliest[0], citations)
        return together

    def _accepts(self, verdict: Verdict, before: CitedProposition) -> bool:
        alone = before.verdict.probability if before.verdict else 0.0
        return verdict.label is Label.SUPPORTED and verdict.probability >= alone + JOINT_GAIN

    def _pairs(self, decided: CitedProposition, heard: Sequence[Hit]) -> list[tuple[Hit, ...]]:
        """The near miss with each other candidate, and with the sentences beside it, as they stand in the text."""
        first = next((hit for hit in heard if decided.nearest and _place(hit) == _place(decided.nearest)), None)
        if first is None or first.granularity is Granularity.PASSAGE:
            return []
        others = {_place(hit): hit for hit in (*heard, *_beside(first))}
        return [_in_order(first, other) for place, other in others.items() if place != _place(first)]


def _stating_the_numbers(claim: Claim, heard: Sequence[Hit]) -> list[Hit]:
    """Where none that is heard states all numbers of the claim, the sentence of the passages found that does.

    Rows of a table differ in their numbers, which vectors hardly tell apart: the row that is meant may be any of them.
    """
    stated = numbers(claim.proposition.text)
    if not stated or any(hit.granularity is Granularity.PASSAGE or stated <= numbers(hit.text) for hit in heard):
        return []
    said = content_words(claim.proposition.text)
    return sorted(
        rows_beside(claim.hits, stated.issubset), key=lambda row: -share_found(said, content_words(row.text))
    )[:1]


def _told(claim: Claim, decided: CitedProposition) -> CitedProposition:
    """A near miss with what differs, where the judge has not said it."""
    verdict, nearest = decided.verdict, decided.nearest
    if verdict is None or nearest is None or verdict.reason:
        return decided
    quote = nearest.quote
    reason = difference(claim.as_read_beside(quote), quote, _context(nearest.passage, nearest.span))
    return replace(decided, verdict=replace(verdict, reason=reason)) if reason else decided


def _is_open(decided: CitedProposition) -> bool:
    verdict = decided.verdict
    return (
        verdict is not None
        and not decided.citations
        and verdict.label is not Label.CONTRADICTED
        and verdict.probability >= JOINT_FLOOR
    )


def _place(unit: Hit | Evidence) -> tuple[str, Span]:
    return unit.passage.id, unit.spans[0] if isinstance(unit, Hit) else unit.span


def _beside(hit: Hit) -> Iterator[Hit]:
    """The sentences before and after, with this one's scores."""
    sentences = [s for s in hit.passage.sentences if any(c.isalnum() for c in s.span.of(hit.passage.text))]
    place = next((i for i, s in enumerate(sentences) if s.span.overlaps(hit.spans[0])), None)
    if place is not None:
        for i in (place - 1, place + 1):
            if 0 <= i < len(sentences) and not sentences[i].is_heading:
                yield replace(hit, spans=(sentences[i].span.trimmed(hit.passage.text),))


def _in_order(first: Hit, other: Hit) -> tuple[Hit, ...]:
    """Of one passage as they stand there; of two, the nearest first."""
    if first.passage.id == other.passage.id and other.spans[0] < first.spans[0]:
        return other, first
    return first, other


def _case(claim: Claim, hits: tuple[Hit, ...]) -> Case:
    return Case(
        claim.as_read_beside(hits[0].text), tuple(hit.text for hit in hits), _context(hits[0].passage, hits[0].spans[0])
    )


def _context(passage: Passage, evidence: Span) -> str:
    """What a reader knows before the evidence begins: the passage's title and the sentence before."""
    before = [s.span for s in passage.sentences if s.span.end <= evidence.start]
    pieces = [passage.title, before[-1].of(passage.text).strip() if before else ""]
    return "\n".join(piece for piece in pieces if piece)


def _evidence(hit: Hit, shown: bool) -> Evidence:
    return Evidence(hit.passage, hit.spans[0], round(hit.score, 4), round(hit.passage_score, 4), shown)


def _by_score(score: float, min_score: float) -> Verdict:
    """Without a judge a similarity stands for the probability, and the threshold decides."""
    return Verdict(Label.SUPPORTED if score >= min_score else Label.UNSUPPORTED, round(max(0.0, min(1.0, score)), 4))
