"""PropCite: split an answer into facts, find evidence for each, judge it, and attach what supports it."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from copy import copy
from functools import cache
from threading import Lock

from propcite.attribution.citations import MAX_CITATIONS, CitedAnswer
from propcite.attribution.citing.alternatives import Alternative, alternatives
from propcite.attribution.citing.answer_citer import AnswerCiter
from propcite.attribution.citing.batch import Entry, acite, cite_many
from propcite.attribution.citing.comparing import Comparison, compared
from propcite.attribution.citing.deciding import CANDIDATES, MIN_SCORE, Decider
from propcite.attribution.citing.explaining import Explained, explain_citation
from propcite.attribution.citing.method import Method
from propcite.attribution.citing.methods import method_of
from propcite.attribution.citing.repair import repair
from propcite.attribution.citing.repaired import Repaired
from propcite.attribution.citing.splitting import answer_text, split_answer
from propcite.attribution.citing.stream import AsyncCitedStream, CitedStream
from propcite.attribution.citing.stream_citer import StreamCiter
from propcite.attribution.citing.tools import Source, Tools
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import Judge
from propcite.attribution.judges.embedded import EmbeddedJudge
from propcite.attribution.propositions import Splitter
from propcite.attribution.questions.reader import QuestionReader
from propcite.attribution.versions.comparing import compare_texts
from propcite.attribution.versions.records import TextComparison
from propcite.retrieval.alignment import NEAREST, Alignment, alignment_of
from propcite.retrieval.encoding.base import TextEncoder
from propcite.retrieval.encoding.cache import MAX_TOKENS
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.garbage import no_garbage_collection
from propcite.retrieval.index import ProgressReport, ignore_progress
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity

_LOADING = Lock()


class PropCite:
    """Cites any text after it was written, so no citation depends on a language model typing it.

    A `source` is a collection (`Retriever`) or passages: texts, dicts, Passages, LangChain Documents or LlamaIndex
    nodes.  With a `collection` beside it, what the source does not support is looked for there, and marked as such.

    `judge` is "reader", "embedded" or any Judge; None accepts evidence by similarity alone, from `min_score` on.
    `min_margin` is how far a claim's best passage must lead the next (AGRaME's threshold).  `method` is PropCite's own
    or the name of a baseline.  `alignment` says which tokens of a claim and of given passages are compared; a
    collection has its own.  `question_reader` says whether an answer answers its question: "shipped", one of your own,
    or None, which leaves that open.  One PropCite serves all threads.

    >>> from propcite import PropCite
    >>> answer = PropCite.default().cite("The barrier is 7 metres high.", ["The barrier is 6.4 metres high."])
    >>> [(fact.verdict.label.value, fact.verdict.reason) for fact in answer.facts]
    [('contradicted', 'source says 6.4 metres; answer says 7 metres')]
    """

    def __init__(
        self,
        encoder: TextEncoder,
        *,
        splitter: Splitter | None = None,
        judge: Judge | str | None = "reader",
        method: Method | str = "propositions",
        candidates: int = CANDIDATES,
        max_citations: int = MAX_CITATIONS,
        min_score: float = MIN_SCORE,
        min_margin: float = 0.0,
        joint: bool = True,
        alignment: Alignment | str = NEAREST,
        question_reader: QuestionReader | str | None = "shipped",
    ) -> None:
        way = method_of(method) if isinstance(method, str) else method
        with no_garbage_collection():
            reader = _shipped_judge(judge, encoder) if isinstance(judge, str) else judge
            self.tools = Tools(
                encoder=encoder,
                splitter=splitter or _learned_splitter(),
                method=way,
                decider=Decider(reader, candidates, way.num_cited, min_score, min_margin, joint),
                alignment=alignment_of(alignment) if isinstance(alignment, str) else alignment,
                max_citations=max_citations,
                question_reader=_question_reader(question_reader),
            )

    @classmethod
    def default(cls) -> PropCite:
        """Return a PropCite with the shipped parts, loaded once per process."""
        with _LOADING:
            return _shipped()

    @property
    def encoder(self) -> TextEncoder:
        return self.tools.encoder

    @property
    def splitter(self) -> Splitter:
        return self.tools.splitter

    @property
    def judge(self) -> Judge | None:
        return self.tools.judge

    @property
    def models(self) -> dict[str, str]:
        """Return the names of the parts, as an answer records them."""
        return self.tools.models

    def cached(self, max_tokens: int = MAX_TOKENS) -> PropCite:
        """Return the same PropCite with a cache, so that work over the same texts encodes none of them twice."""
        other = copy(self)
        other.tools = self.tools.cached(max_tokens)
        return other

    def cite(
        self, answer: str, source: Source, *, collection: Retriever | None = None, question: str = ""
    ) -> CitedAnswer:
        """Return the answer with the support of each of its facts.

        A fact without support has a verdict and the nearest words of the source, but no citation.
        """
        answer, citer = answer_text(answer), AnswerCiter.over(self.tools, source, collection, question)
        with citer.timer("split"):
            sentences = split_answer(answer, self.splitter)
        return citer.answer(answer, citer.cite(sentences))

    def cite_many(
        self,
        entries: Iterable[Entry],
        source: Source | None = None,
        *,
        collection: Retriever | None = None,
    ) -> list[CitedAnswer | PropCiteError]:
        """Cite many answers in one batch; an answer that cannot be cited has its error in its place.

        An entry is (answer, passages) or (answer, passages, question); with one `source` for all it is the answer
        alone.
        """
        return cite_many(self.tools, entries, source, collection)

    async def acite(
        self, answer: str, source: Source, *, collection: Retriever | None = None, question: str = ""
    ) -> CitedAnswer:
        """Cite beside an event loop, in a thread; a cancelled call ends after the sentences in work."""
        return await acite(self.tools, answer, source, collection, question)

    def stream(
        self,
        pieces: Iterable[str | None],
        source: Source,
        *,
        collection: Retriever | None = None,
        question: str = "",
        strip_markers: bool = False,
    ) -> CitedStream:
        """Cite an answer while it is written, and return its events: text, sentences with citations, the answer.

        `pieces` is the text as it comes; None or "" is a piece without text, which lets citations through.
        `strip_markers` removes the markers that the writer typed.
        """
        citer = StreamCiter(self.tools, source, collection, question, strip_markers=strip_markers)
        return CitedStream(citer, pieces)

    def astream(
        self,
        pieces: AsyncIterable[str | None],
        source: Source,
        *,
        collection: Retriever | None = None,
        question: str = "",
        strip_markers: bool = False,
    ) -> AsyncCitedStream:
        """Do as `stream` for asyncio; citations come even while the next piece of text is awaited."""
        citer = StreamCiter(self.tools, source, collection, question, strip_markers=strip_markers)
        return AsyncCitedStream(citer, pieces)

    def repair(
        self, answer: str, source: Iterable[object], *, collection: Retriever | None = None, question: str = ""
    ) -> Repaired:
        """Check an answer's own `[n]`, which number these passages from 1: drop wrong ones, add missing ones."""
        return repair(self.tools, answer, source, collection, question)

    def compare(self, question: str, left: tuple[str, Source], right: tuple[str, Source]) -> Comparison:
        """Cite two answers to a question, each over its own source, and match their facts over both.

        A fact that the other source supports or denies is beside that source's own fact about it, if its answer has
        one.
        """
        one, other = (self.cite(text, source, question=question) for text, source in (left, right))
        return self.compare_answers(one, left[1], other, right[1])

    def compare_answers(
        self, left: CitedAnswer, left_source: Source, right: CitedAnswer, right_source: Source
    ) -> Comparison:
        """Match the facts of two cited answers, each over the other's source."""
        elsewhere = self.cite(left.text, right_source), self.cite(right.text, left_source)
        return compared(left.question or right.question, left, right, *elsewhere)

    def compare_texts(self, left: Source, right: Source, report: ProgressReport = ignore_progress) -> TextComparison:
        """Pair the sentences of two texts, without a question: what is the same, what changed, what only one says.

        The passages of a source are read in their order.  `report` gets the step in work and its share.
        """
        return compare_texts(self.tools, left, right, report)

    def explain(
        self,
        answer: CitedAnswer,
        fact: str | int = 1,
        citation: str | int = "",
        *,
        granularity: Granularity | None = None,
        alignment: Alignment | None = None,
    ) -> Explained:
        """Return which words of a fact matched which words of its source.

        A fact is named by its number from 1 or its id, a citation by its marker or id; by default the first citation,
        or the nearest miss of a fact without one.
        """
        return explain_citation(self.encoder, self.splitter, answer, fact, citation, granularity, alignment)

    def alternatives(
        self,
        answer: CitedAnswer,
        fact: str | int,
        source: Source,
        granularity: Granularity = Granularity.SENTENCE,
        k: int = 8,
    ) -> list[Alternative]:
        """Return what else of the source is near a fact, ranked at any granularity and judged; best first."""
        return alternatives(self.tools, answer, fact, source, granularity, k)


@cache
def _shipped() -> PropCite:
    from propcite.retrieval.encoding.encoder import Encoder

    return PropCite(Encoder())


def _shipped_judge(name: str, encoder: TextEncoder) -> Judge:
    if name == "embedded":
        return EmbeddedJudge(encoder)
    if name == "reader":
        from propcite.attribution.judges.reader import ReaderJudge

        return ReaderJudge(encoder)
    raise AttributionError(f"no judge named {name!r} is shipped: use 'reader', 'embedded', None or your own Judge")


def _question_reader(given: QuestionReader | str | None) -> QuestionReader | None:
    if isinstance(given, str) and given != "shipped":
        raise AttributionError(
            f"no question reader named {given!r} is shipped: use 'shipped', None or a QuestionReader"
        )
    return QuestionReader() if isinstance(given, str) else given


def _learned_splitter() -> Splitter:
    from propcite.attribution.propositions.learned import LearnedSplitter

    return LearnedSplitter()
