"""`propcite train model`: one command from rows to a whole encoder, over any base, that can be resumed."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tiny_models as tiny
import torch
from commanded import Propcite
from quay_rows import write_question, write_rows

from propcite.app.lab.training import train_encoder, train_model, train_passages
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.trained_networks import load_with_markers
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity

BASES: dict[str, Callable[[Path], Path]] = {
    "BERT": lambda folder: tiny.save_backbone(folder, tiny.word_piece_tokenizer()),
    "ModernBERT": tiny.save_modern,
    "T5": tiny.save_t5,
}
FEW = {"steps": 2, "passage_steps": 2, "batch_size": 4}
TEXT = passage_from_text("p", "Quay 1 was built in 1901. It is 100 metres long.", "Quays")


def words(options: dict[str, int]) -> list[str]:
    return [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def model(rows: Path, out: Path, base: str = "", *, resume: bool = False, **options: int) -> dict[str, str]:
    return train_model([rows], out, base, "cpu", resume=resume, note=print, **{**FEW, **options})


def vectors(name: str | Path) -> np.ndarray:
    return Encoder(str(name), precision="float32").encode_passages([TEXT])[0].vectors


def test_one_command_trains_an_encoder_over_the_bundled_base(propcite: Propcite, tmp_path: Path) -> None:
    out = tmp_path / "made"
    arguments = [write_rows(tmp_path), "--asked", write_question(tmp_path), "--out", out, *words(FEW)]
    done = propcite("train", "model", *arguments)
    assert done.code == 0, done.err
    made = done.json
    assert made["trainings"] == 2
    assert vectors(made["model"]) == pytest.approx(vectors(made["passages"]), abs=2e-3)  # eight bits of the change
    each = [vectors(out / f"passages-{number}" / "model") for number in (1, 2)]
    assert np.abs(each[0] - each[1]).max() > 1e-5, "two seeds learn differently"
    whole, base = Encoder(made["model"], precision="float32"), Encoder("minilm", precision="float32")
    of_passages, of_base = (e.encode_queries(["How long is it?"])[0].vectors for e in (whole, base))
    assert of_passages == pytest.approx(of_base, abs=1e-5)
    by_file = Encoder(made["queries"], precision="float32")
    ours, separate = (e.encode_queries(["How long?"], Granularity.SENTENCE)[0].vectors for e in (whole, by_file))
    assert ours == pytest.approx(separate, abs=5e-3)
    again = propcite("train", "model", *arguments)
    assert again.code == 2
    assert "is not empty: go on with --resume" in again.err
    other = propcite("train", "model", *arguments, "--resume", "--seed", "4")
    assert other.code == 2
    assert "was started with a different seed" in other.err


@pytest.mark.parametrize("name", BASES)
def test_other_bases_are_trained_whole(name: str, tmp_path: Path) -> None:
    base = BASES[name](tmp_path / "base")
    made = model(write_rows(tmp_path), tmp_path / "made", str(base), trainings=1)
    assert "passages" not in made  # differences are written only for the bundled base
    assert np.abs(vectors(made["model"]) - vectors(base)).max() > 1e-6
    whole, plain = (Encoder(str(name), precision="float32") for name in (made["model"], base))
    query = "How long is quay 1?"
    assert whole.encode_queries([query])[0].vectors == pytest.approx(plain.encode_queries([query])[0].vectors, abs=1e-5)
    assert whole.knows(Granularity.SENTENCE)


def kill_when(condition: Callable[[], bool], *arguments: str) -> None:
    """Run the command and kill it, as by a power cut, as soon as the condition holds."""
    command = [sys.executable, "-m", "propcite", "train", "model", *arguments]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as running:
        until = time.monotonic() + 120
        while not condition() and running.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        running.kill()
    assert running.returncode == -signal.SIGKILL, "it ended before it was killed"


def test_a_killed_training_resumes_and_ends_like_an_uninterrupted_one(tmp_path: Path) -> None:
    """It is killed in each of its parts in turn, once with an incomplete folder."""
    base, rows, out = str(BASES["BERT"](tmp_path / "base")), write_rows(tmp_path), tmp_path / "made"
    some = {"steps": 150, "passage_steps": 100, "batch_size": 4}
    arguments = [str(rows), "--base", base, "--device", "cpu", "--out", str(out), *words(some)]
    kill_when((out / "work" / "checkpoint.pt").exists, *arguments)
    checkpoint = out / "work" / "passages.pt"
    kill_when(checkpoint.exists, *arguments, "--resume")
    (out / "passages-1" / "model").mkdir()
    kill_when(lambda: (out / "passages-2").exists() and checkpoint.exists(), *arguments, "--resume")
    made = model(rows, out, base, resume=True, **some)
    whole = model(rows, tmp_path / "whole", base, **some)
    assert vectors(made["model"]) == pytest.approx(vectors(whole["model"]), abs=1e-6)


def test_passages_over_another_base_need_its_queries(tmp_path: Path) -> None:
    rows, base, other = write_rows(tmp_path), BASES["BERT"](tmp_path / "base"), tmp_path / "other"
    few = {"resume": False, "note": print, "steps": 1, "batch_size": 4}
    with pytest.raises(PropCiteError, match=r"passages of .*base need queries over it: propcite train encoder"):
        train_passages([rows], tmp_path / "p", None, "", base=str(base), **few)
    made = train_encoder([rows], tmp_path / "q", None, str(base), "", **few)["model"]
    network = load_with_markers(str(base))
    with torch.no_grad():
        network.auto_model.get_input_embeddings().weight[7] += 1.0
    network.save(str(other))
    with pytest.raises(PropCiteError, match="reads passages with another network than this base"):
        train_passages([rows], tmp_path / "p", None, "", base=str(other), start=Path(made), **few)
    with pytest.raises(PropCiteError, match=r"has no network for sentences: give the folder model"):
        train_passages([rows], tmp_path / "p", None, "", base=str(base), start=base, **few)
    small = train_encoder([rows], tmp_path / "s", None, str(base), "", **few, dimension=8)["model"]
    with pytest.raises(PropCiteError, match="has a projection, under which passages cannot be trained"):
        train_passages([rows], tmp_path / "p", None, "", base=str(base), start=Path(small), **few)


def test_models_with_different_queries_are_not_averaged(propcite: Propcite, tmp_path: Path) -> None:
    rows, base = write_rows(tmp_path), str(BASES["BERT"](tmp_path / "base"))
    few = {"resume": False, "note": print, "steps": 1, "batch_size": 4}
    folders = []
    for seed, over in ((0, base), (1, base), (0, str(BASES["ModernBERT"](tmp_path / "modern")))):
        at = len(folders)
        start = Path(train_encoder([rows], tmp_path / f"q{at}", None, over, "", seed=seed, **few)["model"])
        made = train_passages([rows], tmp_path / f"p{at}", None, "", base=over, start=start, seed=seed, **few)
        folders.append(made["model"])
    for other in folders[1:]:  # with the queries of another training, and over another base
        mean = propcite("train", "mean", folders[0], other, "--out", tmp_path / "mean")
        assert mean.code == 2
        assert "these models have different networks for queries" in mean.err
        assert not (tmp_path / "mean").exists()
    plain = propcite("train", "mean", base, "--out", tmp_path / "mean")
    assert "is not a model of propcite train passages" in plain.err
    one = propcite("train", "mean", folders[0], "--out", tmp_path / "mean")
    assert one.code == 0, one.err
    assert vectors(one.json["model"]) == pytest.approx(vectors(folders[0]), abs=1e-6)
