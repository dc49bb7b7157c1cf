"""Rows of ranked sentences for trainings, and `propcite train` inside this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from propcite.app.lab.commands.training import train_cli


def write_rows(folder: Path, count: int = 6) -> Path:
    file = folder / "rows.jsonl"
    rows = [
        {
            "query": f"How long is quay {number}?",
            "title": "Quays",
            "sentences": [f"Quay {number} was built in 19{number:02}.", f"It is {number}00 metres long."],
            "positive_sentence_ids": [1],
            "source": "quays",
        }
        for number in range(1, count + 1)
    ]
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return file


def write_question(folder: Path) -> Path:
    """Write a question without labels, for `--asked`."""
    file = folder / "asked.jsonl"
    file.write_text('{"query": "Where is it?", "title": "Quays", "text": "It is long. It lies in Cork."}', "utf-8")
    return file


def train(*words: object) -> dict[str, Any]:
    """Run `propcite train` and return its JSON; usable in fixtures of any scope."""
    result = CliRunner().invoke(train_cli, [*map(str, words)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    fields: dict[str, Any] = json.loads(result.stdout)
    return fields
