"""`propcite train model`: one command from rows to a whole encoder, of any base, that goes on where it stopped."""

from __future__ import annotations

import json
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
from quay_rows import propcite, rows_file

from propcite.app.lab.training import train_encoder, train_model, train_passages
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.trained_networks import with_markers
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


def test_one_command_makes_an_encoder_of_the_bundled_base(tmp_path: Path) -> None:
    asked, out = tmp_path / "asked.jsonl", tmp_path / "made"
    asked.write_text('{"query": "Where is it?", "title": "Quays", "text": "It is long. It lies in Cork."}', "utf-8")
    given = [str(rows_file(tmp_path)), "--asked", str(asked), "--out", str(out), *words(FEW)]
    done = propcite("train", "model", *given)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["trainings"] == 2
    assert vectors(made["model"]) == pytest.approx(vectors(made["passages"]), abs=2e-3)  # eight bits of the change
    each = [vectors(out / f"passages-{number}" / "model") for number in (1, 2)]
    assert np.abs(each[0] - each[1]).max() > 1e-5, "two seeds learn differently"
    whole, base = Encoder(made["model"], precision="float32"), Encoder("minilm", precision="float32")
    of_passages, of_base = (e.encode_queries(["How long is it?"])[0].vectors for e in (whole, base))
    assert of_passages == pytest.approx(of_base, abs=1e-5)
    by_file = Encoder(made["queries"], precision="float32")
    mine, known = (e.encode_queries(["How long?"], Granularity.SENTENCE)[0].vectors for e in (whole, by_file))
    assert mine == pytest.approx(known, abs=5e-3)
    again = propcite("train", "model", *given)
    assert again.returncode == 2
    assert "is not empty: go on with --resume" in again.stderr
    other = propcite("train", "model", *given, "--resume", "--seed", "4")
    assert other.returncode == 2
    assert "was begun with another seed" in other.stderr


@pytest.mark.parametrize("name", BASES)
def test_other_bases_are_trained_whole(name: str, tmp_path: Path) -> None:
    base = BASES[name](tmp_path / "base")
    made = model(rows_file(tmp_path), tmp_path / "made", str(base), trainings=1)
    assert "passages" not in made  # differences are of the bundled base alone
    assert np.abs(vectors(made["model"]) - vectors(base)).max() > 1e-6
    whole, plain = (Encoder(str(name), precision="float32") for name in (made["model"], base))
    query = "How long is quay 1?"
    assert whole.encode_queries([query])[0].vectors == pytest.approx(plain.encode_queries([query])[0].vectors, abs=1e-5)
    assert whole.knows(Granularity.SENTENCE)


def stopped_at(sign: Callable[[], bool], *given: str) -> None:
    """The command, killed as by a power cut as soon as the sign is seen."""
    command = [sys.executable, "-m", "propcite", "train", "model", *given]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as running:
        until = time.monotonic() + 120
        while not sign() and running.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        running.kill()
    assert running.returncode == -signal.SIGKILL, "it had ended before it was killed"


def test_what_was_killed_goes_on_and_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    """Killed in each of its parts one after the other, once with a folder half written."""
    base, rows, out = str(BASES["BERT"](tmp_path / "base")), rows_file(tmp_path), tmp_path / "made"
    some = {"steps": 300, "passage_steps": 200, "batch_size": 4}
    given = [str(rows), "--base", base, "--device", "cpu", "--out", str(out), *words(some)]
    stopped_at((out / "work" / "checkpoint.pt").exists, *given)
    kept = out / "work" / "passages.pt"
    stopped_at(kept.exists, *given, "--resume")
    (out / "passages-1" / "model").mkdir()
    stopped_at(lambda: (out / "passages-2").exists() and kept.exists(), *given, "--resume")
    made = model(rows, out, base, resume=True, **some)
    whole = model(rows, tmp_path / "whole", base, **some)
    assert vectors(made["model"]) == pytest.approx(vectors(whole["model"]), abs=1e-6)


def test_passages_of_another_base_need_its_queries(tmp_path: Path) -> None:
    rows, base, other = rows_file(tmp_path), BASES["BERT"](tmp_path / "base"), tmp_path / "other"
    few = {"resume": False, "note": print, "steps": 1, "batch_size": 4}
    with pytest.raises(PropCiteError, match=r"passages of .*base need queries over it: propcite train encoder"):
        train_passages([rows], tmp_path / "p", None, "", base=str(base), **few)
    made = train_encoder([rows], tmp_path / "q", None, str(base), "", **few)["model"]
    network = with_markers(str(base))
    with torch.no_grad():
        network.auto_model.get_input_embeddings().weight[7] += 1.0
    network.save(str(other))
    with pytest.raises(PropCiteError, match="reads passages otherwise than this base"):
        train_passages([rows], tmp_path / "p", None, "", base=str(other), start=Path(made), **few)
    with pytest.raises(PropCiteError, match=r"has no network for sentences: give the folder model"):
        train_passages([rows], tmp_path / "p", None, "", base=str(base), start=base, **few)
    small = train_encoder([rows], tmp_path / "s", None, str(base), "", **few, dimension=8)["model"]
    with pytest.raises(PropCiteError, match="has a projection, under which passages are not trained"):
        train_passages([rows], tmp_path / "p", None, "", base=str(base), start=Path(small), **few)


def test_models_that_ask_otherwise_have_no_mean(tmp_path: Path) -> None:
    rows, base = rows_file(tmp_path), str(BASES["BERT"](tmp_path / "base"))
    few = {"resume": False, "note": print, "steps": 1, "batch_size": 4}
    folders = []
    for seed, over in ((0, base), (1, base), (0, str(BASES["ModernBERT"](tmp_path / "modern")))):
        at = len(folders)
        start = Path(train_encoder([rows], tmp_path / f"q{at}", None, over, "", seed=seed, **few)["model"])
        made = train_passages([rows], tmp_path / f"p{at}", None, "", base=over, start=start, seed=seed, **few)
        folders.append(made["model"])
    for other in folders[1:]:  # asked by another training's queries, and of another base
        mean = propcite("train", "mean", folders[0], other, "--out", str(tmp_path / "mean"))
        assert mean.returncode == 2
        assert "these models ask by different networks" in mean.stderr
        assert not (tmp_path / "mean").exists()
    plain = propcite("train", "mean", base, "--out", str(tmp_path / "mean"))
    assert "is no model of propcite train passages" in plain.stderr
    one = propcite("train", "mean", folders[0], "--out", str(tmp_path / "mean"))
    assert one.returncode == 0, one.stderr
    assert vectors(json.loads(one.stdout)["model"]) == pytest.approx(vectors(folders[0]), abs=1e-6)
