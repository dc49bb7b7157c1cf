"""python killed_ingests.py DATA_DIR FOLDER SEED: ingests the folder in processes that are killed, until one ends.

Each child says on a pipe when it has begun and after each file; it is killed some files and some milliseconds later.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

from word_encoder import WordEncoder

import propcite.app.ingest.run
from propcite.app.ingest.readers import document_from_bytes
from propcite.app.ingest.sources import gather
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.retrieval.splitter import PassageSplitter

propcite.app.ingest.run.TOGETHER = 2  # passages: a child is killed between many groups


def ingest(data_dir: str, folder: str, said: int) -> None:
    parts = Parts(load_settings(data_dir=data_dir))
    parts.__dict__["encoder"] = WordEncoder()
    files, _ = gather([Path(folder)])
    os.write(said, b".")
    for outcome in parts.ingester(parts.library.create_collection("letters")).ingest(files):
        if outcome.state != "unchanged":
            os.write(said, b".")


def run(data_dir: str, folder: str, chance: random.Random) -> bool:
    """One child; whether it was killed."""
    heard, said = os.pipe()
    child = os.fork()
    if child == 0:
        ingest(data_dir, folder, said)
        os._exit(0)
    os.close(said)
    for _ in range(chance.randint(0, 3)):
        if not os.read(heard, 1):
            break
    time.sleep(chance.uniform(0, 0.015))
    os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    os.close(heard)
    return os.WIFSIGNALED(status)


def warm_up(folder: str) -> None:
    """What a child would import is imported here, once."""
    os.fsync = lambda fd: None  # noqa: ARG005 - a killed process loses nothing that it wrote, the disk is not asked
    file = gather([Path(folder)])[0][0]
    PassageSplitter(100).split(document_from_bytes(file.name, file.read(2**20), file.place))


if __name__ == "__main__":
    warm_up(sys.argv[2])
    chance = random.Random(sys.argv[3])
    killed = 0
    while run(sys.argv[1], sys.argv[2], chance):
        killed += 1
    sys.stdout.write(f"{killed}\n")
