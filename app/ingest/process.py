"""python -m propcite.app.ingest.process WORDS MEGABYTES: read pickled jobs on standard input, write the documents."""

from __future__ import annotations

import sys

from propcite.app.ingest.reading import read
from propcite.app.processes import answer_all
from propcite.retrieval.splitter import PassageSplitter


def main(words: str, megabytes: str) -> None:
    splitter = PassageSplitter(int(words))
    answer_all(lambda job: read(job, splitter), int(megabytes))


if __name__ == "__main__":
    main(*sys.argv[1:])
