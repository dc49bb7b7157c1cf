"""`propcite train passages` as a person runs it: what it makes is named in the settings and has an index of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.training import train_passages
from retrieval.encoder import Encoder
from retrieval.errors import PropCiteError

ROOT = Path(__file__).parents[2]


def rows_file(folder: Path) -> Path:
    file = folder / "rows.jsonl"
    rows = [
        {
            "query": f"How long is quay {number}?",
            "title": "Quays",
            "sentences": [f"Quay {number} was built in 19{number:02}.", f"It is {number}00 metres long."],
            "positive_sentence_ids": [1],
            "source": "quays",
        }
        for number in range(1, 7)
    ]
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return file


def propcite(folder: Path, *words: str, encoder: str = "") -> subprocess.CompletedProcess[str]:
    settings = {"PROPCITE_DATA_DIR": str(folder / "data"), **({"PROPCITE_ENCODER": encoder} if encoder else {})}
    return subprocess.run(
        [sys.executable, "-m", "app.cli", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT), **settings},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_passages_learn_and_an_index_of_before_is_not_searched_with_them(tmp_path: Path) -> None:
    few = ["--steps", "2", "--batch-size", "4"]
    done = propcite(tmp_path, "train", "passages", str(rows_file(tmp_path)), "--out", str(tmp_path / "made"), *few)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert Path(made["difference"]).stat().st_size < 6 * 2**20
    folder, small = (Encoder(made[name], precision="float32") for name in ("model", "difference"))
    usual = Encoder(precision="float32")
    assert len({folder.name, small.name, usual.name}) == 3
    asked = usual.encode_queries(["How long is it?"])[0].vectors
    for encoder in (folder, small):
        assert encoder.encode_queries(["How long is it?"])[0].vectors == pytest.approx(asked, abs=1e-5)

    page = tmp_path / "quays.txt"
    page.write_text("Quay 1 was built in 1901. It is 100 metres long.", "utf-8")
    assert propcite(tmp_path, "ingest", str(page)).returncode == 0
    refused = propcite(tmp_path, "search", "How long is quay 1?", encoder=made["difference"])
    assert refused.returncode == 2
    assert "run propcite reindex" in refused.stderr
    assert propcite(tmp_path, "reindex", encoder=made["difference"]).returncode == 0
    found = propcite(tmp_path, "search", "How long is quay 1?", "-g", "sentence", "--json", encoder=made["difference"])
    assert found.returncode == 0
    assert "100 metres" in found.stdout


def test_an_unfinished_training_is_not_begun_anew_unasked(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "passages.pt").write_bytes(b"of an interrupted run")
    given = {"note": print, "steps": 1, "batch_size": 4}
    with pytest.raises(PropCiteError, match="unfinished training: go on with --resume"):
        train_passages([rows_file(tmp_path)], tmp_path / "made", folder, "", resume=False, **given)
    with pytest.raises(PropCiteError, match="cannot be read"):
        train_passages([rows_file(tmp_path)], tmp_path / "made", folder, "", resume=True, **given)
