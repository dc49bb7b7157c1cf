"""Cite many answers in one batch, and one answer beside an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from threading import Event

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.answer_citer import BATCH, AnswerCiter, Rows, encode_claims, propositions_of
from propcite.attribution.citing.sources import as_passages
from propcite.attribution.citing.splitting import SplitSentence, answer_text, contexts_of, split_sentences
from propcite.attribution.citing.tools import Source, Tools, sentences_as_evidence
from propcite.attribution.errors import AttributionError
from propcite.attribution.prose.sentences import sentences_of
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Passage
from propcite.retrieval.timing import Timer

TOGETHER = 16  # answers whose texts are encoded in one batch
MAX_TOKENS = 262_144  # kept in the cache while a batch is cited
STEP = 32  # sentences cited between two checks of whether the answer was cancelled
THREADS = 4  # answers cited beside an event loop at the same time; others wait

Entry = tuple[str, Source] | tuple[str, Source, str] | str  # answer, passages, question


@dataclass(slots=True)
class _Job:
    """An answer of a batch."""

    answer: str
    source: Retriever | list[Passage]
    question: str = ""
    sentences: Sequence[SplitSentence] = ()


def cite_many(
    tools: Tools, entries: Iterable[Entry], source: Source | None, collection: Retriever | None
) -> list[CitedAnswer | PropCiteError]:
    """Cite every answer over its own passages, or all over one source; an answer that fails has its error there."""
    if source is not None and not isinstance(source, Retriever):
        source = as_passages(source)
    coming, cited = iter(entries), []
    while batch := list(islice(coming, TOGETHER)):
        cited += _cite_together(tools.cached(MAX_TOKENS), [_job(entry, source) for entry in batch], collection)
    return cited


def _job(entry: object, source: Source | None) -> _Job | PropCiteError:
    row = entry if source is None else (entry, source)
    if not isinstance(row, (tuple, list)) or len(row) not in (2, 3) or not isinstance(row[0], str):
        return AttributionError(
            "an entry is no answer with its passages: give (answer, passages), or one source for all"
        )
    answer, over, *more = row
    try:
        return _Job(answer, over if isinstance(over, Retriever) else as_passages(over), str(more[0]) if more else "")
    except PropCiteError as error:
        return error


def _cite_together(
    tools: Tools, jobs: Sequence[_Job | PropCiteError], collection: Retriever | None
) -> list[CitedAnswer | PropCiteError]:
    valid = [job for job in jobs if isinstance(job, _Job)]
    _split(tools, valid)
    _encode(tools, valid)
    cited = iter(_cite(tools, valid, collection))
    return [next(cited) if isinstance(job, _Job) else job for job in jobs]


def _split(tools: Tools, jobs: Sequence[_Job]) -> None:
    """Split all answers into propositions in one batch."""
    spans = [sentences_of(job.answer) for job in jobs]
    texts = [[span.of(job.answer) for span in row] for job, row in zip(jobs, spans, strict=True)]
    contexts = [context for row in texts for context in contexts_of(row)]
    every = list(chain.from_iterable(spans)), list(chain.from_iterable(texts))
    with Timer()("split"):
        sentences = iter(split_sentences(*every, contexts, tools.splitter))
    for job, row in zip(jobs, spans, strict=True):
        job.sentences = list(islice(sentences, len(row)))


def _encode(tools: Tools, jobs: Sequence[_Job]) -> None:
    """Encode every text once, ahead of the search; evidence only where most of it will be judged."""
    passages = list({(p.id, p.text): p for job in jobs if isinstance(job.source, list) for p in job.source}.values())
    tools.encoder.encode_passages([p for p in passages if p.sentences and any(map(str.isalnum, p.text))])
    sentences = [sentence for job in jobs for sentence in job.sentences]
    encode_claims(tools, sentences)
    evidence = list(sentences_as_evidence(passages))
    num_judged = tools.decider.candidates * sum(len(sentence.propositions) for sentence in sentences)
    judge = tools.encoding_judge
    if judge and len(evidence) <= num_judged:
        judge.encode_evidence(evidence)


def _cite(tools: Tools, jobs: Sequence[_Job], collection: Retriever | None) -> list[CitedAnswer | PropCiteError]:
    """Judge all answers together; if that fails, one by one, so that only the culprit has the error."""
    citers = [_open(tools, job, collection) for job in jobs]
    opened = [(citer, job) for citer, job in zip(citers, jobs, strict=True) if isinstance(citer, AnswerCiter)]
    try:
        if len(jobs) > 1 and any(len(job.sentences) > BATCH for job in jobs):
            return [cited for job in jobs for cited in _cite(tools, [job], collection)]
        rows = iter(_rows(opened))
    except PropCiteError as error:
        if len(jobs) == 1:
            return [error]
        return [cited for job in jobs for cited in _cite(tools, [job], collection)]
    return [
        citer.answer(job.answer, citer.numbered(job.sentences, next(rows))) if isinstance(citer, AnswerCiter) else citer
        for citer, job in zip(citers, jobs, strict=True)
    ]


def _rows(answers: Sequence[tuple[AnswerCiter, _Job]]) -> list[Rows]:
    if len(answers) == 1:
        (citer, job), *_ = answers
        return [citer.propositions(job.sentences)]
    return propositions_of([(citer, job.sentences) for citer, job in answers])


def _open(tools: Tools, job: _Job, collection: Retriever | None) -> AnswerCiter | PropCiteError:
    try:
        return AnswerCiter.over(tools, job.source, collection, job.question)
    except PropCiteError as error:
        return error


async def acite(tools: Tools, answer: str, source: Source, collection: Retriever | None, question: str) -> CitedAnswer:
    """Cite an answer in one of `THREADS` threads; a cancelled call ends after the sentences in work."""
    answer, cancelled = answer_text(answer), Event()
    work = _threads().submit(copy_context().run, _cite_in_steps, tools, answer, source, collection, question, cancelled)
    try:
        return await asyncio.wrap_future(work)
    finally:
        cancelled.set()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, "propcite-acite")


def _cite_in_steps(
    tools: Tools, answer: str, source: Source, collection: Retriever | None, question: str, cancelled: Event
) -> CitedAnswer:
    citer = AnswerCiter.over(tools, source, collection, question)
    cited = []
    for sentences in _steps(citer, answer):
        if cancelled.is_set():
            break
        cited += citer.cite(sentences)
    return citer.answer(answer, cited)


def _steps(citer: AnswerCiter, answer: str) -> Iterator[list[SplitSentence]]:
    """Yield the answer's split sentences, `STEP` at a time."""
    spans = sentences_of(answer)
    texts = [span.of(answer) for span in spans]
    contexts = contexts_of(texts)
    for first in range(0, len(spans), STEP):
        some = slice(first, first + STEP)
        with citer.timer("split"):
            sentences = split_sentences(spans[some], texts[some], contexts[some], citer.tools.splitter)
        yield sentences
