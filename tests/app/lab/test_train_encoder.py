"""`propcite train encoder` as a person runs it: rows in, a model that the settings take out; old work is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from quay_rows import propcite, rows_file

from propcite.app.lab.training import train_encoder
from propcite.retrieval.encoding.checkpoints import QUERIES, bundled_model
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.salience import Salience
from propcite.retrieval.encoding.trained_networks import tensors_of, with_markers, write
from propcite.retrieval.errors import EncoderError, PropCiteError, RetrievalError
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity

OPTIONS = {"steps": 2, "batch_size": 3, "learning_rate": 1e-4}


def test_rows_become_a_model_that_the_settings_take(tmp_path: Path) -> None:
    few = ["--steps", "2", "--batch-size", "3"]
    done = propcite("train", "encoder", str(rows_file(tmp_path)), "--out", str(tmp_path / "made"), *few)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["steps"] == 2
    assert Path(made["difference"]).stat().st_size < 25 * 2**20
    line = json.dumps({"query": "How long is it?", "sentences": ["It is long.", "It is blue."]})
    for encoder in (made["model"], made["difference"]):
        ranked = propcite("rank", encoder=encoder, given=line)
        long, blue = json.loads(ranked.stdout)["scores"]
        assert long > blue


def test_queries_taught_further_keep_the_index_and_those_from_the_base_that_of_the_base(tmp_path: Path) -> None:
    given = [rows_file(tmp_path)]
    ours = train_encoder(given, tmp_path / "ours", None, "", "", resume=False, note=print, **OPTIONS)
    bases = train_encoder(given, tmp_path / "bases", None, "minilm", "", resume=False, note=print, **OPTIONS)
    usual, base = Encoder(precision="float32"), Encoder("minilm", precision="float32")
    taught, fresh = (Encoder(told["difference"], precision="float32") for told in (ours, bases))
    assert (taught.name, fresh.name) == (usual.name, base.name)
    assert len({usual.query_name, taught.query_name, fresh.query_name}) == 3
    asked = ["How long is quay 3?"]
    for level, alike in ((Granularity.PASSAGE, 1e-5), (Granularity.SENTENCE, 0.2)):
        mine, known = (e.encode_queries(asked, level)[0].vectors for e in (taught, usual))
        assert mine == pytest.approx(known, abs=alike)
    kept = Salience.of(tensors_of(Path(ours["difference"])))
    assert kept.head is not None  # what ours knew of passages' tokens stays
    passage = passage_from_text("p", "The quay is 300 metres long.", "Quays")
    whole = Encoder(ours["model"], precision="float32")  # a folder that other programs open too
    for encoder in (taught, whole):
        read = encoder.encode_passages([passage])[0].vectors
        assert read == pytest.approx(usual.encode_passages([passage])[0].vectors, abs=1e-5)


def test_queries_over_passages_that_are_not_here_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "queries.safetensors"
    base = with_markers(bundled_model()).auto_model.state_dict()
    write(path, base, base, Salience.of(tensors_of(QUERIES)), {"over": "propcite-minilm@000000000000"})
    with pytest.raises(EncoderError, match=r"asks passages that propcite-minilm@0{12} reads, here are those of .*anew"):
        Encoder(str(path))


def test_what_was_left_unfinished_is_not_begun_anew_unasked(tmp_path: Path) -> None:
    file, notes = rows_file(tmp_path), []
    folder = tmp_path / "work"
    train_encoder([file], tmp_path / "made", folder, "", "", resume=True, note=notes.append, **OPTIONS)
    assert any("holds no checkpoint: from the start" in note for note in notes)
    assert not (folder / "checkpoint.pt").exists()  # what is finished leaves none
    (folder / "checkpoint.pt").write_bytes(b"of an interrupted run")
    with pytest.raises(PropCiteError, match=r"unfinished training: go on with --resume"):
        train_encoder([file], tmp_path / "made", folder, "", "", resume=False, note=notes.append, **OPTIONS)
    with pytest.raises(RetrievalError, match=r"cannot be read .* without --resume"):
        train_encoder([file], tmp_path / "made", folder, "", "", resume=True, note=notes.append, **OPTIONS)


def test_files_that_teach_nothing_are_told(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"query": "q", "sentences": ["one"], "positive_sentence_ids": [0]}), "utf-8")
    with pytest.raises(RetrievalError, match="nothing to learn"):
        train_encoder([file], tmp_path / "made", None, "", "", resume=False, note=print, **OPTIONS)
