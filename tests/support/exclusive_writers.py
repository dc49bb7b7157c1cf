"""python exclusive_writers.py DATA_DIR DATABASE JOURNAL ROUNDS: write again and again, as on a host of its own.

The lock file is removed before each attempt, so that each process locks a file of its own.  With 0 rounds the process
holds the right to write until it is killed.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from propcite.app.errors import InUseError
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

if __name__ == "__main__":
    parts = Parts(load_settings(data_dir=sys.argv[1], database=sys.argv[2]))
    workspace = parts.workspace(parts.library.collection("harbour"))
    journal = os.open(Path(sys.argv[3]), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    rounds = int(sys.argv[4])
    while not rounds:
        with workspace.write_lock():
            os.write(1, b"held\n")
            time.sleep(1000)
    os.write(1, b"ready\n")
    sys.stdin.readline()
    done = 0
    while done < rounds:
        (workspace.folder / "writer.lock").unlink(missing_ok=True)
        with suppress(InUseError), workspace.write_lock():
            os.write(journal, f"begin {os.getpid()}\n".encode())
            time.sleep(0.002)
            os.write(journal, f"end {os.getpid()}\n".encode())
            done += 1
