"""`propcite train encoder`: from rows to a model that the settings take; unfinished trainings are not overwritten."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tiny_models as tiny
from quay_rows import train, write_rows

from propcite.app.building import build_encoder
from propcite.app.commands import rank_lines
from propcite.app.lab.training import train_encoder
from propcite.app.settings import load_settings
from propcite.retrieval.encoding.bundled import QUERIES_FILE, bundled_model
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.salience import Salience
from propcite.retrieval.encoding.trained_networks import load_tensors, load_with_markers, write_network
from propcite.retrieval.errors import EncoderError, PropCiteError, RetrievalError
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity

OPTIONS = {"steps": 2, "batch_size": 3, "learning_rate": 1e-4}
WORDS = ("--steps", "2", "--batch-size", "3", "--learning-rate", "1e-4")


@pytest.fixture
def base(tmp_path: Path) -> str:
    return str(tiny.save_backbone(tmp_path / "base", tiny.word_piece_tokenizer()))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Our queries, trained further."""
    folder = tmp_path_factory.mktemp("ours")
    return train("encoder", write_rows(folder), "--out", folder / "made", *WORDS)


def test_rows_become_a_model_that_the_settings_take(trained: dict[str, Any]) -> None:
    assert trained["steps"] == 2
    assert Path(trained["difference"]).stat().st_size < 25 * 2**20
    line: Any = {"query": "How long is it?", "sentences": ["It is long.", "It is blue."]}
    for name in (trained["model"], trained["difference"]):
        (ranked,) = rank_lines.rank(build_encoder(load_settings(encoder=name)), [line])
        long, blue = ranked["scores"]
        assert long > blue


def test_queries_trained_further_keep_the_index_and_queries_from_the_base_fit_the_bases_index(
    trained: dict[str, Any], tmp_path: Path
) -> None:
    bases = train("encoder", write_rows(tmp_path), "--out", tmp_path / "bases", "--base", "minilm", *WORDS)
    default, base = Encoder(precision="float32"), Encoder("minilm", precision="float32")
    further, fresh = (Encoder(paths["difference"], precision="float32") for paths in (trained, bases))
    assert (further.name, fresh.name) == (default.name, base.name)
    assert len({default.query_name, further.query_name, fresh.query_name}) == 3
    query = ["How long is quay 3?"]
    for level, tolerance in ((Granularity.PASSAGE, 1e-5), (Granularity.SENTENCE, 0.2)):
        ours, shipped = (e.encode_queries(query, level)[0].vectors for e in (further, default))
        assert ours == pytest.approx(shipped, abs=tolerance)
    salience = Salience.from_tensors(load_tensors(Path(trained["difference"])))
    assert salience.head is not None  # the shipped salience of passage tokens is not lost
    passage = passage_from_text("p", "The quay is 300 metres long.", "Quays")
    folder = Encoder(trained["model"], precision="float32")  # which other programs can open too
    for encoder in (further, folder):
        vectors = encoder.encode_passages([passage])[0].vectors
        assert vectors == pytest.approx(default.encode_passages([passage])[0].vectors, abs=1e-5)


def test_queries_for_other_passages_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "queries.safetensors"
    base = load_with_markers(bundled_model()).auto_model.state_dict()
    salience = Salience.from_tensors(load_tensors(QUERIES_FILE))
    write_network(path, base, base, salience, {"over": "propcite-minilm@000000000000"})
    with pytest.raises(EncoderError, match=r"passages of propcite-minilm@0{12}, here are those of .*: train it again"):
        Encoder(str(path))


def test_an_unfinished_training_is_not_overwritten(base: str, tmp_path: Path) -> None:
    file, work, notes = write_rows(tmp_path), tmp_path / "work", []

    def run(*, resume: bool) -> None:
        train_encoder([file], tmp_path / "made", work, base, "", resume=resume, note=notes.append, **OPTIONS)

    run(resume=True)
    assert any("has no checkpoint: starting at step 1" in note for note in notes)
    assert not (work / "checkpoint.pt").exists()  # removed at the end
    (work / "checkpoint.pt").write_bytes(b"of an interrupted run")
    with pytest.raises(PropCiteError, match=r"unfinished training: go on with --resume"):
        run(resume=False)
    with pytest.raises(RetrievalError, match=r"cannot read .* without --resume"):
        run(resume=True)


def test_files_without_anything_to_learn_are_an_error(base: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"query": "q", "sentences": ["one"], "positive_sentence_ids": [0]}), "utf-8")
    with pytest.raises(RetrievalError, match="nothing to learn"):
        train_encoder([file], tmp_path / "made", None, base, "", resume=False, note=print, **OPTIONS)


def test_an_alignment_is_an_option(tmp_path: Path, base: str) -> None:
    def weights(name: str, *options: str) -> list[bytes]:
        made = train("encoder", write_rows(tmp_path), "--out", tmp_path / name, "--base", base, *WORDS, *options)
        return [path.read_bytes() for path in sorted(Path(made["model"]).glob("**/*.safetensors"))]

    nearest = weights("nearest")
    assert nearest == weights("again", "--alignment", "top-k=1")
    assert nearest != weights("aligned", "--alignment", "top-k=2")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"alignment": "exact"}, "not trained by the alignment exact: give top-k, top-p, da"),
        ({"alignment": "top-k=2+salience"}, r"not trained by the alignment top-k=2\+salience"),
        ({"alignment": "top-k=4", "k_train": 8}, "--alignment top-k=4 is trained alone"),
        ({"alignment": "most"}, "most"),
    ],
)
def test_an_alignment_that_is_not_trained_is_an_error(
    base: str, tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(PropCiteError, match=said):
        train_encoder(
            [write_rows(tmp_path)], tmp_path / "out", None, base, "cpu", resume=False, note=print, **OPTIONS, **options
        )
