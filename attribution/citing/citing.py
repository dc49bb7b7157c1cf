"""An answer being cited, sentence by sentence; several are judged together."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from propcite.attribution.citations import CitedAnswer, CitedProposition, CitedSentence, Label, Proposition
from propcite.attribution.citing.answer_parts import Part
from propcite.attribution.citing.deciding import Claim, Decider
from propcite.attribution.citing.stopwatch import Stopwatch
from propcite.attribution.prose.languages import other_language
from propcite.retrieval.alignment import NEAREST
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Span

if TYPE_CHECKING:
    from propcite.attribution.propcite import PropCite

Rows = list[list[CitedProposition]]  # of an answer's sentences
AT_ONCE = 256  # sentences of a long answer whose vectors are held at a time


@dataclass(slots=True)
class Citing:
    """An answer being cited: markers count passages from 1 in the order in which the answer first needs them."""

    propcite: PropCite
    retriever: Retriever | None
    collection: Retriever | None
    watch: Stopwatch
    _numbers: dict[str, int] = field(default_factory=dict)

    def cite(self, parts: Sequence[Part]) -> list[CitedSentence]:
        """The next sentences of the answer, whose markers go on from those before."""
        return self.numbered(parts, self.propositions(parts))

    def answer(self, text: str, sentences: Sequence[CitedSentence], question: str = "") -> CitedAnswer:
        """The whole, once all its sentences are cited."""
        sentences = tuple(sentences)
        return CitedAnswer(
            text=text,
            sentences=sentences,
            question=question,
            index_version=self.index_version,
            models=self.models,
            timings_ms=self.watch.spent,
            notes=_notes(text, [p for sentence in sentences for p in sentence.propositions]),
        )

    def propositions(self, parts: Sequence[Part]) -> list[list[CitedProposition]]:
        """What each claim of each sentence cites; places and markers are still the sentence's own."""
        steps = (parts[first : first + AT_ONCE] for first in range(0, len(parts), AT_ONCE))
        return [row for some in steps for row in propositions_of([(self, some)])[0]]

    def propositions_within(self, asked: Sequence[tuple[Part, str]]) -> list[list[CitedProposition]]:
        """The same where each sentence may cite one passage alone, by its id."""
        with self.watch("score"):
            claims = [self.claims([part], self.retriever and self.retriever.only([i]))[0] for part, i in asked]
        with self.watch("judge"):
            return _decided(self.propcite.decider, [claims], shown=True)[0]

    def numbered(self, parts: Sequence[Part], rows: Sequence[Sequence[CitedProposition]]) -> list[CitedSentence]:
        return [self._sentence(part, propositions) for part, propositions in zip(parts, rows, strict=True)]

    @property
    def models(self) -> dict[str, str]:
        """What cites; how tokens are aligned is told where it is not the usual way."""
        whole, told = self.collection or self.retriever, self.propcite.models
        return told if whole is None or whole.alignment == NEAREST else {**told, "alignment": str(whole.alignment)}

    @property
    def index_version(self) -> str:
        whole = self.collection or self.retriever
        return whole.index.version if whole else ""

    def claims(self, parts: Sequence[Part], retriever: Retriever | None) -> list[list[Claim]]:
        """Each sentence's claims with what a search found for them."""
        method, depth = self.propcite.method, self.propcite.decider.depth
        found = method.find(parts, retriever, depth) if retriever else [[[] for _ in method.claims(p)] for p in parts]
        return [
            [Claim(p, part.text, tuple(hits)) for p, hits in zip(method.claims(part), rows, strict=True)]
            for part, rows in zip(parts, found, strict=True)
        ]

    def elsewhere(self, parts: Sequence[Part], decided: Rows) -> dict[int, list[Claim]]:
        """The sentences that have a claim which the shown passages do not support, looked up in the collection."""
        if self.collection is None:
            return {}
        places = [i for i, row in enumerate(decided) if any(p.verdict and not p.citations for p in row)]
        with self.watch("search the collection"):
            claims = self.claims([parts[i] for i in places], self.collection)
        shown = {p.id for p in self.retriever.passages()} if self.retriever else set()
        new = [[replace(c, hits=tuple(h for h in c.hits if h.passage.id not in shown)) for c in row] for row in claims]
        return dict(zip(places, new, strict=True))

    def _sentence(self, part: Part, propositions: Sequence[CitedProposition]) -> CitedSentence:
        numbered = tuple(self._numbered(p, part.span) for p in propositions)
        return CitedSentence(part.span, numbered, self.propcite.most_citations)

    def _numbered(self, cited: CitedProposition, sentence: Span) -> CitedProposition:
        citations = tuple(
            replace(c, number=self._numbers.setdefault(c.passage.id, len(self._numbers) + 1)) for c in cited.citations
        )
        return replace(cited, proposition=_in_answer(cited.proposition, sentence), citations=citations)


def propositions_of(answers: Sequence[tuple[Citing, Sequence[Part]]]) -> list[list[list[CitedProposition]]]:
    """What each claim of each sentence of several answers cites: all are judged together, then what is looked up.

    The answers share their parts, `propcite`; each has its own sources.
    """
    if not answers:
        return []
    decider = answers[0][0].propcite.decider
    claims = []
    for citing, parts in answers:
        with citing.watch("score"):
            claims.append(citing.claims(parts, citing.retriever))
    with _shared("judge", answers):
        decided = _decided(decider, claims, shown=True)
    looked_up = [citing.elsewhere(parts, rows) for (citing, parts), rows in zip(answers, decided, strict=True)]
    if not any(looked_up):
        return decided
    with _shared("judge", answers):
        found = _decided(decider, [list(rows.values()) for rows in looked_up], shown=False)
    for rows, places, others in zip(decided, looked_up, found, strict=True):
        for i, row in zip(places, others, strict=True):
            rows[i] = [_better(p, other) for p, other in zip(rows[i], row, strict=True)]
    return decided


@contextmanager
def _shared(step: str, answers: Sequence[tuple[Citing, Sequence[Part]]]) -> Iterator[None]:
    """The time of what is done for all answers at once, in equal parts."""
    start = time.perf_counter()
    yield
    spent = 1000 * (time.perf_counter() - start) / len(answers)
    for citing, _ in answers:
        citing.watch.add(step, spent)


def _decided(decider: Decider, answers: Sequence[Sequence[Sequence[Claim]]], *, shown: bool) -> list[Rows]:
    """What each claim cites; one that needs no support has no verdict."""
    needing = [claim for rows in answers for row in rows for claim in row if claim.proposition.check_worthy]
    decided = iter(decider.decide(needing, shown=shown))
    return [
        [
            [next(decided) if c.proposition.check_worthy else CitedProposition(c.proposition, None) for c in row]
            for row in rows
        ]
        for rows in answers
    ]


def _better(shown: CitedProposition, elsewhere: CitedProposition) -> CitedProposition:
    """What was shown counts first; then support elsewhere; then what comes nearest, a contradiction before all."""
    if shown.citations or shown.verdict is None or elsewhere.verdict is None:
        return shown
    if elsewhere.citations or shown.nearest is None:
        return elsewhere
    contradicts = elsewhere.verdict.label is Label.CONTRADICTED and shown.verdict.label is not Label.CONTRADICTED
    return elsewhere if contradicts else shown


def _notes(text: str, propositions: Sequence[CitedProposition]) -> tuple[str, ...]:
    """What must be known of what is unsupported: its sources may be in another language."""
    if not any(p.verdict and not p.citations for p in propositions):
        return ()
    found = {e.passage.id: e.passage.text for p in propositions for e in (*p.citations, p.nearest) if e}
    return tuple(filter(None, [other_language(text, found.values())]))


def _in_answer(proposition: Proposition, sentence: Span) -> Proposition:
    return replace(proposition, spans=tuple(span.shifted(sentence.start) for span in proposition.spans))
