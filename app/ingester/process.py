"""python -m app.ingester.process WORDS MEGABYTES: reads pickled jobs on its standard input, writes what it read."""

from __future__ import annotations

import os
import pickle
import signal
import sys

from app.ingester.reading import read
from retrieval.splitter import PassageSplitter


def main(words: str, megabytes: str) -> None:
    """Ends when nobody asks any more.  What a library prints does not get between the answers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks decides what an interrupt means
    _limit(int(megabytes))
    splitter = PassageSplitter(int(words))
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        while True:
            try:
                job = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            pickle.dump(read(job, splitter), answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()


def _limit(megabytes: int) -> None:
    """A document that unpacks without end takes its reader along, not the machine."""
    try:
        import resource
    except ImportError:  # only Unix has limits of this kind
        return
    resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main(*sys.argv[1:])
