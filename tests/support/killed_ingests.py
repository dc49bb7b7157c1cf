"""python killed_ingests.py DATA_DIR FOLDER SEED: ingest the folder in processes that are killed, until one ends.

Each child writes to a pipe when it begins and after each file.  It is killed some files and milliseconds later.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import torch
from word_encoder import WordEncoder

import propcite.app.ingest.group
from propcite.app.ingest.sources import gather
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

propcite.app.ingest.group.GROUP_PASSAGES = 2  # small groups: children are killed between many of them


def ingest(data_dir: str, folder: str, pipe: int) -> None:
    parts = Parts(load_settings(data_dir=data_dir))
    parts.__dict__["encoder"] = WordEncoder()
    files, _ = gather([Path(folder)])
    os.write(pipe, b".")
    for outcome in parts.ingester(parts.library.create_collection("letters")).ingest(files):
        if outcome.state != "unchanged":
            os.write(pipe, b".")


def run(data_dir: str, folder: str, chance: random.Random) -> bool:
    """Run one child and return whether it was killed."""
    reading_end, writing_end = os.pipe()
    child = os.fork()
    if child == 0:
        ingest(data_dir, folder, writing_end)
        os._exit(0)
    os.close(writing_end)
    for _ in range(chance.randint(0, 3)):
        if not os.read(reading_end, 1):
            break
    time.sleep(chance.uniform(0, 0.015))
    os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    os.close(reading_end)
    return os.WIFSIGNALED(status)


def warm_up(folder: str) -> None:
    """Ingest elsewhere, so that what the children need is imported here, once."""
    os.fsync = lambda fd: None  # noqa: ARG005 - after a kill, unlike a power cut, written data is safe without it
    torch.set_num_threads(1)  # a fork copies no thread
    with tempfile.TemporaryDirectory() as elsewhere:
        parts = Parts(load_settings(data_dir=elsewhere))
        parts.__dict__["encoder"] = WordEncoder()
        files, _ = gather([Path(folder)])
        list(parts.ingester(parts.library.create_collection("letters")).ingest(files[:1]))
        parts.library.close()
    assert threading.active_count() == 1


if __name__ == "__main__":
    warm_up(sys.argv[2])
    chance = random.Random(sys.argv[3])
    killed = 0
    while run(sys.argv[1], sys.argv[2], chance):
        killed += 1
    sys.stdout.write(f"{killed}\n")
