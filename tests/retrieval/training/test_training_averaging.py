"""The mean of several trainings: half way between two files, and nothing that does not belong together."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from propcite.retrieval.encoding.checkpoints import QUERIES, bundled_model
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.salience import Salience
from propcite.retrieval.encoding.trained_networks import about, apply_difference, tensors_of, with_markers, write
from propcite.retrieval.errors import PropCiteError, RetrievalError
from propcite.retrieval.text import Granularity
from propcite.retrieval.training.averaging import average

CHANGED = "encoder.layer.5.output.dense.weight"


def trained(path: Path, change: float, reads: str = "passages") -> Path:
    base = {name: t.clone() for name, t in with_markers(bundled_model()).auto_model.state_dict().items()}
    write(path, base, base | {CHANGED: base[CHANGED] + change}, None, {"reads": reads, "recipe": {"seed": change}})
    return path


def changed(path: Path) -> torch.Tensor:
    network = with_markers(bundled_model()).auto_model
    before = network.state_dict()[CHANGED].clone()
    apply_difference(network, tensors_of(path), path)
    return network.state_dict()[CHANGED] - before


def test_each_file_counts_alike_and_a_share_is_kept(tmp_path: Path) -> None:
    files = [trained(tmp_path / f"{change}.safetensors", change) for change in (0.01, 0.03)]
    out = tmp_path / "new" / "mean.safetensors"
    told = average(files, out, share=0.5)
    assert changed(out).numpy() == pytest.approx(0.01, abs=2e-4)  # half of .02
    assert told == about(out)
    assert told["reads"] == "passages"
    assert told["recipe"] == {"share": 0.5, "mean_of": [{"seed": 0.01}, {"seed": 0.03}]}


def test_the_mean_of_one_and_the_same_queries_asks_as_they_do(tmp_path: Path) -> None:
    out = tmp_path / "mean.safetensors"
    average([QUERIES, QUERIES], out)
    ours, theirs = (Encoder(name, precision="float32") for name in (str(out), "propcite-queries"))
    mine, asked = (e.encode_queries(["How high is it?"], Granularity.SENTENCE)[0] for e in (ours, theirs))
    assert mine.vectors == pytest.approx(asked.vectors, abs=0.02)  # eight bits are rounded once more
    kept, known = Salience.of(tensors_of(out)), Salience.of(tensors_of(QUERIES))
    assert kept.direction == pytest.approx(known.direction, abs=1e-6)
    assert kept.head is not None


def test_files_of_two_kinds_and_other_files_are_one_clear_line(tmp_path: Path) -> None:
    passages = trained(tmp_path / "a.safetensors", 0.01)
    with pytest.raises(RetrievalError, match="some of these files read passages and some queries"):
        average([passages, QUERIES], tmp_path / "out.safetensors")
    base = with_markers(bundled_model()).auto_model.state_dict()
    write(tmp_path / "q.safetensors", base, base, Salience.of(tensors_of(QUERIES)), {"over": "propcite-minilm@1"})
    with pytest.raises(RetrievalError, match=r"ask passages of all-MiniLM-L6-v2@.* and of propcite-minilm@1"):
        average([QUERIES, tmp_path / "q.safetensors"], tmp_path / "out.safetensors")
    (tmp_path / "b.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(PropCiteError, match=r"b\.safetensors is damaged or missing"):
        average([passages, tmp_path / "b.safetensors"], tmp_path / "out.safetensors")
    assert not (tmp_path / "out.safetensors").exists()
