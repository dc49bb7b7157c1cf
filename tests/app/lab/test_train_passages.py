"""`propcite train passages`: the trained model is named in the settings and has an index of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiny_models as tiny
from commanded import Propcite
from quay_rows import train, write_question, write_rows

from propcite.app.lab.training import train_passages
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.trained_networks import network_info
from propcite.retrieval.errors import PropCiteError

FEW = ("--steps", "2", "--batch-size", "4")


def test_trained_passages_need_an_index_of_their_own(
    propcite: Propcite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = train("passages", write_rows(tmp_path), "--out", tmp_path / "made", *FEW)
    assert Path(paths["difference"]).stat().st_size < 6 * 2**20
    folder, small = (Encoder(paths[name], precision="float32") for name in ("model", "difference"))
    default = Encoder(precision="float32")
    assert len({folder.name, small.name, default.name}) == 3
    query = default.encode_queries(["How long is it?"])[0].vectors
    for trained in (folder, small):
        assert trained.encode_queries(["How long is it?"])[0].vectors == pytest.approx(query, abs=1e-5)

    page = tmp_path / "quays.txt"
    page.write_text("Quay 1 was built in 1901. It is 100 metres long.", "utf-8")
    assert propcite("ingest", page).code == 0
    monkeypatch.setenv("PROPCITE_ENCODER", paths["difference"])
    refused = propcite("search", "How long is quay 1?")
    assert refused.code == 2
    assert "run propcite reindex" in refused.err
    assert propcite("reindex").code == 0
    search = propcite("search", "How long is quay 1?", "-g", "sentence", "--json")
    assert search.code == 0
    assert "100 metres" in search.out


def test_an_unfinished_training_is_not_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "passages.pt").write_bytes(b"of an interrupted run")
    options = {"note": print, "steps": 1, "batch_size": 4}
    with pytest.raises(PropCiteError, match="unfinished training: go on with --resume"):
        train_passages([write_rows(tmp_path)], tmp_path / "made", folder, "", resume=False, **options)
    with pytest.raises(PropCiteError, match="cannot read"):
        train_passages([write_rows(tmp_path)], tmp_path / "made", folder, "", resume=True, **options)


def test_a_teacher_scores_rows_and_questions_without_labels(propcite: Propcite, tmp_path: Path) -> None:
    rows, teacher, questions = write_rows(tmp_path), tmp_path / "teacher", write_question(tmp_path)
    base = tiny.save_backbone(tmp_path / "base", tiny.word_piece_tokenizer())
    train("teacher", rows, "--kind", "joint", "--base", base, "--out", teacher, *FEW)
    more = ("--asked", questions, "--teacher", teacher, "--together", "1")
    paths = train("passages", rows, "--out", tmp_path / "made", *FEW, *more)
    recipe = network_info(Path(paths["difference"]))["recipe"]
    assert (recipe["together"], recipe["taught"]) == (1, 0.5)
    refused = propcite("train", "passages", rows, "--teacher", tmp_path, "--out", tmp_path / "none")
    assert refused.code == 2
    assert "cannot read a teacher from" in refused.err
