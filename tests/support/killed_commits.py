"""python killed_commits.py DATA_DIR DATABASE: ingest in processes that kill themselves while their work is to count.

Each line of standard input is a step and a number: the files of that number are ingested by a process that dies at the
step.  `prepared` is before the transaction ends, `committed` after it, `promoting` after the first shard's rename.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn

from word_encoder import WordEncoder

import propcite.app.ingest.ingester  # noqa: F401 - here, so that no child has to
import propcite.retrieval.index.storage as storage
from propcite.app.ingest.sources import Upload
from propcite.app.library.store import Library
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.sharding.sharded_index import ShardedIndex

NEW = 4


def uploads(number: int) -> list[Upload]:
    """Return a file that each number changes, and some that it adds."""
    texts = {"timetable": f"The ferry leaves at {number} o'clock."}
    texts |= {f"{number}-{n}": f"The ferry number {n} of line {number} is blue." for n in range(NEW)}
    return [Upload(f"{name}.txt", text.encode()) for name, text in texts.items()]


def open_parts(data_dir: str, database: str) -> Parts:
    parts = Parts(load_settings(data_dir=data_dir, database=database, judge="none", splitter="rules"))
    parts.__dict__["encoder"] = WordEncoder()
    return parts


def die(*_: object, **__: object) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def die_at(step: str) -> None:
    rename = storage.promote

    def promote_and_die(*arguments: Any) -> NoReturn:
        rename(*arguments)
        die()

    if step == "prepared":
        Library.note_index_versions = die  # type: ignore[method-assign]
    elif step == "committed":
        TokenIndex.promote = ShardedIndex.promote = die  # type: ignore[method-assign]
    else:
        storage.promote = promote_and_die


def run(data_dir: str, database: str, step: str, number: int) -> None:
    if child := os.fork():
        status = os.waitpid(child, 0)[1]
        sys.stdout.write("killed\n" if os.WIFSIGNALED(status) else "ended\n")
        sys.stdout.flush()
        return
    parts = open_parts(data_dir, database)
    die_at(step)
    list(parts.ingester(parts.library.collection("harbour")).ingest(uploads(number)))
    os._exit(0)


if __name__ == "__main__":
    for line in sys.stdin:
        step, number = line.split()
        run(sys.argv[1], sys.argv[2], step, int(number))
