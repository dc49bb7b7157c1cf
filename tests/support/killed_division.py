"""Divides an index and kills itself on the way: python killed_division.py DATA_DIR NUMBER STEP

STEP is `write_merged` (as the second shard begins), `put_shards` (all are written), `remove_leftovers` (they count).
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from propcite.app.library.shards import Shards
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.sharding import resharding


def main(data_dir: str, number: int, step: str) -> None:
    place: Any = TokenIndex if step == "write_merged" else resharding
    real, left = getattr(place, step), [1 if step == "write_merged" else 0]

    def run_or_die(*arguments: Any, **options: Any) -> Any:
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        return real(*arguments, **options)

    setattr(place, step, run_or_die)
    parts = Parts(load_settings(data_dir=data_dir))
    (collection,) = parts.library.collections()
    Shards(parts.workspace(collection)).divide(number)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
