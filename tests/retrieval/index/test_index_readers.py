"""Readers in other processes see complete versions of an index while it is being changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from paths import SUPPORT

SECONDS = 60 if os.environ.get("PROPCITE_LONG_TESTS") else 5


def test_four_readers_see_complete_versions_in_order_while_a_writer_changes_everything(tmp_path: Path) -> None:
    script = SUPPORT / "busy_readers.py"
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, script, tmp_path, str(SECONDS)],
        env=env,
        capture_output=True,
        text=True,
        timeout=SECONDS + 300,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    counts = json.loads((tmp_path / "counts.json").read_text())
    assert counts["written"] > 2 * SECONDS
    assert len(counts["seen"]) == 4
    assert min(counts["seen"]) > SECONDS
