"""Concurrent writers and readers of one database, each in its own process.

    python -m tests.benchmarks.writers URL --seconds 60

A writer saves documents and answers, describes and removes them; a reader lists, selects by conditions and loads.  Each
loaded answer and document must be complete.  An error ends its process and is reported; the figures are numbers of
operations and the slowest of each kind.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import queue
import random
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from propcite.app.library.selection import selected_documents
from propcite.app.library.store import DetailsChange, Feedback, Library, Opinion, document_id
from propcite.app.library.store.feedback import FeedbackStore
from propcite.attribution.citations import (
    Citation,
    CitedAnswer,
    CitedProposition,
    CitedSentence,
    Evidence,
    Label,
    Proposition,
    Verdict,
)
from propcite.retrieval.text import Document, Passage, Span

NAME = "crowd"
START_S = 120.0  # until all have started
SENTENCE = "The heron number {0} stands in the reeds of turn {1}. "


@dataclass
class Report:
    """What one process did: number of operations by kind, the slowest of each in milliseconds, and errors."""

    counts: dict[str, int] = field(default_factory=dict)
    slowest: dict[str, float] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def call(self, kind: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = work()
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.slowest[kind] = max(self.slowest.get(kind, 0.0), 1000 * (time.perf_counter() - start))
        return result


def text_of(number: int, turn: int) -> list[str]:
    return [SENTENCE.format(number, f"{turn}.{n}") for n in range(20)]


def document(number: int, turn: int, who: int) -> tuple[Document, list[Passage]]:
    pieces = text_of(number, turn)
    source = f"/{who}/{number}.txt"
    id_ = document_id(NAME, source, str(turn))
    starts = [sum(map(len, pieces[:n])) for n in range(len(pieces))]
    passages = [Passage(f"{id_}:{n}", piece, "Herons", id_, starts[n]) for n, piece in enumerate(pieces)]
    return Document(id_, "".join(pieces), "Herons", source, metadata={"kind": "text", "turn": str(turn)}), passages


def answer(passage: Passage, turn: int) -> CitedAnswer:
    text, yes = passage.text.strip(), Verdict(Label.SUPPORTED, 0.9)
    whole = Span(0, len(text))
    fact = CitedProposition(Proposition((whole,), text), yes, (Citation(1, Evidence(passage, whole, 0.9, 0.9), yes),))
    return CitedAnswer(text, (CitedSentence(whole, (fact,)),), f"What stands, turn {turn}?", NAME)


def write(library: Library, who: int, turn: int, report: Report) -> None:
    collection = library.create_collection(NAME)
    saved, passages = document(turn % 25, turn, who)
    report.call("put", lambda: library.put_document(collection, saved, f"{turn:064d}", passages))
    cited = answer(passages[turn % 20], turn)
    report.call("keep", lambda: library.save_answer(collection, cited))
    report.call("keep shared", lambda: library.save_answer(collection, answer(Passage("x", "A heron."), turn % 5)))
    opinion = Feedback(cited.id, cited.facts[0].id, "", Opinion.RIGHT, by=f"writer {who}")
    report.call("opinion", lambda: FeedbackStore(library).save(opinion))
    report.call("describe", lambda: library.describe([saved.id], DetailsChange({"turn": turn}, [f"by {who}"])))
    if turn % 7 == 0:
        report.call("remove", lambda: library.remove_document(saved.id))


def read(library: Library, who: int, _: int, report: Report) -> None:
    collection = library.create_collection(NAME)
    documents = report.call("list", lambda: library.documents(collection))
    report.call(
        "where", lambda: selected_documents(library, collection, (), [f"kind=text and title~heron or id={who}"])
    )
    for info in random.sample(documents, min(3, len(documents))):
        passages = report.call("passages", lambda i=info: library.passages([f"{i.id}:{n}" for n in range(20)]))
        if passages and len(passages) != 20:
            raise AssertionError(f"document {info.id} holds {len(passages)} of 20 passages")
    for info in report.call("answers", lambda: library.answers(collection, limit=5)):
        loaded = report.call("answer", lambda i=info: library.answer(i.id))
        report.call("sources", lambda a=loaded: library.cited_documents(a))


def work(url: str, who: int, writes: bool, seconds: float, ready: Any, reports: Any) -> None:
    library, report, turn = Library(url), Report(), who
    try:
        ready.wait(START_S)
        until = time.time() + seconds
        while time.time() < until:
            (write if writes else read)(library, who, turn, report)
            turn += 1
    except Exception as error:
        report.errors.append(f"{'writer' if writes else 'reader'} {who}, turn {turn}: {type(error).__name__}: {error}")
    library.close()
    reports.put(report)


def run(url: str, seconds: float, writers: int, readers: int, *, processes: bool = True) -> dict[str, Any]:
    """Return the operations of each kind, the slowest of each, and all errors; threads start faster than processes."""
    Library(url).close()
    context: Any = multiprocessing.get_context("spawn") if processes else threading
    reports: Any = context.Queue() if processes else queue.Queue()
    ready = context.Barrier(writers + readers)
    make = context.Process if processes else threading.Thread
    crowd = [
        make(target=work, args=(url, who, who < writers, seconds, ready, reports)) for who in range(writers + readers)
    ]
    for one in crowd:
        one.start()
    received = [reports.get(timeout=START_S + seconds + 120) for _ in crowd]
    for one in crowd:
        one.join()
    kinds = sorted({kind for one in received for kind in one.counts})
    return {
        "seconds": seconds,
        "writers": writers,
        "readers": readers,
        "operations": {kind: sum(one.counts.get(kind, 0) for one in received) for kind in kinds},
        "slowest_ms": {kind: round(max(one.slowest.get(kind, 0.0) for one in received)) for kind in kinds},
        "errors": [error for one in received for error in one.errors],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--readers", type=int, default=8)
    options = parser.parse_args()
    figures = run(options.url, options.seconds, options.writers, options.readers)
    print(json.dumps(figures, indent=2))
    sys.exit(bool(figures["errors"]))
