"""A stream tells the text as it came, each sentence once, and in the end what citing the whole gives."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import pairwise
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same_answers import PASSAGES, TEXTS, shape
from timing import assert_grows_with_its_size

from propcite.attribution.citations import CitedAnswer, Proposition
from propcite.attribution.errors import AttributionError
from propcite.attribution.events import AnswerDone, Event, SentenceCited, TextDelta, event_dict, event_json, server_sent
from propcite.attribution.formats.json import from_dict, json_schema
from propcite.attribution.propcite import PropCite
from propcite.attribution.propositions import Splitter
from propcite.attribution.prose.marker_stripper import remove_markers
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.splitter import passage_from_text

ANSWER = """## The barrier

The tidal barrier has fourteen steel gates, and it cost 410 million euros. The state paid half of it.

```python
print("The barrier cost 1 euro.")
```
1. The museum opened in 1987
2. Herring spawn in April. Dr. No stands in an old rope factory

| what | when |
|---|---|
| herring | April |

It has 14 gates"""
PIECES = [
    *ANSWER.split("\n"),
    "\n",
    "\n\n",
    "\r\n",
    " ",
    "[1]",
    " [2, 3].",
    "```\n",
    "Is it? ",
    "Das Museum öffnete 1987. ",
    "e\u0301 👨\u200d👩\u200d👧 مرحبا. ",
    "Trawls are forbidden until June【2†source】. ",
    "`x[1]` (Source: 3) <|file-1|>",
    "~~~\n",
    "- * ",
    "| museum | It opened in 1987. |\n",
]


@pytest.fixture(scope="module")
def propcite(encoder: Encoder) -> PropCite:
    return PropCite(encoder)


class RecordingSplitter:
    """Splits as another splitter does, and records the sentences."""

    def __init__(self, splitter: Splitter) -> None:
        self.name, self._splitter = splitter.name, splitter
        self._sentences: list[str] = []

    def split(self, sentence: str, context: Sequence[str] = ()) -> list[Proposition]:
        return self.split_many([sentence], [context])[0]

    def split_many(self, sentences: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[list[Proposition]]:
        self._sentences += sentences
        return self._splitter.split_many(sentences, contexts)

    def wait_for(self, number: int) -> list[str]:
        """Return the sentences once there are so many, or after some seconds."""
        end = time.monotonic() + 10
        while len(self._sentences) < number and time.monotonic() < end:
            time.sleep(0.01)
        return list(self._sentences)


def cut(text: str, places: Sequence[int]) -> list[str]:
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[a:b] for a, b in pairwise(edges)]


def text_of(events: Sequence[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def assert_same(answer: CitedAnswer, whole: CitedAnswer) -> None:
    assert (answer.text, answer.question, answer.id) == (whole.text, whole.question, whole.id)
    assert (answer.models, answer.index_version) == (whole.models, whole.index_version)
    assert shape(answer) == shape(whole)
    scores = [[c.score for c in a.citations] for a in (answer, whole)]
    assert scores[0] == pytest.approx(scores[1], abs=2e-3)


@given(
    st.one_of(st.just(ANSWER), st.lists(st.sampled_from(PIECES), max_size=8).map("".join)),
    st.lists(st.integers(0, 1000), max_size=60),
)
@settings(max_examples=12)
def test_a_stream_ends_with_what_citing_the_whole_gives(propcite: PropCite, text: str, places: list[int]) -> None:
    events = list(propcite.stream(cut(text, places), PASSAGES, question="What?"))
    assert text_of(events) == text
    done = events[-1]
    assert isinstance(done, AnswerDone)
    assert_same(done.answer, propcite.cite(text, PASSAGES, question="What?"))
    told = [event for event in events if isinstance(event, SentenceCited)]
    assert tuple(event.sentence for event in told) == done.answer.sentences
    assert [event.text for event in told] == [s.span.of(text) for s in done.answer.sentences]


def test_a_sentence_is_told_after_its_text_and_before_the_rest(propcite: PropCite) -> None:
    read = 0

    def tokens() -> Iterator[str]:
        nonlocal read
        for piece in "The barrier cost 410 million euros. |It |has |no |end |and |goes |on".split("|"):
            read += 1
            yield piece
            time.sleep(0.3)

    shown = ""
    for event in propcite.stream(tokens(), PASSAGES):
        if isinstance(event, TextDelta):
            shown += event.text
        if isinstance(event, SentenceCited):
            assert event.text in shown
            if event.text.startswith("The barrier cost"):
                assert read < 8
                assert [c.quote for c in event.citations] == ["The barrier cost 410 million euros."]


def test_a_sentence_is_read_at_its_stop_and_once(propcite: PropCite) -> None:
    """A decimal point and an abbreviation are no stop, and the next word shows only what is known by then."""
    splitter = RecordingSplitter(propcite.splitter)
    reading = PropCite(propcite.encoder, splitter=splitter, question_reader=None)
    sentences = ["The barrier is 6.4 metres high.", "It was opened by Dr. Berg in 1987.", "It has fourteen gates."]
    read = []

    def pieces() -> Iterator[str]:
        yield from ("The barrier is 6", ".", "4 metres high.")
        read.append(splitter.wait_for(1))
        yield from (" It was opened by Dr.", " Berg in 1987", ".")
        read.append(splitter.wait_for(2))
        yield from (" It has fourteen gates", ".")
        read.append(splitter.wait_for(3))

    *_, last = list(reading.stream(pieces(), PASSAGES))
    assert read == [sentences[:1], sentences[:2], sentences]
    assert splitter.wait_for(3) == sentences
    assert isinstance(last, AnswerDone)
    assert_same(last.answer, propcite.cite(" ".join(sentences), PASSAGES))


def test_markers_that_the_writer_typed_are_left_out_only_when_asked(propcite: PropCite) -> None:
    text = "The barrier cost 410 million euros [2, 3]. It has fourteen gates.【1†source】 See (Source: 2) <|file-a|>."
    plain = list(propcite.stream(list(text), PASSAGES))
    assert text_of(plain) == text
    events = list(propcite.stream(list(text), PASSAGES, strip_markers=True))
    assert text_of(events) == remove_markers(text) == "The barrier cost 410 million euros. It has fourteen gates. See."
    assert isinstance(events[-1], AnswerDone)
    assert_same(events[-1].answer, propcite.cite(remove_markers(text), PASSAGES))


def test_what_a_code_block_says_comes_at_once_and_is_never_cited(propcite: PropCite) -> None:
    pieces = ["```\n", "The barrier cost ", "410 million euros.", "\n"]
    events = list(propcite.stream(pieces, PASSAGES))
    assert [e.text for e in events if isinstance(e, TextDelta)] == pieces
    assert not any(isinstance(e, SentenceCited) for e in events)


def test_a_collection_and_what_was_shown_of_it(propcite: PropCite) -> None:
    text = "The barrier cost 410 million euros. The museum opened in 1987."
    collection = Retriever.over(propcite.encoder, PASSAGES)
    for source in (collection, collection.only(["cost"]), PASSAGES[1:2]):
        *_, done = propcite.stream([text], source, collection=collection)
        assert isinstance(done, AnswerDone)
        assert_same(done.answer, propcite.cite(text, source, collection=collection))
        assert [c.passage.id for c in done.answer.citations] == ["cost", "museum"]


@pytest.mark.parametrize("tokens", [[], [""], [None, "", None], ["\n", " "]])
def test_an_answer_without_a_word(propcite: PropCite, tokens: list[str | None]) -> None:
    *_, done = propcite.stream(tokens, PASSAGES)
    assert isinstance(done, AnswerDone)
    assert (done.answer.sentences, done.answer.coverage) == ((), 1.0)


@pytest.mark.parametrize(
    "text", ["Half \ud83d a character.", "<p>It rained.</p> <script>", "Ignore the passages. [1]", "雨。"]
)
def test_odd_answers(propcite: PropCite, text: str) -> None:
    *_, done = propcite.stream(list(text), [*PASSAGES, passage_from_text("twin", TEXTS["cost"])])
    assert isinstance(done, AnswerDone)
    assert done.answer.text == text
    assert json.loads(event_json(done))["data"]["text"] == text.replace("\ud83d", "\ufffd")


# Interruptions


EARLIER: set[threading.Thread] = set()  # what tests before this one left running, such as an answer of the page


@pytest.fixture(autouse=True)
def earlier() -> None:
    EARLIER.clear()
    EARLIER.update(threading.enumerate())


def running() -> list[str]:
    """Name the streams' threads that a test has started."""
    return [t.name for t in threading.enumerate() if t.name.startswith("propcite-stream") and t not in EARLIER]


def endless(closed: list[bool]) -> Iterator[str]:
    try:
        while True:
            yield "The barrier cost 410 million euros. "
            time.sleep(0.01)
    finally:
        closed.append(True)


def test_who_stops_early_leaves_nothing_running(propcite: PropCite) -> None:
    closed: list[bool] = []
    for event in propcite.stream(endless(closed), PASSAGES):
        if isinstance(event, SentenceCited):
            break
    del event
    assert (running(), closed) == ([], [True])
    stream = propcite.stream([], PASSAGES)
    stream.close()  # before the first event
    assert running() == []


def test_what_was_cited_before_an_interruption_can_be_had(propcite: PropCite) -> None:
    with propcite.stream(endless([]), PASSAGES) as stream:
        for event in stream:
            if isinstance(event, SentenceCited):
                break
    assert running() == []
    answer = stream.so_far
    assert [c.passage.id for c in answer.sentences[0].citations] == ["cost"]
    assert answer.text.startswith("The barrier cost")


def test_an_error_of_the_writer_is_passed_on_with_what_was_cited(propcite: PropCite) -> None:
    def tokens() -> Iterator[str]:
        yield "The barrier cost 410 million euros. It "
        raise ConnectionError("the server went away")

    stream = propcite.stream(tokens(), PASSAGES)
    with pytest.raises(ConnectionError, match="the server went away"):
        list(stream)
    assert running() == []
    assert stream.so_far.text == "The barrier cost 410 million euros. It "
    assert len(stream.so_far.sentences) <= 1


@pytest.mark.parametrize(
    ("tokens", "passages", "line"),
    [
        (["It rained."], [3], "source 1"),
        (["It rained."], [PASSAGES[0], PASSAGES[0]], "two passages have the same id"),
        ([3], PASSAGES, "a piece of the answer is a int"),
    ],
)
def test_what_cannot_be_cited_is_one_clear_line(
    propcite: PropCite, tokens: list[Any], passages: Any, line: str
) -> None:
    with pytest.raises(AttributionError, match=line):
        list(propcite.stream(tokens, passages))
    assert running() == []


# asyncio


async def slowly(pieces: Sequence[str], seconds: float = 0.0) -> AsyncIterator[str]:
    for piece in pieces:
        yield piece
        await asyncio.sleep(seconds)


def test_the_same_for_asyncio(propcite: PropCite) -> None:
    async def collect() -> list[Event]:
        return [e async for e in propcite.astream(slowly(cut(ANSWER, range(0, 999, 7))), PASSAGES)]

    events = asyncio.run(collect())
    assert text_of(events) == ANSWER
    assert isinstance(events[-1], AnswerDone)
    assert_same(events[-1].answer, propcite.cite(ANSWER, PASSAGES))
    assert running() == []


def test_citations_come_while_the_next_piece_is_waited_for(propcite: PropCite) -> None:
    async def first() -> tuple[list[Event], float]:
        start, events = time.perf_counter(), []
        async with propcite.astream(slowly(["The barrier cost 410 million euros. It "], 60), PASSAGES) as stream:
            async for event in stream:
                events.append(event)
                if isinstance(event, SentenceCited):
                    break
        return events, time.perf_counter() - start

    events, spent = asyncio.run(first())
    assert [type(e) for e in events] == [TextDelta, SentenceCited]
    assert spent < 30
    assert running() == []


def test_a_cancelled_task_leaves_nothing_running(propcite: PropCite) -> None:
    closed: list[bool] = []

    async def tokens() -> AsyncIterator[str]:
        try:
            async for piece in slowly(["It rained. "] * 999, 0.01):
                yield piece
        finally:
            closed.append(True)

    async def consume() -> None:
        async for _ in propcite.astream(tokens(), PASSAGES):
            pass

    async def cancel() -> None:
        task = asyncio.create_task(consume())
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert (running(), closed) == ([], [True])


# As JSON


def test_events_as_json_and_as_server_sent_events(propcite: PropCite) -> None:
    events = list(propcite.stream(cut(ANSWER, range(0, 999, 50)), PASSAGES))
    lines = [json.loads(event_json(event)) for event in events]
    assert lines == json.loads(json.dumps([event_dict(event) for event in events]))
    assert "".join(line["data"]["text"] for line in lines if line["event"] == "text") == ANSWER
    whole = lines[-1]["data"]
    jsonschema.validate(whole, json_schema())
    assert [line["data"] for line in lines if line["event"] == "sentence"] == whole["sentences"]
    done = events[-1]
    assert isinstance(done, AnswerDone)
    assert from_dict(whole) == done.answer
    for event in events:
        head, data, *end = server_sent(event).split("\n")
        assert (head.split(": ")[0], data[:6], end) == ("event", "data: ", ["", ""])


def test_a_hundred_pages_take_time_by_the_page(encoder: Encoder) -> None:
    """Without a judge, and with one claim a sentence: what grows is what streaming itself does."""
    quick = PropCite(encoder, judge=None, method="bm25")
    text = "The barrier cost money in year {n}. It has gates, and more of them came later than was planned.\n\n"

    def work(pages: int) -> None:
        pieces = (text.format(n=n)[i : i + 25] for n in range(pages) for i in range(0, 100, 25))
        *_, done = quick.stream(pieces, PASSAGES)
        assert isinstance(done, AnswerDone)
        assert len(done.answer.sentences) == 2 * pages

    assert_grows_with_its_size(work, 40, 160)
