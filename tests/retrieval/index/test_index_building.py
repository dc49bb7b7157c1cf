"""Long work reports its progress, and interrupting it loses no added passage."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from index_samples import Samples
from paths import SUPPORT

from propcite.retrieval.index import faiss_tokens
from propcite.retrieval.index.integrity import check_index
from propcite.retrieval.index.token_index import TokenIndex

PASSAGES = 400
STATUS = Path("/proc/self/status")
TRAINING, ASSIGNING = "training centroids", "assigning tokens to centroids"
STAGES = {"tokens": [TRAINING, ASSIGNING]}
if find_spec("faiss"):
    STAGES["faiss"] = [TRAINING, "training FAISS", ASSIGNING, "adding tokens to FAISS"]


def with_passages(index: TokenIndex) -> TokenIndex:
    """Add passages in two segments."""
    samples = Samples(seed=3)
    for first in (0, PASSAGES // 2):
        samples.add(index, samples.vectors(PASSAGES // 2), first)
    return index


@pytest.mark.parametrize("regime", STAGES)
def test_building_reports_each_step_from_its_beginning_to_its_end(tmp_path: Path, regime: str) -> None:
    reports: list[tuple[str, float]] = []
    with_passages(TokenIndex(32, "made-up", regime=regime, progress=lambda *one: reports.append(one))).save(tmp_path)
    assert [step for step, _ in groupby(reports, key=lambda one: one[0])] == STAGES[regime]
    shares: dict[str, list[float]] = defaultdict(list)
    for step, share in reports:
        shares[step].append(share)
    assert all(of_stage == sorted(of_stage) for of_stage in shares.values())
    assert len(shares[TRAINING]) >= 4
    assert {of_stage[-1] for step, of_stage in shares.items() if step != "training FAISS"} == {1.0}


@pytest.mark.parametrize(("regime", "step"), [(regime, step) for regime in STAGES for step in STAGES[regime]])
def test_added_passages_are_safe_when_building_is_interrupted(tmp_path: Path, regime: str, step: str) -> None:
    def interrupt(stage: str, _: float) -> None:
        if stage == step:
            signal.raise_signal(signal.SIGINT)

    index = with_passages(TokenIndex(32, "made-up", regime=regime, progress=interrupt))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            index.save(tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    loaded = TokenIndex.load(tmp_path, regime=regime)
    assert len(loaded) == PASSAGES
    query = loaded.vectors("p70").vectors[:5]
    assert loaded.search(query, np.ones((1, 5), np.float32), k=1)[0][0].passage_id == "p70"
    loaded.save(tmp_path)  # builds the missing files
    assert loaded.stats().regime == regime
    assert check_index(tmp_path) == []


@pytest.mark.skipif("faiss" not in STAGES, reason="FAISS is not installed")
def test_training_of_faiss_can_be_interrupted(tmp_path: Path) -> None:
    """The training is one long call of a library."""
    sample = np.random.default_rng(0).standard_normal((50_000, 64)).astype(np.float32)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            faiss_tokens.train(sample, 50_000_000, tmp_path / "trained")
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert not (tmp_path / "trained").exists()


def test_centroids_are_trained_again_for_four_times_as_many_tokens(tmp_path: Path) -> None:
    samples, index = Samples(dimension=8, tokens=10), TokenIndex(8, "made-up", exact_up_to=500)
    names, numbers = [], []
    for first, count in ((0, 60), (60, 170), (230, 20)):
        samples.add(index, samples.vectors(count), first)
        index.save(tmp_path)
        names += [path.name for path in tmp_path.glob("centroids-*")]
        numbers.append(index.stats().centroids)
    assert names[0] == names[1] != names[2]
    assert numbers[0] == numbers[1] < numbers[2]
    assert len(list(tmp_path.glob("*.codes-*"))) == index.stats().segments


@pytest.mark.skipif(not STATUS.exists(), reason="the system does not report the memory of a process")
def test_staged_passages_take_no_memory(tmp_path: Path) -> None:
    """A build needs the memory of one batch and one sample, however large the collection becomes.

    It runs in its own process, because remains of other tests change the memory.  The C library is set to free large
    arrays at once: by default it keeps some of them for reuse, a hundred megabytes here.
    """
    path = os.pathsep.join([str(SUPPORT), str(Path(__file__).parent)])
    code = "import sys, test_index_building as t; print(t.grown_mb(t.Path(sys.argv[1])))"
    run = subprocess.run(
        [sys.executable, "-c", code, tmp_path],
        env={**os.environ, "PYTHONPATH": path, "MALLOC_MMAP_THRESHOLD_": "1048576"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert float(run.stdout) < 20


def grown_mb(folder: Path) -> float:
    """Return the growth of the memory while six batches are staged."""
    samples, index = Samples(dimension=256), TokenIndex(256, "made-up")
    sizes = []
    for number in range(8):
        samples.add(index, samples.vectors(1_000), 1_000 * number)  # seven megabytes as integers
        index.stage(folder)
        gc.collect()
        sizes.append(anonymous_mb())
    return sizes[-1] - sizes[1]


def anonymous_mb() -> float:
    """Return the memory that belongs to no file."""
    lines = STATUS.read_text("utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024
