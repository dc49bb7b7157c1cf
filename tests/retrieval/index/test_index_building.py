"""Work that takes long tells how far it is, and interrupting it loses nothing that was added."""

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
from propcite.retrieval.index.checking import check_index
from propcite.retrieval.index.token_index import TokenIndex

PASSAGES = 400
STATUS = Path("/proc/self/status")
TRAINING, LAYING = "training centroids", "laying tokens to centroids"
STAGES = {"tokens": [TRAINING, LAYING]}
if find_spec("faiss"):
    STAGES["faiss"] = [TRAINING, "training FAISS", LAYING, "giving tokens to FAISS"]


def added(index: TokenIndex) -> TokenIndex:
    """In two segments."""
    samples = Samples(seed=3)
    for first in (0, PASSAGES // 2):
        samples.add(index, samples.vectors(PASSAGES // 2), first)
    return index


@pytest.mark.parametrize("regime", STAGES)
def test_building_tells_each_stage_from_its_beginning_to_its_end(tmp_path: Path, regime: str) -> None:
    told: list[tuple[str, float]] = []
    added(TokenIndex(32, "made-up", regime=regime, told=lambda *one: told.append(one))).save(tmp_path)
    assert [what for what, _ in groupby(told, key=lambda one: one[0])] == STAGES[regime]
    shares: dict[str, list[float]] = defaultdict(list)
    for what, share in told:
        shares[what].append(share)
    assert all(of_stage == sorted(of_stage) for of_stage in shares.values())
    assert len(shares[TRAINING]) >= 4
    assert {of_stage[-1] for what, of_stage in shares.items() if what != "training FAISS"} == {1.0}


@pytest.mark.parametrize(("regime", "what"), [(regime, what) for regime in STAGES for what in STAGES[regime]])
def test_what_was_added_is_safe_when_building_is_interrupted(tmp_path: Path, regime: str, what: str) -> None:
    def interrupt(stage: str, _: float) -> None:
        if stage == what:
            signal.raise_signal(signal.SIGINT)

    index = added(TokenIndex(32, "made-up", regime=regime, told=interrupt))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            index.save(tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    again = TokenIndex.load(tmp_path, regime=regime)
    assert len(again) == PASSAGES
    query = again.vectors("p70").vectors[:5]
    assert again.search(query, np.ones((1, 5), np.float32), k=1)[0][0].passage_id == "p70"
    again.save(tmp_path)  # which goes on where it was
    assert again.stats().regime == regime
    assert check_index(tmp_path) == []


@pytest.mark.skipif("faiss" not in STAGES, reason="FAISS is not installed")
def test_training_of_faiss_hears_an_interrupt(tmp_path: Path) -> None:
    """It is one call of a library, many seconds long."""
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


def test_centroids_are_trained_anew_when_four_times_as_many_tokens_have_come(tmp_path: Path) -> None:
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


@pytest.mark.skipif(not STATUS.exists(), reason="the system does not tell a process's memory")
def test_what_is_staged_takes_no_memory(tmp_path: Path) -> None:
    """So a build needs as much as one batch and one sample, however large the collection becomes.

    In a process of its own: what other tests left behind moves its memory too.  The C library is told to give every
    large array back at once: left to itself it keeps some now and then, a hundred megabytes here, for the next one.
    """
    path = os.pathsep.join([str(SUPPORT), str(Path(__file__).parent)])
    asked = "import sys, test_index_building as t; print(t.grown_mb(t.Path(sys.argv[1])))"
    said = subprocess.run(
        [sys.executable, "-c", asked, tmp_path],
        env={**os.environ, "PYTHONPATH": path, "MALLOC_MMAP_THRESHOLD_": "1048576"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert float(said.stdout) < 20


def grown_mb(folder: Path) -> float:
    """By how much a process grows while six batches are staged."""
    samples, index = Samples(dimension=256), TokenIndex(256, "made-up")
    held = []
    for number in range(8):
        samples.add(index, samples.vectors(1_000), 1_000 * number)  # seven megabytes as integers
        index.stage(folder)
        gc.collect()
        held.append(anonymous_mb())
    return held[-1] - held[1]


def anonymous_mb() -> float:
    """What is in memory without lying in a file."""
    lines = STATUS.read_text("utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024
