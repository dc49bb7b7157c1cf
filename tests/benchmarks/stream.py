"""How soon citations come while an answer is still being written, with the model loaded.

    python tests/benchmarks/stream.py [--rounds N] [--tokens-a-second N]

Measures from the first word after a sentence (before it, the end of the sentence is unknown) to the sentence's
citations, over ten passages of the demo, in wall-clock milliseconds.  The best of all rounds is what this machine can
do, the median includes its other work.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import time
from collections.abc import AsyncIterator
from dataclasses import replace

from propcite.app.demo import ANSWERS, DOCUMENTS
from propcite.app.ingest.readers import read_document
from propcite.attribution import AnswerDone, PropCite, SentenceCited, TextDelta
from propcite.attribution.citing.stream_citer import StreamCiter
from propcite.attribution.prose.sentences import sentences_of
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Passage


def ten_passages(propcite: PropCite, question: str) -> list[Passage]:
    paths = [path for path in sorted(DOCUMENTS.iterdir()) if path.suffix in (".md", ".txt", ".html")]
    documents = [replace(read_document(path), id=path.name) for path in paths]
    passages = [passage for document in documents for passage in PassageSplitter().split(document)]
    return [hit.passage for hit in Retriever.over(propcite.encoder, passages).search(question, k=10)]


async def sentence_waits(propcite: PropCite, text: str, passages: list[Passage], seconds: float) -> list[float]:
    """Return the milliseconds that each sentence of one answer waits for its citations."""
    sent: list[tuple[int, float]] = []  # number of characters, and when they were sent

    async def tokens() -> AsyncIterator[str]:
        at = 0
        for token in re.findall(r"\s*\S+|\s+$", text):
            await asyncio.sleep(seconds)
            at += len(token)
            sent.append((at, time.perf_counter()))
            yield token

    waits = []
    async for event in propcite.astream(tokens(), passages):
        if isinstance(event, SentenceCited):
            now = time.perf_counter()
            after = [when for at, when in sent if at > event.sentence.span.end + 1]
            waits.append(1000 * (now - (after[0] if after else sent[-1][1])))
        assert isinstance(event, (TextDelta, SentenceCited, AnswerDone))
    return waits


def processor_ms(propcite: PropCite, text: str, passages: list[Passage], rest: float) -> list[float]:
    """Return the CPU milliseconds of each of the first sentences, `rest` seconds after the passages were encoded."""
    citer, spent = StreamCiter(propcite.tools, passages, None, "", strip_markers=False), []
    citer.opened()
    time.sleep(rest)
    start_at = 0
    for span in sentences_of(text)[1:6]:  # a sentence has ended once the next one is there
        piece, start_at = text[start_at : span.end], span.end
        start = time.process_time()
        list(citer.feed(piece))
        list(citer.rest())
        spent.append(1000 * (time.process_time() - start))
    citer.close()
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--tokens-a-second", type=float, default=30.0)
    options = parser.parse_args()
    propcite = PropCite.default()
    text = " ".join(json.loads(line)["answer"] for line in ANSWERS.read_text("utf-8").splitlines()[:4])
    passages = ten_passages(propcite, text)
    propcite.cite(text, passages)
    rounds = [
        asyncio.run(sentence_waits(propcite, text, passages, 1 / options.tokens_a_second))
        for _ in range(options.rounds)
    ]
    print(f"{len(passages)} passages, {len(rounds[0])} sentences, {options.rounds} rounds")
    for name, waits in {
        "first sentence": [row[0] for row in rounds],
        "each sentence": [wait for row in rounds for wait in row],
        "best of each sentence": [min(column) for column in zip(*rounds, strict=True)],
    }.items():
        print(f"{name:24} best {min(waits):6.0f}   median {statistics.median(waits):6.0f}   worst {max(waits):6.0f} ms")
    for name, rest in {"evidence not encoded ahead": 0.0, "evidence encoded ahead": 4.0}.items():
        rows = [processor_ms(propcite, text, passages, rest) for _ in range(options.rounds)]
        best = [min(column) for column in zip(*rows, strict=True)]
        print(f"CPU time, {name}: " + ", ".join(f"{ms:.0f}" for ms in best) + " ms")
    answers = [json.loads(line)["answer"] for line in ANSWERS.read_text("utf-8").splitlines()] * 2
    alone, together = [], []
    for _ in range(2):
        start = time.perf_counter()
        for answer in answers:
            propcite.cite(answer, passages[:5])
        middle = time.perf_counter()
        propcite.cite_many(answers, passages[:5])
        alone.append(middle - start)
        together.append(time.perf_counter() - middle)
    print(
        f"{len(answers)} answers over 5 passages: {min(alone):.2f} s one by one, {min(together):.2f} s with cite_many"
    )


if __name__ == "__main__":
    main()
