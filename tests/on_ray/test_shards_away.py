"""Shards that are away: another process takes their place, or answers name them; shards that come from a storage."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attacking import small_library
from index_samples import Samples

from propcite.app.errors import StoreError
from propcite.app.ingest.sources import Upload
from propcite.app.library.shards import Shards
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.attribution.citations import Label
from propcite.retrieval.encoding.base import Floats
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.sharding import cluster as clusters
from propcite.retrieval.sharding import hosts
from propcite.retrieval.sharding.cluster import ClusterIndex, ShardsAwayError
from propcite.retrieval.sharding.folder import open_index
from propcite.retrieval.sharding.layout import read_layout, shard_folders, shard_numbers
from propcite.retrieval.sharding.resharding import reshard

WEIGHTS = np.ones((1, 8), np.float32)
TEXTS = {f"{n}.txt": f"The gate number {n} weighs 30{n} tonnes. It is painted in colour {n}." for n in range(8)}


@contextmanager
def stopped(processes: list[int]) -> Iterator[None]:
    """Stop processes, which then answer nothing and are not noticed as dead."""
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


@pytest.fixture
def samples() -> Samples:
    return Samples()


@pytest.fixture
def vectors(samples: Samples) -> Floats:
    return samples.vectors(90)


@pytest.fixture
def folder(tmp_path: Path, samples: Samples, vectors: Floats) -> Iterator[Path]:
    path, index = tmp_path / "index", TokenIndex(samples.dimension, "made-up", regime="exact")
    samples.add(index, vectors)
    index.save(path)
    reshard(path, 2, regime="exact")
    yield path
    hosts.stop_hosts([place.resolve() for place in shard_folders(path)])


def opened(folder: Path, cluster: Any, **options: Any) -> ClusterIndex:
    layout = read_layout(folder)
    assert layout
    return ClusterIndex(folder, layout, address=cluster.address, regime="exact", **options)


def test_another_process_of_a_shard_takes_the_place_of_one_that_hangs(
    folder: Path, samples: Samples, vectors: Floats, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, query = opened(folder, cluster, replicas=2), samples.queries(vectors, 1)[0]
    expected = open_index(folder).search(query, WEIGHTS, k=9)
    places = index.places()
    assert len({process for _, process, _ in places}) == 4
    of_shard = [{machine for machine, _, _ in places[first : first + 2]} for first in (0, 2)]
    assert [len(machines) for machines in of_shard] == [2, 2]  # on a machine of its own each
    for _ in range(4):  # every process in its turn reads what a search needs
        assert index.search(query, WEIGHTS, k=9) == expected
    monkeypatch.setattr(clusters, "SLOW_S", 1.0)
    with stopped([places[1][1], places[2][1]]):
        for _ in range(3):
            assert index.search(query, WEIGHTS, k=9) == expected
    os.kill(places[0][1], signal.SIGKILL)
    for _ in range(3):
        assert index.search(query, WEIGHTS, k=9) == expected
    assert index.missing == ()


def test_what_goes_on_without_a_shard_names_it(
    folder: Path, samples: Samples, vectors: Floats, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, query = opened(folder, cluster, goes_on=True), samples.queries(vectors, 1)[0]
    whole = index.search(query, WEIGHTS, k=90)[0]
    index._patience = 4.0  # now that all processes have read what a search needs
    shards = shard_numbers([hit.passage_id for hit in whole], 2).tolist()
    processes = [process for _, process, _ in index.places()]
    with stopped(processes[1:]):
        view = index.view()
        assert view.search(query, WEIGHTS, k=90)[0] == [hit for hit, n in zip(whole, shards, strict=True) if n == 0]
        assert view.missing == ("shard 1 of 2 (no answer in time)",)
        assert index.missing == ()
        after = index.view()
        assert after.missing == view.missing  # it is not waited for again by each request
        assert view.ids() == {hit.passage_id for hit, n in zip(whole, shards, strict=True) if n == 0}
        assert set(view.vectors_of([hit.passage_id for hit in whole])) == view.ids()
    assert index.view().missing == view.missing
    monkeypatch.setattr(clusters, "AWAY_S", 0.0)
    assert index.view().search(query, WEIGHTS, k=90)[0] == whole
    with stopped(processes), pytest.raises(ShardsAwayError, match="nothing is answered without"):
        index.view().search(query, WEIGHTS, k=3)


@pytest.fixture
def parts(tmp_path: Path, cluster: Any) -> Iterator[Parts]:
    settings = {"cluster_wait": 6.0, "cluster_missing": "name", "storage": f"file://{tmp_path}/objects"}
    built = small_library(tmp_path / "data", TEXTS, cluster=cluster.address, **settings)
    yield built
    for info in built.library.collections():
        Shards(built.workspace(info)).stop_hosts()
    built.library.close()


def test_a_fact_is_left_unchecked_while_its_shard_is_away(parts: Parts) -> None:
    harbour = parts.library.collection("harbour")
    workspace = parts.workspace(harbour)
    Shards(workspace).divide(2)
    pipeline = parts.pipeline(harbour)
    ids = parts.library.passage_ids(harbour)
    texts = {i: passage.text for i, passage in parts.library.passages(ids).items()}
    here, away = (
        next(texts[i] for i, n in zip(ids, shard_numbers(ids, 2).tolist(), strict=True) if n == shard)
        for shard in (0, 1)
    )
    written = " ".join(text.partition(". ")[0] + "." for text in (here, away))
    whole = pipeline.cite(written)
    assert [fact.verdict.label for fact in whole.facts if fact.verdict] == [Label.SUPPORTED] * 2
    process = Shards(workspace).hosts(parts.encoder)[1][1]
    with stopped([process]):
        answer = pipeline.cite(written)
        assert [fact.verdict.label for fact in answer.facts if fact.verdict] == [Label.SUPPORTED, Label.UNCHECKED]
        assert answer.facts[1].verdict
        assert answer.facts[1].verdict.reason == "shard 1 of 2 (no answer in time) was not searched"
        assert answer.notes[-1] == "not all documents were searched: shard 1 of 2 (no answer in time)"
        assert parts.library.answer(answer.id).facts[1].verdict == answer.facts[1].verdict
        events = list(pipeline.cite_stream([written]))
        assert "unchecked" in str(events)
        with pytest.raises(StoreError, match="not all documents were searched"):
            pipeline.search("gate")
    refusing = Parts(load_settings(**{**parts.settings.model_dump(exclude_defaults=True), "cluster_missing": "refuse"}))
    refusing.__dict__["encoder"] = parts.encoder
    with stopped([process]), pytest.raises(ShardsAwayError, match="shard 1"):
        refusing.pipeline(harbour).cite(written)
    refusing.library.close()


def test_machines_fetch_the_shards_that_they_hold(parts: Parts) -> None:
    harbour = parts.library.collection("harbour")
    workspace = parts.workspace(harbour)
    Shards(workspace).divide(2)
    search = "The gate number 7 weighs"
    before = [hit.passage.text for hit in parts.pipeline(harbour).search(search, k=8)]
    assert len(before) == 8
    Shards(workspace).stop_hosts()
    shutil.rmtree(workspace.folder)
    assert [hit.passage.text for hit in parts.pipeline(harbour).search(search, k=8)] == before
    assert all((place / "manifest.json").exists() for place in shard_folders(workspace.folder))
    list(parts.ingester(harbour).ingest([Upload("new.txt", b"The gate number 7 weighs nothing.")]))
    found = [hit.passage.text for hit in parts.pipeline(harbour).search(search, k=8)]
    assert "nothing" in str(found)
