"""PropCite: split an answer, find each claim's nearest evidence, judge it, attach what holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

from propcite.attribution.citations import MOST_CITATIONS, CitedAnswer
from propcite.attribution.citing.answer_parts import split_answer, text_of
from propcite.attribution.citing.citing import Citing
from propcite.attribution.citing.deciding import CANDIDATES, MIN_SCORE, Decider
from propcite.attribution.citing.methods import Method, method_of
from propcite.attribution.citing.sources import as_passages
from propcite.attribution.citing.stopwatch import Stopwatch
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import Judge
from propcite.attribution.judges.embedded import EmbeddedJudge
from propcite.attribution.propositions import PropositionSplitter
from propcite.retrieval.alignment import NEAREST, Alignment, alignment_of
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.sentences import split_sentences
from propcite.retrieval.text import Granularity, Passage, Sentence

if TYPE_CHECKING:
    from propcite.attribution.citing.alternatives import Alternative
    from propcite.attribution.citing.explaining import Explained
    from propcite.attribution.citing.repaired import Repaired

Source = Retriever | Iterable[object]  # a collection, or what `as_passages` reads
_LOADING = Lock()


class PropCite:
    """Cites any text after it was written: a citation never depends on a language model typing it.

    `judge` is "embedded", "cross" or any Judge; None accepts evidence by similarity alone, from `min_score` on.
    `min_margin` asks that a claim's best passage lead the next by so much (the paper's threshold).  `method` is
    PropCite's own or one that it is measured against.  `alignment` says which tokens of a claim and of given passages
    count together; a collection has its own.
    """

    def __init__(
        self,
        encoder: Encoder,
        *,
        splitter: PropositionSplitter | None = None,
        judge: Judge | str | None = "embedded",
        method: Method | str = "propositions",
        candidates: int = CANDIDATES,
        most_citations: int = MOST_CITATIONS,
        min_score: float = MIN_SCORE,
        min_margin: float = 0.0,
        joint: bool = True,
        alignment: Alignment | str = NEAREST,
    ) -> None:
        self.encoder = encoder
        self.alignment = alignment_of(alignment) if isinstance(alignment, str) else alignment
        self.splitter = splitter or _learned()
        self.judge: Judge | None = _shipped_judge(judge, encoder) if isinstance(judge, str) else judge
        self.method: Method = method_of(method) if isinstance(method, str) else method
        self.most_citations = most_citations
        self.decider = Decider(self.judge, candidates, self.method.num_cited, min_score, min_margin, joint)

    @classmethod
    def default(cls) -> PropCite:
        """With the parts that are shipped, loaded once in a process."""
        with _LOADING:
            return _shipped()

    def cite(
        self, answer: str, source: Source, *, collection: Retriever | None = None, question: str = ""
    ) -> CitedAnswer:
        """The answer with the support of each of its claims in these passages, or in a whole collection.

        With a `collection` beside the passages that the answer was written from, what these do not support is looked
        for there, and told apart.
        """
        answer, citing = text_of(answer), self.citing(source, collection)
        with citing.watch("split"):
            parts = split_answer(answer, self.splitter)
        return citing.answer(answer, citing.cite(parts), question)

    def repair(
        self, answer: str, source: Iterable[object], *, collection: Retriever | None = None, question: str = ""
    ) -> Repaired:
        """The answer's own `[n]`, which count these passages from 1, checked: wrong ones go, missing ones come."""
        from propcite.attribution.citing.repair import repair

        return repair(self, answer, source, collection=collection, question=question)

    def explain(
        self,
        answer: CitedAnswer,
        fact: str | int = 1,
        citation: str | int = "",
        *,
        granularity: Granularity | None = None,
        alignment: Alignment | None = None,
    ) -> Explained:
        """Which words of a fact met which words of its source; facts count from 1, citations are named by marker."""
        from propcite.attribution.citing.explaining import explain_citation

        return explain_citation(self.encoder, self.splitter, answer, fact, citation, granularity, alignment)

    def alternatives(
        self,
        answer: CitedAnswer,
        fact: str | int,
        source: Source,
        granularity: Granularity = Granularity.SENTENCE,
        k: int = 8,
    ) -> list[Alternative]:
        """What else was near a fact, ranked anew at any granularity and judged: facts count from 1."""
        from propcite.attribution.citing.alternatives import alternatives

        return alternatives(self, answer, fact, source, granularity, k)

    def citing(self, source: Source, collection: Retriever | None = None) -> Citing:
        """One answer's citing over these sources, for those who have it sentence by sentence."""
        from propcite.attribution.citing.remembering import asking_with, remembering

        watch, own = Stopwatch(), remembering(self)
        source, collection = asking_with(own, source), asking_with(own, collection)
        with watch("encode passages"):
            retriever = own.over(source, collection.alignment if collection else None)
        return Citing(own, retriever, collection, watch)

    def over(self, source: Source, alignment: Alignment | None = None) -> Retriever | None:
        """A collection as it is, or given passages, read now; None where there are none."""
        if isinstance(source, Retriever):
            return source
        return _over(self.encoder, as_passages(source), alignment or self.alignment)

    @property
    def models(self) -> dict[str, str]:
        judge = self.judge.name if self.judge else "none"
        told = {"encoder": self.encoder.query_name, "splitter": self.splitter.name, "judge": judge}
        return told if self.method.name == "propositions" else {**told, "method": self.method.name}


@cache
def _shipped() -> PropCite:
    return PropCite(Encoder())


def _shipped_judge(name: str, encoder: Encoder) -> Judge:
    if name == "embedded":
        return EmbeddedJudge(encoder)
    if name == "cross":
        from propcite.attribution.judges.cross import CrossJudge

        return CrossJudge(encoder)
    raise AttributionError(f"no judge {name!r} is shipped: give 'embedded', 'cross', None or a judge of your own")


def _learned() -> PropositionSplitter:
    from propcite.attribution.propositions.learned import LearnedSplitter

    return LearnedSplitter()


def _over(encoder: Encoder, passages: Sequence[Passage], alignment: Alignment) -> Retriever | None:
    """A retriever over given passages; none when there is no text to search.

    A passage that says nothing of its sentences is split here: nothing of it could be cited otherwise.
    """
    readable = [
        p if p.sentences else replace(p, sentences=tuple(map(Sentence, split_sentences(p.text))))
        for p in passages
        if any(c.isalnum() for c in p.text)
    ]
    try:
        return Retriever.over(encoder, readable, alignment=alignment) if readable else None
    except ValueError as error:
        raise AttributionError(str(error)) from error
