"""Rebuilds an index and kills itself on the way: python killed_reindex.py DATA_DIR BATCHES LINKS

BATCHES of passages are encoded and LINKS files moved before it kills itself; -1 for never.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from word_encoder import WordEncoder

from propcite.app.library import workspace
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.index import snapshot
from propcite.retrieval.text import Passage


class Countdown:
    def __init__(self, left: int) -> None:
        self.left = left

    def count(self) -> None:
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1


class KillingEncoder(WordEncoder):
    def __init__(self, batches: int) -> None:
        self.countdown = Countdown(batches)

    def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
        self.countdown.count()
        return super().encode_passages(passages)


def main(data_dir: str, batches: int, links: int) -> None:
    countdown, link = Countdown(links), snapshot.link

    def link_or_die(path: Path, new: Path) -> None:
        countdown.count()
        link(path, new)

    snapshot.link, workspace.BATCH = link_or_die, 2
    parts = Parts(load_settings(data_dir=data_dir))
    (collection,) = parts.library.collections()
    parts.workspace(collection).rebuild(KillingEncoder(batches))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
