"""Averaging trainings: the mean of two files, and errors for files that do not belong together."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from propcite.retrieval.encoding.bundled import QUERIES_FILE, bundled_model
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.salience import Salience
from propcite.retrieval.encoding.trained_networks import (
    apply_difference,
    load_tensors,
    load_with_markers,
    network_info,
    write_network,
)
from propcite.retrieval.errors import PropCiteError, RetrievalError
from propcite.retrieval.text import Granularity
from propcite.retrieval.training.averaging import average_files

CHANGED = "encoder.layer.5.output.dense.weight"


def trained(path: Path, change: float, reads: str = "passages") -> Path:
    base = {name: t.clone() for name, t in load_with_markers(bundled_model()).auto_model.state_dict().items()}
    write_network(
        path, base, base | {CHANGED: base[CHANGED] + change}, None, {"reads": reads, "recipe": {"seed": change}}
    )
    return path


def changed(path: Path) -> torch.Tensor:
    network = load_with_markers(bundled_model()).auto_model
    before = network.state_dict()[CHANGED].clone()
    apply_difference(network, load_tensors(path), path)
    return network.state_dict()[CHANGED] - before


def test_the_files_have_equal_weights_and_a_share_of_the_mean_is_kept(tmp_path: Path) -> None:
    files = [trained(tmp_path / f"{change}.safetensors", change) for change in (0.01, 0.03)]
    out = tmp_path / "new" / "mean.safetensors"
    info = average_files(files, out, share=0.5)
    assert changed(out).numpy() == pytest.approx(0.01, abs=2e-4)  # half of .02
    assert info == network_info(out)
    assert info["reads"] == "passages"
    assert info["recipe"] == {"share": 0.5, "mean_of": [{"seed": 0.01}, {"seed": 0.03}]}


def test_the_mean_of_twice_the_same_queries_encodes_as_they_do(tmp_path: Path) -> None:
    out = tmp_path / "mean.safetensors"
    average_files([QUERIES_FILE, QUERIES_FILE], out)
    ours, theirs = (Encoder(name, precision="float32") for name in (str(out), "propcite-queries"))
    mine, original = (e.encode_queries(["How high is it?"], Granularity.SENTENCE)[0] for e in (ours, theirs))
    assert mine.vectors == pytest.approx(original.vectors, abs=0.02)  # eight bits are rounded once more
    mean, shipped = Salience.from_tensors(load_tensors(out)), Salience.from_tensors(load_tensors(QUERIES_FILE))
    assert mean.direction == pytest.approx(shipped.direction, abs=1e-6)
    assert mean.head is not None


def test_files_of_two_kinds_and_damaged_files_are_errors(tmp_path: Path) -> None:
    passages = trained(tmp_path / "a.safetensors", 0.01)
    with pytest.raises(RetrievalError, match="some of these files are for passages and some for queries"):
        average_files([passages, QUERIES_FILE], tmp_path / "out.safetensors")
    base = load_with_markers(bundled_model()).auto_model.state_dict()
    write_network(
        tmp_path / "q.safetensors",
        base,
        base,
        Salience.from_tensors(load_tensors(QUERIES_FILE)),
        {"over": "propcite-minilm@1"},
    )
    with pytest.raises(RetrievalError, match=r"queries over passages of all-MiniLM-L6-v2@.* and of propcite-minilm@1"):
        average_files([QUERIES_FILE, tmp_path / "q.safetensors"], tmp_path / "out.safetensors")
    (tmp_path / "b.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(PropCiteError, match=r"b\.safetensors is damaged or missing"):
        average_files([passages, tmp_path / "b.safetensors"], tmp_path / "out.safetensors")
    assert not (tmp_path / "out.safetensors").exists()
