"""Rows of ranked sentences that trainings of the command line read, and the command as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def rows_file(folder: Path, most: int = 6) -> Path:
    file = folder / "rows.jsonl"
    rows = [
        {
            "query": f"How long is quay {number}?",
            "title": "Quays",
            "sentences": [f"Quay {number} was built in 19{number:02}.", f"It is {number}00 metres long."],
            "positive_sentence_ids": [1],
            "source": "quays",
        }
        for number in range(1, most + 1)
    ]
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return file


def propcite(*words: str, given: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
    """`data_dir` and such are PROPCITE_'s, an empty one is not told; what is given is standard input."""
    told = {f"PROPCITE_{name.upper()}": value for name, value in settings.items() if value}
    return subprocess.run(
        [sys.executable, "-m", "propcite", *words],
        env={**os.environ, **told},
        input=given,
        capture_output=True,
        text=True,
        timeout=300,
    )
