"""Many answers in one batch, and one answer beside an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from threading import Event

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.answer_parts import Part, contexts_of, split_parts, text_of
from propcite.attribution.citing.citing import AT_ONCE, Citing, Rows, propositions_of
from propcite.attribution.citing.prefetch import evidence_in, read_claims, reading_judge
from propcite.attribution.citing.remembering import remembering
from propcite.attribution.citing.sources import as_passages
from propcite.attribution.errors import AttributionError
from propcite.attribution.propcite import PropCite, Source
from propcite.attribution.prose.sentences import sentences_of
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Passage

TOGETHER = 16  # answers whose texts are encoded together
MOST_TOKENS = 262_144  # remembered while a batch is cited
STEP = 32  # sentences between two looks at whether the answer is still wanted
THREADS = 4  # answers cited beside an event loop at once; the others wait


@dataclass(slots=True)
class _Entry:
    """An answer of a batch on its way."""

    answer: str
    source: Retriever | list[Passage]
    question: str = ""
    parts: Sequence[Part] = ()


def cite_many(
    propcite: PropCite,
    answers: Iterable[tuple[str, Source] | tuple[str, Source, str] | str],
    source: Source | None = None,
    *,
    collection: Retriever | None = None,
) -> list[CitedAnswer | PropCiteError]:
    """Every answer cited over its own passages, or all over one source; one that cannot be has its error there.

    An entry is (answer, passages) or (answer, passages, question); with a `source` for all it is the answer alone.
    What these do not support is looked for in the `collection`, if one is given.
    """
    if source is not None and not isinstance(source, Retriever):
        source = as_passages(source)
    given, done = iter(answers), []
    while some := list(islice(given, TOGETHER)):
        done += _together(remembering(propcite, MOST_TOKENS), [_entry(one, source) for one in some], collection)
    return done


def _entry(given: object, source: Source | None) -> _Entry | PropCiteError:
    all_of_it = given if source is None else (given, source)
    if not isinstance(all_of_it, (tuple, list)) or len(all_of_it) not in (2, 3) or not isinstance(all_of_it[0], str):
        return AttributionError(
            "an entry is no answer with its passages: give (answer, passages), or one source for all"
        )
    answer, over, *more = all_of_it
    try:
        return _Entry(answer, over if isinstance(over, Retriever) else as_passages(over), str(more[0]) if more else "")
    except PropCiteError as error:
        return error


def _together(
    propcite: PropCite, entries: Sequence[_Entry | PropCiteError], collection: Retriever | None
) -> list[CitedAnswer | PropCiteError]:
    good = [entry for entry in entries if isinstance(entry, _Entry)]
    _split(propcite, good)
    _read(propcite, good)
    cited = iter(_cited(propcite, good, collection))
    return [next(cited) if isinstance(entry, _Entry) else entry for entry in entries]


def _split(propcite: PropCite, entries: Sequence[_Entry]) -> None:
    """The propositions of all answers in one batch."""
    spans = [sentences_of(entry.answer) for entry in entries]
    texts = [[span.of(entry.answer) for span in row] for entry, row in zip(entries, spans, strict=True)]
    contexts = [context for row in texts for context in contexts_of(row)]
    every = list(chain.from_iterable(spans)), list(chain.from_iterable(texts))
    parts = iter(split_parts(*every, contexts, propcite.splitter))
    for entry, row in zip(entries, spans, strict=True):
        entry.parts = list(islice(parts, len(row)))


def _read(propcite: PropCite, entries: Sequence[_Entry]) -> None:
    """All that will be asked of the encoder, each text once; evidence only where most of it will be needed."""
    passages = list({(p.id, p.text): p for e in entries if isinstance(e.source, list) for p in e.source}.values())
    propcite.encoder.encode_passages([p for p in passages if p.sentences and any(map(str.isalnum, p.text))])
    parts = [part for entry in entries for part in entry.parts]
    read_claims(propcite, parts)
    evidence = list(evidence_in(passages))
    needed = propcite.decider.candidates * sum(len(part.propositions) for part in parts)
    judge = reading_judge(propcite)
    if judge and len(evidence) <= needed:
        judge.read(evidence)


def _cited(
    propcite: PropCite, entries: Sequence[_Entry], collection: Retriever | None
) -> list[CitedAnswer | PropCiteError]:
    """All judged together; when that fails, one by one, so that only the culprit has the error."""
    opened = [_opened(propcite, entry, collection) for entry in entries]
    both = [(citing, entry) for citing, entry in zip(opened, entries, strict=True) if isinstance(citing, Citing)]
    try:
        if len(entries) > 1 and any(len(entry.parts) > AT_ONCE for entry in entries):
            return [cited for entry in entries for cited in _cited(propcite, [entry], collection)]
        rows = iter(_rows(both))
    except PropCiteError as error:
        if len(entries) == 1:
            return [error]
        return [cited for entry in entries for cited in _cited(propcite, [entry], collection)]
    return [
        citing.answer(entry.answer, citing.numbered(entry.parts, next(rows)), entry.question)
        if isinstance(citing, Citing)
        else citing
        for citing, entry in zip(opened, entries, strict=True)
    ]


def _rows(answers: Sequence[tuple[Citing, _Entry]]) -> list[Rows]:
    if len(answers) == 1:
        (citing, entry), *_ = answers
        return [citing.propositions(entry.parts)]
    return propositions_of([(citing, entry.parts) for citing, entry in answers])


def _opened(propcite: PropCite, entry: _Entry, collection: Retriever | None) -> Citing | PropCiteError:
    try:
        return propcite.citing(entry.source, collection)
    except PropCiteError as error:
        return error


async def acite(
    propcite: PropCite, answer: str, source: Source, *, collection: Retriever | None = None, question: str = ""
) -> CitedAnswer:
    """`PropCite.cite` in a thread; a cancelled one ends after the sentences in work, and not more than four run."""
    answer, unwanted = text_of(answer), Event()
    work = _threads().submit(_in_steps, propcite, answer, source, collection, question, unwanted)
    try:
        return await asyncio.wrap_future(work)
    finally:
        unwanted.set()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, "propcite-acite")


def _in_steps(
    propcite: PropCite,
    answer: str,
    source: Source,
    collection: Retriever | None,
    question: str,
    unwanted: Event,
) -> CitedAnswer:
    citing = propcite.citing(source, collection)
    sentences = []
    for parts in _steps(citing, answer):
        if unwanted.is_set():
            break
        sentences += citing.cite(parts)
    return citing.answer(answer, sentences, question)


def _steps(citing: Citing, answer: str) -> Iterator[list[Part]]:
    """The answer's sentences with their propositions, some at a time."""
    spans = sentences_of(answer)
    texts = [span.of(answer) for span in spans]
    contexts = contexts_of(texts)
    for first in range(0, len(spans), STEP):
        some = slice(first, first + STEP)
        with citing.watch("split"):
            parts = split_parts(spans[some], texts[some], contexts[some], citing.propcite.splitter)
        yield parts
