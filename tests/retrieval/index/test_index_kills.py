"""A writer that is killed at any moment loses no saved change."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from paths import SUPPORT

KILLS = 100


def test_a_hundred_kills_lose_no_saved_passage_and_restore_no_deleted_one(tmp_path: Path) -> None:
    """After each kill the index is opened, all files are checked, every passage is searched for, and it is saved."""
    script = SUPPORT / "killed_writers.py"
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, script, tmp_path, str(KILLS)],
        env=env,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    counts = json.loads((tmp_path / "counts.json").read_text())
    assert counts["kills"] == KILLS
    assert counts["while saving"] > KILLS // 4
    assert counts["with files left over"] > KILLS // 10
    assert counts["tokens"] > KILLS // 10  # centroids and codes were written, interrupted and read
