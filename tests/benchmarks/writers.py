"""python -m tests.benchmarks.writers URL --seconds 60: writers and readers on one database at once, each a process.

A writer keeps documents and answers, describes and removes; a reader lists, searches conditions and reads what is
there.  Each answer that is read must be whole, and each document must hold its text.  An error ends its process and is
told; figures are operations a second and the slowest of each kind.
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
START_S = 120.0  # within which all have begun
SENTENCE = "The heron number {0} stands in the reeds of turn {1}. "


@dataclass
class Told:
    """What one process did: how often each thing, the slowest in milliseconds, and what went wrong."""

    done: dict[str, int] = field(default_factory=dict)
    slowest: dict[str, float] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def call(self, what: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        found = work()
        self.done[what] = self.done.get(what, 0) + 1
        self.slowest[what] = max(self.slowest.get(what, 0.0), 1000 * (time.perf_counter() - start))
        return found


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


def write(library: Library, who: int, turn: int, told: Told) -> None:
    collection = library.create_collection(NAME)
    given, passages = document(turn % 25, turn, who)
    told.call("put", lambda: library.put_document(collection, given, f"{turn:064d}", passages))
    cited = answer(passages[turn % 20], turn)
    told.call("keep", lambda: library.save_answer(collection, cited))
    told.call("keep shared", lambda: library.save_answer(collection, answer(Passage("x", "A heron."), turn % 5)))
    said = Feedback(cited.id, cited.facts[0].id, "", Opinion.RIGHT, by=f"writer {who}")
    told.call("opinion", lambda: FeedbackStore(library).save(said))
    told.call("describe", lambda: library.describe([given.id], DetailsChange({"turn": turn}, [f"by {who}"])))
    if turn % 7 == 0:
        told.call("remove", lambda: library.remove_document(given.id))


def read(library: Library, who: int, _: int, told: Told) -> None:
    collection = library.create_collection(NAME)
    found = told.call("list", lambda: library.documents(collection))
    told.call("where", lambda: selected_documents(library, collection, (), [f"kind=text and title~heron or id={who}"]))
    for info in random.sample(found, min(3, len(found))):
        passages = told.call("passages", lambda i=info: library.passages([f"{i.id}:{n}" for n in range(20)]))
        if passages and len(passages) != 20:
            raise AssertionError(f"document {info.id} holds {len(passages)} of 20 passages")
    for info in told.call("answers", lambda: library.answers(collection, limit=5)):
        kept = told.call("answer", lambda i=info: library.answer(i.id))
        told.call("sources", lambda k=kept: library.cited_documents(k))


def work(url: str, who: int, writes: bool, seconds: float, ready: Any, told: Any) -> None:
    library, mine, turn = Library(url), Told(), who
    try:
        ready.wait(START_S)
        until = time.time() + seconds
        while time.time() < until:
            (write if writes else read)(library, who, turn, mine)
            turn += 1
    except Exception as error:
        mine.errors.append(f"{'writer' if writes else 'reader'} {who}, turn {turn}: {type(error).__name__}: {error}")
    library.close()
    told.put(mine)


def run(url: str, seconds: float, writers: int, readers: int, *, processes: bool = True) -> dict[str, Any]:
    """-> operations of each kind and the slowest of each, and every error; threads begin sooner than processes"""
    Library(url).close()
    context: Any = multiprocessing.get_context("spawn") if processes else threading
    told: Any = context.Queue() if processes else queue.Queue()
    ready = context.Barrier(writers + readers)
    make = context.Process if processes else threading.Thread
    crowd = [
        make(target=work, args=(url, who, who < writers, seconds, ready, told)) for who in range(writers + readers)
    ]
    for one in crowd:
        one.start()
    heard = [told.get(timeout=START_S + seconds + 120) for _ in crowd]
    for one in crowd:
        one.join()
    kinds = sorted({kind for one in heard for kind in one.done})
    return {
        "seconds": seconds,
        "writers": writers,
        "readers": readers,
        "operations": {kind: sum(one.done.get(kind, 0) for one in heard) for kind in kinds},
        "slowest_ms": {kind: round(max(one.slowest.get(kind, 0.0) for one in heard)) for kind in kinds},
        "errors": [error for one in heard for error in one.errors],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--readers", type=int, default=8)
    asked = parser.parse_args()
    figures = run(asked.url, asked.seconds, asked.writers, asked.readers)
    print(json.dumps(figures, indent=2))
    sys.exit(bool(figures["errors"]))
