"""`propcite train passages` as a person runs it: what it makes is named in the settings and has an index of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from quay_rows import propcite, rows_file

from propcite.app.lab.training import train_passages
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.trained_networks import about
from propcite.retrieval.errors import PropCiteError


def test_passages_learn_and_an_index_of_before_is_not_searched_with_them(tmp_path: Path) -> None:
    few = ["--steps", "2", "--batch-size", "4"]
    done = propcite("train", "passages", str(rows_file(tmp_path)), "--out", str(tmp_path / "made"), *few)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert Path(made["difference"]).stat().st_size < 6 * 2**20
    folder, small = (Encoder(made[name], precision="float32") for name in ("model", "difference"))
    usual = Encoder(precision="float32")
    assert len({folder.name, small.name, usual.name}) == 3
    asked = usual.encode_queries(["How long is it?"])[0].vectors
    for encoder in (folder, small):
        assert encoder.encode_queries(["How long is it?"])[0].vectors == pytest.approx(asked, abs=1e-5)

    page, ours = tmp_path / "quays.txt", {"encoder": made["difference"], "data_dir": str(tmp_path / "data")}
    page.write_text("Quay 1 was built in 1901. It is 100 metres long.", "utf-8")
    assert propcite("ingest", str(page), data_dir=ours["data_dir"]).returncode == 0
    refused = propcite("search", "How long is quay 1?", **ours)
    assert refused.returncode == 2
    assert "run propcite reindex" in refused.stderr
    assert propcite("reindex", **ours).returncode == 0
    found = propcite("search", "How long is quay 1?", "-g", "sentence", "--json", **ours)
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


def test_a_teacher_tells_of_rows_and_of_questions_without_labels(tmp_path: Path) -> None:
    rows, teacher, asked = str(rows_file(tmp_path)), str(tmp_path / "teacher"), tmp_path / "asked.jsonl"
    few = ["--steps", "2", "--batch-size", "2"]
    assert propcite("train", "teacher", rows, "--kind", "joint", "--out", teacher, *few).returncode == 0
    asked.write_text('{"query": "Where is it?", "title": "Quays", "text": "It is long. It lies in Cork."}', "utf-8")
    more = ["--asked", str(asked), "--teacher", teacher, "--together", "1"]
    done = propcite("train", "passages", rows, "--out", str(tmp_path / "made"), *few, *more)
    assert done.returncode == 0, done.stderr
    recipe = about(Path(json.loads(done.stdout)["difference"]))["recipe"]
    assert (recipe["together"], recipe["taught"]) == (1, 0.5)
    refused = propcite("train", "passages", rows, "--teacher", str(tmp_path), "--out", str(tmp_path / "none"))
    assert refused.returncode == 2
    assert "holds no teacher" in refused.stderr
