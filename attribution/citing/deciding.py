"""Decide what a claim cites: evidence that the judge accepts, alone or in pairs, or the nearest miss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from propcite.attribution.citations import Citation, CitedProposition, Evidence, Label, Proposition, Verdict
from propcite.attribution.english import (
    content_words,
    difference,
    inserted_spans,
    numbers,
    sentences_with_numbers,
    share_found,
    without_brackets,
    without_list_number,
)
from propcite.attribution.judges import Case, Judge, plain_case
from propcite.attribution.judges.excerpts import PRONOUN
from propcite.retrieval.text import Granularity, Hit, Passage, Span, join_spans

CANDIDATES = 3  # sentences judged per claim: the nearest may be a near-duplicate with another number
MARGIN_DEPTH = 24  # hits searched for the second-best passage: one passage may hold many of the best
NUMBERS_DEPTH = 12  # hits whose passages are searched for the one sentence that states a claim's numbers
MIN_SCORE = 0.5  # without a judge, the similarity from which evidence counts
SURE_FROM = 0.8  # evidence this likely to support a claim is not compared with further candidates
JOINT_FLOOR = 0.35  # a pair is judged where the better piece alone is at least this likely to support
JOINT_GAIN = 0.15  # and cited where the pair is this much likelier


@dataclass(frozen=True, slots=True)
class Claim:
    """A proposition of a sentence of the answer, and the hits of a search for it, best first."""

    proposition: Proposition
    sentence: str
    hits: tuple[Hit, ...] = ()

    def as_read_beside(self, evidence: str) -> str:
        """Return the claim with its pronoun resolved, unless the evidence begins with the same pronoun."""
        if PRONOUN.match(evidence) and inserted_spans(self.proposition.text):
            return join_spans(self.proposition.spans, self.sentence)
        return without_brackets(self.proposition.text)


@dataclass(frozen=True, slots=True)
class Decider:
    """Decides which candidates a claim may cite."""

    judge: Judge | None
    candidates: int = CANDIDATES
    num_cited: int = 1
    min_score: float = MIN_SCORE
    min_margin: float = 0.0
    joint: bool = True

    @property
    def depth(self) -> int:
        """Return how many hits a search must return per claim."""
        return max(self.candidates, self.num_cited, NUMBERS_DEPTH, MARGIN_DEPTH if self.min_margin else 1)

    def decide(self, claims: Sequence[Claim], *, shown: bool = True) -> list[CitedProposition]:
        """Decide all claims in three batches: the nearest hits, the others where those are unsure, then pairs."""
        candidates = [self._candidates(claim) for claim in claims]
        nearest = self._judged(claims, [hits[: self.num_cited] for hits in candidates])
        unsure = [not any(v.probability >= SURE_FROM for _, v in judged) for judged in nearest]
        others = [hits[self.num_cited :] if more else [] for hits, more in zip(candidates, unsure, strict=True)]
        judged = [one + two for one, two in zip(nearest, self._judged(claims, others), strict=True)]
        decided = [self._alone(claim, verdicts, shown) for claim, verdicts in zip(claims, judged, strict=True)]
        if self.joint and self.judge:
            decided = self._together(claims, candidates, decided, shown)
        return [_with_reason(claim, one) for claim, one in zip(claims, decided, strict=True)]

    def verdicts(self, claim: Claim) -> list[Verdict]:
        """Judge each of the claim's hits by itself."""
        return self._verdicts([(claim, (hit,)) for hit in claim.hits])

    def _judged(self, claims: Sequence[Claim], candidates: Sequence[Sequence[Hit]]) -> list[list[tuple[Hit, Verdict]]]:
        """Judge each candidate of each claim by itself."""
        pairs = [(claim, (hit,)) for claim, hits in zip(claims, candidates, strict=True) for hit in hits]
        verdicts = iter(self._verdicts(pairs))
        return [[(hit, next(verdicts)) for hit in hits] for hits in candidates]

    def _candidates(self, claim: Claim) -> Sequence[Hit]:
        """Return the hits to judge; none where the best passage does not lead by `min_margin`."""
        hits = claim.hits
        if self.min_margin and hits:
            others = [_nearness(hit) for hit in hits if hit.passage.id != hits[0].passage.id]
            if others and _nearness(hits[0]) - max(others) < self.min_margin:
                return []
        nearest = hits[: max(self.candidates, self.num_cited)]
        return [*nearest, *_row_with_numbers(claim, nearest)] if self.judge else nearest

    def _verdicts(self, pairs: Sequence[tuple[Claim, tuple[Hit, ...]]]) -> list[Verdict]:
        if self.judge is None:
            return [_by_score(_nearness(hits[0]), self.min_score) for _, hits in pairs]
        return self.judge.judge([_case(claim, hits) for claim, hits in pairs]) if pairs else []

    def _alone(self, claim: Claim, judged: Sequence[tuple[Hit, Verdict]], shown: bool) -> CitedProposition:
        """Cite the likeliest evidence that the judge accepts; without any, keep the likeliest as a near miss."""
        accepted: dict[str, Citation] = {}
        for hit, verdict in sorted(judged, key=lambda pair: -pair[1].probability):
            if verdict.label is Label.SUPPORTED:
                accepted.setdefault(hit.passage.id, Citation(0, _evidence(hit, shown), verdict))
        if accepted:
            citations = tuple(accepted.values())[: self.num_cited]
            return CitedProposition(claim.proposition, citations[0].verdict, citations)
        if not judged:
            nearest = _evidence(claim.hits[0], shown) if claim.hits else None
            return CitedProposition(claim.proposition, Verdict(Label.UNSUPPORTED, 0.0), (), nearest)
        best, verdict = max(judged, key=lambda pair: (pair[1].label is Label.CONTRADICTED, pair[1].probability))
        return CitedProposition(claim.proposition, verdict, (), _evidence(best, shown))

    def _together(
        self, claims: Sequence[Claim], candidates: Sequence[Sequence[Hit]], decided: list[CitedProposition], shown: bool
    ) -> list[CitedProposition]:
        """Cite two sentences that support a claim together where neither does alone."""
        pairs = {i: self._pairs(decided[i], candidates[i]) for i in range(len(claims)) if _is_open(decided[i])}
        verdicts = iter(self._verdicts([(claims[i], pair) for i, row in pairs.items() for pair in row]))
        together = list(decided)
        for i, row in pairs.items():
            judged = [(next(verdicts), pair) for pair in row]
            likeliest = max(judged, key=lambda both: both[0].probability, default=None)
            if likeliest and self._accepts(likeliest[0], decided[i]):
                citations = tuple(Citation(0, _evidence(hit, shown), likeliest[0]) for hit in likeliest[1])
                together[i] = CitedProposition(claims[i].proposition, likeliest[0], citations)
        return together

    def _accepts(self, verdict: Verdict, before: CitedProposition) -> bool:
        alone = before.verdict.probability if before.verdict else 0.0
        return verdict.label is Label.SUPPORTED and verdict.probability >= alone + JOINT_GAIN

    def _pairs(self, decided: CitedProposition, candidates: Sequence[Hit]) -> list[tuple[Hit, ...]]:
        """Pair the near miss with each other candidate and with its neighbours, in the order of the text."""
        first = next((hit for hit in candidates if decided.nearest and _place(hit) == _place(decided.nearest)), None)
        if first is None or first.granularity is Granularity.PASSAGE:
            return []
        others = {_place(hit): hit for hit in (*candidates, *_neighbours(first))}
        return [_in_order(first, other) for place, other in others.items() if place != _place(first)]


def with_whole_quotes(
    answers: list[list[list[CitedProposition]]], claims: Sequence[Sequence[Sequence[Claim]]], decider: Decider
) -> list[list[list[CitedProposition]]]:
    """Return the decided claims of each sentence, or the sentence as one claim where a claim of it has no support.

    That is so for a sentence that a source has word for word and that the judge accepts: its claims then do not say
    what it says, so the way it was split is at fault.  Where a passage must lead the others, it does not help.
    """
    if decider.min_margin:
        return answers
    quotes: dict[tuple[int, int], Claim] = {}
    for i, (rows, own) in enumerate(zip(answers, claims, strict=True)):
        for j, (row, of_sentence) in enumerate(zip(rows, own, strict=True)):
            is_open = any(cited.verdict and not cited.citations for cited in row)
            if is_open and (whole := _whole_quote(of_sentence)):
                quotes[i, j] = whole
    for (i, j), cited in zip(quotes, decider.decide(list(quotes.values())), strict=True):
        if cited.citations:
            answers[i][j] = [cited]
    return answers


def _whole_quote(claims: Sequence[Claim]) -> Claim | None:
    """Return a sentence as one claim, with the hit that is the same sentence; None where no source has it."""
    if not claims:
        return None
    sentence = claims[0].sentence
    bare = _bare(sentence)
    same = next((hit for claim in claims for hit in claim.hits if _bare(hit.text) == bare), None)
    return Claim(Proposition((Span(0, len(sentence)),), sentence), sentence, (same,)) if same else None


def _bare(sentence: str) -> str:
    """Return the words of a sentence on one line, without its number or bullet in a list and its stop."""
    return " ".join(without_list_number(sentence).split()).lstrip("-*•– ").rstrip(". ")


def _row_with_numbers(claim: Claim, candidates: Sequence[Hit]) -> list[Hit]:
    """Return the sentence that states all numbers of the claim, where no candidate does; else nothing.

    Rows of a table differ in their numbers only, and vectors hardly distinguish those.
    """
    stated = numbers(claim.proposition.text)
    if not stated or any(hit.granularity is Granularity.PASSAGE or stated <= numbers(hit.text) for hit in candidates):
        return []
    claimed = content_words(claim.proposition.text)
    return sorted(
        sentences_with_numbers(claim.hits, stated.issubset),
        key=lambda row: -share_found(claimed, content_words(row.text)),
    )[:1]


def _with_reason(claim: Claim, decided: CitedProposition) -> CitedProposition:
    """Say what differs in a near miss, where the judge gave no reason."""
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


def _neighbours(hit: Hit) -> Iterator[Hit]:
    """Yield the sentences before and after a hit, with its scores."""
    sentences = [s for s in hit.passage.sentences if any(c.isalnum() for c in s.span.of(hit.passage.text))]
    place = next((i for i, s in enumerate(sentences) if s.span.overlaps(hit.spans[0])), None)
    if place is not None:
        for i in (place - 1, place + 1):
            if 0 <= i < len(sentences) and not sentences[i].is_heading:
                yield replace(hit, spans=(sentences[i].span.trimmed(hit.passage.text),), copies=())


def _in_order(first: Hit, other: Hit) -> tuple[Hit, ...]:
    """Order two hits of one passage as they stand there; of two passages, the nearest first."""
    if first.passage.id == other.passage.id and other.spans[0] < first.spans[0]:
        return other, first
    return first, other


def _case(claim: Claim, hits: tuple[Hit, ...]) -> Case:
    context = _context(hits[0].passage, hits[0].spans[0])
    return plain_case(claim.as_read_beside(hits[0].text), (hit.text for hit in hits), context)


def _context(passage: Passage, evidence: Span) -> str:
    """Return what a reader knows before the evidence begins: the passage's title and the sentence before."""
    before = [s.span for s in passage.sentences if s.span.end <= evidence.start]
    pieces = [passage.title, before[-1].of(passage.text).strip() if before else ""]
    return "\n".join(piece for piece in pieces if piece)


def _evidence(hit: Hit, shown: bool) -> Evidence:
    rounded = replace(hit, passage_score=round(hit.passage_score, 4))
    return Evidence.of(rounded, round(_nearness(hit), 4), shown=shown)


def _nearness(hit: Hit) -> float:
    """Return the similarity of the vectors, whatever words added; the whole score where words rank alone."""
    return hit.similarity or hit.score


def _by_score(score: float, min_score: float) -> Verdict:
    """Take a similarity as the probability of support, where there is no judge."""
    return Verdict(Label.SUPPORTED if score >= min_score else Label.UNSUPPORTED, round(max(0.0, min(1.0, score)), 4))
