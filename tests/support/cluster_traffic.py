"""python cluster_traffic.py DATA_DIR ADDRESS FIRST: search over a cluster and ingest at once, until it is killed.

Prints `searched` after each search whose first hit is right, and `stored NUMBER` after each file that counts, with the
numbers from FIRST on; anything else is a fault.
"""

from __future__ import annotations

import sys
from itertools import count
from threading import Thread

from word_encoder import WordEncoder

from propcite.app.ingest.sources import Upload
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

QUERY, RIGHT = "The gate number 3 weighs", "The gate number 3 weighs 303 tonnes."


def text_of(number: int) -> str:
    return f"Crane {number} lifts {number + 2} tonnes."


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")  # one call, so that the lines of two threads stay whole
    sys.stdout.flush()


def search(parts: Parts) -> None:
    harbour = parts.library.collection("harbour")
    while True:
        found = parts.pipeline(harbour).search(QUERY, k=1)[0].passage.text
        say("searched" if found.startswith(RIGHT) else f"wrong: {found}")


def main() -> None:
    data_dir, address, first = sys.argv[1:]
    parts = Parts(load_settings(data_dir=data_dir, cluster=address, judge="none", splitter="rules"))
    parts.__dict__["encoder"] = WordEncoder()
    Thread(target=search, args=(parts,), daemon=True).start()
    harbour = parts.library.collection("harbour")
    for number in count(int(first)):
        (outcome,) = parts.ingester(harbour).ingest([Upload(f"{number}.txt", text_of(number).encode())])
        say(f"stored {number}" if outcome.state in ("added", "unchanged") else f"wrong: {outcome}")


if __name__ == "__main__":
    main()
