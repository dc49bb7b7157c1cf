"""PropCite: split an answer, score its propositions against a source, judge the best evidence, attach what holds."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from attribution.citations import (
    MOST_CITATIONS,
    Citation,
    CitedAnswer,
    CitedProposition,
    CitedSentence,
    Evidence,
    Label,
    Proposition,
    Verdict,
)
from attribution.errors import AttributionError
from attribution.judges import Case, Judge
from attribution.judges.embedded import EmbeddedJudge
from attribution.propositions import PropositionSplitter
from attribution.propositions.antecedent import insertions, without_marks
from retrieval.encoder import Encoder
from retrieval.retriever import Retriever
from retrieval.splitter import split_sentences
from retrieval.text import Hit, Passage, Sentence, Span, words_of

CANDIDATES = 3  # sentences judged for one proposition: the nearest may be a near-duplicate with another number
MARGIN_DEPTH = 24  # sentences looked at for the second-best passage: one passage may hold many of the best
PRONOUN = re.compile(r"(?:it|he|she|they|its|his|her|their|this|these)\b", re.IGNORECASE)
MIN_SCORE = 0.5  # without a judge, the similarity from which evidence counts


@dataclass(slots=True)
class _Stopwatch:
    """Milliseconds spent in each named step."""

    spent: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.spent[step] = self.spent.get(step, 0.0) + round(1000 * (time.perf_counter() - start), 2)


@dataclass(frozen=True, slots=True)
class _Part:
    """A sentence of the answer with its propositions, whose spans lie in the sentence."""

    span: Span
    text: str
    propositions: tuple[Proposition, ...]


class PropCite:
    """Cites any text after it was written: a citation never depends on a language model typing it.

    `judge=None` accepts evidence by similarity alone, from `min_score` on.  `min_margin` asks that a proposition's
    best passage lead the next by so much (the paper's threshold).
    """

    def __init__(
        self,
        encoder: Encoder,
        *,
        splitter: PropositionSplitter | None = None,
        judge: Judge | str | None = "embedded",
        candidates: int = CANDIDATES,
        most_citations: int = MOST_CITATIONS,
        min_score: float = MIN_SCORE,
        min_margin: float = 0.0,
    ) -> None:
        self.encoder = encoder
        self.splitter = splitter or _learned()
        self.judge: Judge | None = EmbeddedJudge(encoder) if isinstance(judge, str) else judge
        self.candidates = candidates
        self.most_citations = most_citations
        self.min_score = min_score
        self.min_margin = min_margin

    def cite(self, answer: str, source: Retriever | Sequence[Passage], *, question: str = "") -> CitedAnswer:
        """The answer with the support of each of its propositions in these passages, or in a whole collection."""
        watch = _Stopwatch()
        with watch("split"):
            parts = self.split(answer)
        with watch("encode passages"):
            retriever = source if isinstance(source, Retriever) else _over(self.encoder, source)
        with watch("score"):
            found = self._score(parts, retriever)
        with watch("judge"):
            judged = self._judge(parts, found)
        return CitedAnswer(
            text=answer,
            sentences=self._number(parts, judged),
            question=question,
            models=self.models,
            timings_ms=watch.spent,
        )

    @property
    def models(self) -> dict[str, str]:
        judge = self.judge.name if self.judge else "none"
        return {"encoder": self.encoder.query_name, "splitter": self.splitter.name, "judge": judge}

    def split(self, answer: str) -> list[_Part]:
        """The answer's sentences that hold a word, each with its propositions."""
        spans = [span.trimmed(answer) for span in split_sentences(answer)]
        spans = [span for span in spans if any(c.isalnum() for c in span.of(answer))]
        texts = [span.of(answer) for span in spans]
        propositions = self.splitter.split_many(texts, [texts[:number] for number in range(len(texts))])
        return [_Part(*part) for part in zip(spans, texts, map(tuple, propositions), strict=True)]

    def _score(self, parts: Sequence[_Part], retriever: Retriever | None) -> list[list[list[Hit]]]:
        """The nearest sentences for each proposition that needs support.  -> parts x propositions x hits"""
        found: list[list[list[Hit]]] = [[[] for _ in part.propositions] for part in parts]
        if retriever is None:
            return found
        places = [[i for i, p in enumerate(part.propositions) if p.check_worthy] for part in parts]
        asked = [number for number, wanted in enumerate(places) if wanted]
        hits = retriever.search_spans(
            [parts[number].text for number in asked],
            [[parts[number].propositions[i].spans for i in places[number]] for number in asked],
            max(self.candidates, MARGIN_DEPTH if self.min_margin else 1),
        )
        for number, rows in zip(asked, hits, strict=True):
            for i, row in zip(places[number], rows, strict=True):
                found[number][i] = row
        return found

    def _judge(self, parts: Sequence[_Part], found: list[list[list[Hit]]]) -> list[list[CitedProposition]]:
        verdicts = iter(self._verdicts(parts, found))
        return [
            [
                self._decide(_in_answer(proposition, part.span), hits, [next(verdicts) for _ in self._heard(hits)])
                for proposition, hits in zip(part.propositions, rows, strict=True)
            ]
            for part, rows in zip(parts, found, strict=True)
        ]

    def _heard(self, hits: Sequence[Hit]) -> Sequence[Hit]:
        """The candidates that are judged; none when the best passage does not lead clearly enough."""
        others = [hit.score for hit in hits if hit.passage.id != hits[0].passage.id]
        if hits and others and hits[0].score - others[0] < self.min_margin:
            return []
        return hits[: self.candidates]

    def _verdicts(self, parts: Sequence[_Part], found: list[list[list[Hit]]]) -> list[Verdict]:
        """Verdicts for all heard candidates of all propositions, in order, in one batch."""
        heard = [
            (_claim(proposition, part.text, hit.text), hit)
            for part, rows in zip(parts, found, strict=True)
            for proposition, hits in zip(part.propositions, rows, strict=True)
            for hit in self._heard(hits)
        ]
        if self.judge is None:
            return [_by_score(hit.score, self.min_score) for _, hit in heard]
        return self.judge.judge([Case(claim, (hit.text,), _context(hit)) for claim, hit in heard]) if heard else []

    def _decide(self, proposition: Proposition, hits: Sequence[Hit], verdicts: Sequence[Verdict]) -> CitedProposition:
        """The nearest evidence that the judge accepts; else the likeliest is kept as a near miss."""
        if not proposition.check_worthy:
            return CitedProposition(proposition, None)
        evidence = [
            Evidence(hit.passage, hit.spans[0], round(hit.score, 4), round(hit.passage_score, 4)) for hit in hits
        ]
        heard = list(zip(evidence, verdicts, strict=False))
        accepted = next(((e, v) for e, v in heard if v.label is Label.SUPPORTED), None)
        if accepted:
            return CitedProposition(proposition, accepted[1], (Citation(0, *accepted),))
        if not heard:
            return CitedProposition(proposition, Verdict(Label.UNSUPPORTED, 0.0), (), evidence[0] if evidence else None)
        nearest, verdict = max(heard, key=lambda pair: (pair[1].label is Label.CONTRADICTED, pair[1].probability))
        return CitedProposition(proposition, verdict, (), nearest)

    def _number(
        self, parts: Sequence[_Part], judged: Sequence[Sequence[CitedProposition]]
    ) -> tuple[CitedSentence, ...]:
        """Markers count passages from 1 in the order in which the answer first needs them."""
        numbers: dict[str, int] = {}
        sentences = []
        for part, propositions in zip(parts, judged, strict=True):
            numbered = tuple(
                replace(
                    p,
                    citations=tuple(
                        replace(c, number=numbers.setdefault(c.passage.id, len(numbers) + 1)) for c in p.citations
                    ),
                )
                for p in propositions
            )
            sentences.append(CitedSentence(part.span, numbered, self.most_citations))
        return tuple(sentences)


def _learned() -> PropositionSplitter:
    from attribution.propositions.learned import LearnedSplitter

    return LearnedSplitter()


def _over(encoder: Encoder, passages: Sequence[Passage]) -> Retriever | None:
    """A retriever over given passages; none when there is no text to search.

    A passage that says nothing of its sentences is split here: nothing of it could be cited otherwise.
    """
    readable = [
        p if p.sentences else replace(p, sentences=tuple(map(Sentence, split_sentences(p.text))))
        for p in passages
        if any(c.isalnum() for c in p.text)
    ]
    try:
        return Retriever.over(encoder, readable) if readable else None
    except ValueError as error:
        raise AttributionError(str(error)) from error


def _claim(proposition: Proposition, sentence: str, evidence: str) -> str:
    """What the judge reads: with the antecedent, unless the source itself says "it" where the answer does."""
    if PRONOUN.match(evidence) and insertions(proposition.text):
        return words_of(proposition.spans, sentence)
    return without_marks(proposition.text)


def _context(hit: Hit) -> str:
    """What a reader knows before the evidence begins: the passage's title and the sentence before."""
    before = [s.span for s in hit.passage.sentences if s.span.end <= hit.spans[0].start]
    pieces = [hit.passage.title, before[-1].of(hit.passage.text).strip() if before else ""]
    return "\n".join(piece for piece in pieces if piece)


def _in_answer(proposition: Proposition, sentence: Span) -> Proposition:
    return replace(proposition, spans=tuple(span.shifted(sentence.start) for span in proposition.spans))


def _by_score(score: float, min_score: float) -> Verdict:
    """Without a judge a similarity stands for the probability, and the threshold decides."""
    return Verdict(Label.SUPPORTED if score >= min_score else Label.UNSUPPORTED, round(max(0.0, min(1.0, score)), 4))
