"""A writer that is killed at any moment loses nothing that it said was saved."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from paths import SUPPORT

KILLS = 100


def test_a_hundred_kills_lose_no_saved_passage_and_bring_no_deleted_one_back(tmp_path: Path) -> None:
    """Each is followed by opening, checking every file, searching for every passage, and saving."""
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
    assert counts["while saving"] > KILLS // 4  # moments that matter
    assert counts["with files left over"] > KILLS // 10
    assert counts["tokens"] > KILLS // 10  # centroids and codes were written, killed and read
