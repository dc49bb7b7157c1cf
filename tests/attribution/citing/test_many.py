"""Many answers at once, beside an event loop and from many threads: each is cited as it would be alone."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from same_answers import PASSAGES, shape
from timing import assert_grows_with_its_size, cpu_seconds

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.answer_citer import BATCH
from propcite.attribution.citing.batch import THREADS
from propcite.attribution.citing.method import HitsByClaim
from propcite.attribution.citing.methods import WholeSentences
from propcite.attribution.citing.splitting import SplitSentence
from propcite.attribution.errors import AttributionError
from propcite.attribution.propcite import PropCite, Source
from propcite.attribution.propositions.rules import RuleSplitter
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity

ANSWERS = [
    "The barrier cost 410 million euros, and it has fourteen gates. The state paid all of it.",
    "The museum opened in 1987. Herring spawn in April.",
    "Trawls are forbidden until June, and the museum stands in a rope factory. The barrier protects the town.",
    "",
    "Das Museum öffnete 1987.",
    "Each gate has 300 tonnes.\n\n```\nIt is code.\n```\n- The state paid two thirds\n- Nobody knows why",
]


@pytest.fixture(scope="module")
def propcite(encoder: Encoder) -> PropCite:
    return PropCite(encoder)


@pytest.mark.parametrize("own", [False, True])
def test_a_batch_gives_what_each_answer_gives_alone(propcite: PropCite, own: bool) -> None:
    alone = [shape(propcite.cite(answer, PASSAGES)) for answer in ANSWERS]
    pairs: list[tuple[str, Source]] = [(answer, list(PASSAGES)) for answer in ANSWERS]
    found = propcite.cite_many(pairs) if own else propcite.cite_many(ANSWERS, PASSAGES)
    assert [shape(answer) for answer in found] == alone


@pytest.mark.parametrize("way", ["cite", "cite_many", "repair"])
def test_a_hundred_pages_take_time_by_the_page(encoder: Encoder, way: str) -> None:
    """Without a judge, and with one claim a sentence: what grows is what citing itself does."""
    quick = PropCite(encoder, judge=None, method="bm25")
    text = "The barrier cost money in year {n} [1]. It has gates, and more of them came later than was planned.\n\n"
    ways: dict[str, Any] = {
        "cite": lambda answer: quick.cite(answer, PASSAGES),
        "cite_many": lambda answer: quick.cite_many([answer], PASSAGES)[0],
        "repair": lambda answer: quick.repair(answer, PASSAGES).answer,
    }

    def work(pages: int) -> None:
        cited = ways[way]("".join(text.format(n=n) for n in range(pages)))
        assert len(cited.sentences) == 2 * pages

    assert_grows_with_its_size(work, 40, 160)


def test_of_a_long_answer_some_sentences_are_asked_for_at_a_time(encoder: Encoder) -> None:
    asked: list[int] = []

    class Counting(WholeSentences):
        def find(self, sentences: Sequence[SplitSentence], retriever: Retriever, k: int) -> HitsByClaim:
            asked.append(len(sentences))
            found = super().find(sentences[:1], retriever, k)
            return [*found, *([[]] for _ in sentences[1:])]

    propcite = PropCite(encoder, splitter=RuleSplitter(), judge=None, method=Counting())
    text = "It rained. " * 1000
    for cite in (propcite.cite, propcite.repair, lambda *given: propcite.cite_many([given, ("It rained.", [])])):
        asked.clear()
        cite(text, PASSAGES)
        assert (sum(asked), max(asked) <= BATCH) == (1000, True)


def test_an_entry_may_say_what_was_asked(propcite: PropCite) -> None:
    text = "The barrier cost 410 million euros."
    found = propcite.cite_many([(text, PASSAGES, "What did it cost?"), (text, PASSAGES)])
    assert [one.question for one in found if isinstance(one, CitedAnswer)] == ["What did it cost?", ""]
    assert [getattr(one, "id", "") for one in found] == [
        propcite.cite(text, PASSAGES, question=question).id for question in ("What did it cost?", "")
    ]


def test_passages_of_one_id_in_two_entries_are_told_apart(propcite: PropCite) -> None:
    text = "The barrier cost 410 million euros."
    first, second = propcite.cite_many([(text, {"id": "a", "text": text}), (text, {"id": "a", "text": "It rained."})])
    assert isinstance(first, CitedAnswer)
    assert isinstance(second, CitedAnswer)
    assert ([c.quote for c in first.citations], second.citations) == ([text], ())


def test_a_collection_serves_a_batch(propcite: PropCite) -> None:
    collection = Retriever.over(propcite.encoder, PASSAGES)
    alone = [shape(propcite.cite(answer, collection)) for answer in ANSWERS]
    assert [shape(answer) for answer in propcite.cite_many(ANSWERS, collection)] == alone


def test_a_bad_entry_has_its_error_and_the_others_their_answers(propcite: PropCite) -> None:
    bad: list[Any] = [(3, PASSAGES), "ab", (ANSWERS[0], [3]), (ANSWERS[0], [PASSAGES[0]] * 2), (ANSWERS[0],), None]
    good = (ANSWERS[0], PASSAGES)
    found = propcite.cite_many([good, *bad, good])
    assert shape(found[0]) == shape(found[-1]) == shape(propcite.cite(*good))
    for error, line in zip(
        found[1:-1], ["an entry", "an entry", "source 1", "two passages", "an entry", "an entry"], strict=True
    ):
        assert isinstance(error, AttributionError)
        assert str(error).startswith(line)
    assert propcite.cite_many([]) == []


def test_what_the_passages_do_not_support_is_looked_for_in_the_collection(propcite: PropCite) -> None:
    collection = Retriever.over(propcite.encoder, PASSAGES)
    found = propcite.cite_many([(answer, PASSAGES[:1]) for answer in ANSWERS], collection=collection)
    alone = [propcite.cite(answer, PASSAGES[:1], collection=collection) for answer in ANSWERS]
    assert [shape(one) for one in found] == [shape(one) for one in alone]
    assert {c.shown for answer in alone for c in answer.citations} == {True, False}


def test_a_batch_is_faster_than_one_by_one(propcite: PropCite) -> None:
    pairs: list[tuple[str, Source]] = [(answer, PASSAGES) for answer in ANSWERS * 2]

    together = cpu_seconds(lambda: propcite.cite_many(pairs))
    alone = cpu_seconds(lambda: [propcite.cite(*pair) for pair in pairs])
    sys.stdout.write(f"{len(pairs)} answers: {together:.2f} s together, {alone:.2f} s one by one\n")
    assert together < alone


def test_a_memory_gives_what_the_encoder_gives(propcite: PropCite) -> None:
    reading = propcite.cached(max_tokens=12)
    texts = ["It rained.", "It stopped.", "It rained."]
    for granularity in (Granularity.PASSAGE, Granularity.SENTENCE):
        found = reading.encoder.encode_queries(texts, granularity)
        for tokens, again in zip(found, propcite.encoder.encode_queries(texts, granularity), strict=True):
            assert tokens.vectors == pytest.approx(again.vectors, abs=2e-2)
    assert found[0] is found[2]
    assert reading.encoder.encode_queries(["It rained."], Granularity.SENTENCE)[0] is found[0]
    assert reading.encoder.encode_queries([], Granularity.SENTENCE) == []
    reading.encoder.encode_passages(PASSAGES)
    assert reading.encoder.name == propcite.encoder.name
    assert reading.judge is not propcite.judge
    assert getattr(propcite.judge, "encoder", None) is propcite.encoder


# asyncio


def test_acite_leaves_the_loop_free(propcite: PropCite) -> None:
    async def cite() -> tuple[list[CitedAnswer], int]:
        ticks, done = 0, asyncio.Event()

        async def tick() -> None:
            nonlocal ticks
            while not done.is_set():
                ticks += 1
                await asyncio.sleep(0.005)

        ticking = asyncio.create_task(tick())
        found = await asyncio.gather(*(propcite.acite(answer, PASSAGES, question="What?") for answer in ANSWERS))
        done.set()
        await ticking
        return found, ticks

    found, ticks = asyncio.run(cite())
    assert [shape(answer) for answer in found] == [shape(propcite.cite(answer, PASSAGES)) for answer in ANSWERS]
    assert found[0].question == "What?"
    assert ticks > 5
    assert sum(t.name.startswith("propcite-acite") for t in threading.enumerate()) <= THREADS


def test_a_cancelled_answer_is_not_cited_to_its_end(propcite: PropCite) -> None:
    split: list[int] = []

    class Counting:
        name = "counting"

        def split_many(self, sentences: Sequence[str], contexts: Sequence[Sequence[str]]) -> Any:
            split.append(len(sentences))
            return propcite.splitter.split_many(sentences, contexts)

        def split(self, sentence: str, context: Sequence[str] = ()) -> Any:
            return propcite.splitter.split(sentence, context)

    async def cancel() -> None:
        task = asyncio.create_task(
            PropCite(propcite.encoder, splitter=Counting()).acite("It rained. " * 2000, PASSAGES)
        )
        while not split:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    time.sleep(0.5)
    assert sum(split) < 2000


def test_an_error_reaches_who_awaits(propcite: PropCite) -> None:
    with pytest.raises(AttributionError, match="source 1"):
        asyncio.run(propcite.acite("It rained.", [3]))


# Threads


def test_eight_threads_share_all_parts(propcite: PropCite) -> None:
    alone = [shape(propcite.cite(answer, PASSAGES)) for answer in ANSWERS]
    collection = Retriever.over(propcite.encoder, PASSAGES)
    ready = threading.Barrier(8)

    def work(number: int) -> list[Any]:
        ready.wait()
        order = [(number + i) % len(ANSWERS) for i in range(len(ANSWERS))]
        found = {i: shape(propcite.cite(ANSWERS[i], collection if i % 2 else PASSAGES)) for i in order}
        return [found[i] for i in range(len(ANSWERS))]

    with ThreadPoolExecutor(8) as threads:
        for found in threads.map(work, range(8)):
            assert found == alone


def test_the_shipped_parts_are_loaded_once() -> None:
    with ThreadPoolExecutor(8) as threads:
        assert len({id(found) for found in threads.map(lambda _: PropCite.default(), range(8))}) == 1
