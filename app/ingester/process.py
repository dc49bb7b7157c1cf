"""python -m app.ingester.process WORDS MEGABYTES: reads pickled jobs on its standard input, writes what it read."""

from __future__ import annotations

import sys

from app.ingester.reading import read
from app.processes import answer_all
from retrieval.splitter import PassageSplitter


def main(words: str, megabytes: str) -> None:
    splitter = PassageSplitter(int(words))
    answer_all(lambda job: read(job, splitter), int(megabytes))


if __name__ == "__main__":
    main(*sys.argv[1:])
