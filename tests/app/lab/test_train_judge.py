"""`propcite train judge`: from rows and WordNet's files to weights that the judge loads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from propcite.app.lab.commands.training import train_cli
from propcite.app.lab.training import train_judge
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import Case
from propcite.attribution.judges.cross import CrossJudge
from propcite.attribution.judges.training.corpus import is_held_out
from propcite.retrieval.encoding.encoder import Encoder


def rows(folder: Path) -> Path:
    lines = [
        {"source": "fool_me_twice", "kind": "claim", "query": f"The river {i} is {'long' if i % 2 else 'dry'}.",
         "title": f"River {i}", "sentences": [f"River {i} is a long river.", "It is cold in winter there."],
         "positive_sentence_ids": [0], "label": "SUPPORTS" if i % 2 else "REFUTES"}
        for i in range(20)
    ]  # fmt: skip
    path = folder / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    assert {row["label"] for row in lines if is_held_out(row)} == {"SUPPORTS", "REFUTES"}
    return path


@pytest.fixture
def words(tmp_path: Path) -> Path:
    folder = tmp_path / "words"
    folder.mkdir()
    for name in ("index.sense", "data.noun", "data.verb", "data.adj"):
        (folder / name).write_text("")
    return folder


def test_rows_become_weights_that_the_judge_loads(tmp_path: Path, words: Path, encoder: Encoder) -> None:
    out, work = tmp_path / "judge.safetensors", tmp_path / "work"
    notes: list[str] = []
    info = train_judge([rows(tmp_path)], words, out, work, resume=False, note=notes.append, steps=1, batch_size=2)
    assert info["weights"] == str(out)
    assert info["recipe"]["steps"] == 1
    assert not list(work.glob("judge.pt"))
    assert "pairs" in notes[0]
    verdict = CrossJudge(encoder, weights=out).judge([Case("Rivers are long.", ("Rivers are long.",))])[0]
    assert 0 <= verdict.probability <= 1


@pytest.mark.parametrize(("resume", "reason"), [(False, "--resume"), (True, "cannot read")])
def test_an_unfinished_training_is_not_overwritten(tmp_path: Path, words: Path, resume: bool, reason: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "judge.pt").write_bytes(b"half")
    with pytest.raises(AttributionError, match=reason):
        train_judge([rows(tmp_path)], words, tmp_path / "j", work, resume=resume, note=lambda _: None, steps=1)


def test_the_command_names_its_options() -> None:
    shown = CliRunner().invoke(train_cli, ["judge", "--help"], env={"COLUMNS": "120"})
    assert shown.exit_code == 0
    assert all(option in shown.output for option in ("--words", "--out", "--work", "--resume"))
