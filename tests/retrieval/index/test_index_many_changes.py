"""After a thousand changes an index equals a dict; small changes of a large index are fast."""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from index_samples import Samples
from small_passages import EncodedPassage, random_passage

from propcite.retrieval.index.integrity import check_index
from propcite.retrieval.index.storage import MAX_SEGMENTS
from propcite.retrieval.index.token_index import TokenIndex

MEAN = np.full((1, 5), 0.2, np.float32)
CASES = [(1_000, {"bits": 16}), (1_000, {"bits": 8, "exact_up_to": 500})]
if find_spec("faiss"):
    CASES.append((300, {"bits": 8, "regime": "faiss"}))


def random_passages(names: list[str], random: Random) -> list[EncodedPassage]:
    """Build passages with new vectors each time, so that a replaced passage differs from the old one."""
    return [random_passage(name, random.randrange(1 << 30)) for name in names]


def check_contents(index: TokenIndex, expected: dict[str, EncodedPassage], sample: list[str]) -> None:
    assert index.ids() == set(expected)
    assert len(index) == index.stats().passages == len(expected)
    for name in sample:
        assert np.abs(index.vectors(name).vectors - expected[name].tokens.vectors).max() < 0.02
        hit = index.search(expected[name].tokens.vectors, MEAN, k=1)[0][0]
        assert (hit.passage_id, round(hit.score, 1)) == (name, 1.0)


@pytest.mark.parametrize(("changes", "options"), CASES)
def test_after_a_thousand_changes_an_index_equals_a_dict(tmp_path: Path, changes: int, options: dict[str, Any]) -> None:
    random, expected = Random(8), {}
    index = TokenIndex(8, "made-up", **options)
    for number in range(1, changes + 1):
        action = random.choice(["add", "add", "delete", "update"])
        names = sorted({f"p{random.randrange(400)}" for _ in range(random.randint(1, 4))})
        if action == "delete":
            assert index.delete(names) == len(set(names) & set(expected))
            expected = {name: one for name, one in expected.items() if name not in names}
        else:
            items = random_passages([name for name in names if action == "update" or name not in expected], random)
            change = index.add if action == "add" else index.update
            change([one.passage for one in items], [one.tokens for one in items])
            expected |= {one.passage.id: one for one in items}
        if number % 30 == 0:
            index.save(tmp_path)
            assert index.stats().segments <= MAX_SEGMENTS
        if number % 60 == 0:
            index = TokenIndex.load(tmp_path, **options)
        if number % 25 == 0:
            check_contents(index, expected, random.sample(sorted(expected), min(5, len(expected))))
    index.save(tmp_path)
    assert check_index(tmp_path) == []
    check_contents(TokenIndex.load(tmp_path, **options), expected, sorted(expected))


@pytest.mark.parametrize("saved", [False, True])
def test_a_new_passage_can_be_updated_at_once(tmp_path: Path, saved: bool) -> None:
    index, (first, other, third) = TokenIndex(8, "made-up"), random_passages(["p", "p", "q"], Random(1))
    index.update([first.passage], [first.tokens])
    if saved:
        index.save(tmp_path)
    index.update([other.passage, third.passage], [other.tokens, third.tokens])
    check_contents(index, {"p": other, "q": third}, ["p", "q"])
    index.save(tmp_path)
    check_contents(TokenIndex.load(tmp_path), {"p": other, "q": third}, ["p", "q"])


def test_stats_are_correct_after_changes(tmp_path: Path) -> None:
    items = random_passages([f"p{number}" for number in range(20)], Random(2))
    index = TokenIndex(8, "made-up", exact_up_to=0)
    for start in (0, 10):
        index.add([one.passage for one in items[start : start + 10]], [one.tokens for one in items[start : start + 10]])
    index.save(tmp_path)
    index.delete(["p1", "p2", "p11", "unknown"])
    index.update([items[0].passage], [items[0].tokens])
    index.save(tmp_path)
    stats = TokenIndex.load(tmp_path, exact_up_to=0).stats()
    assert (stats.passages, stats.deleted, stats.segments, stats.tokens) == (17, 4, 3, 21 * 5)
    assert (stats.regime, stats.encoder, stats.dimension, stats.bits) == ("tokens", "made-up", 8, (8,))
    assert stats == index.stats()
    files = [path for path in tmp_path.iterdir() if path.name.startswith(("segment-", "centroids-"))]
    deletions = sum(path.stat().st_size for path in files if path.name.endswith(".deleted"))
    assert stats.bytes == sum(path.stat().st_size for path in files) - deletions
    index.compact(tmp_path)
    stats = index.stats()
    assert (stats.passages, stats.deleted, stats.segments, stats.tokens) == (17, 0, 1, 17 * 5)


def test_the_version_depends_on_the_contents_and_not_on_their_history(tmp_path: Path) -> None:
    one, other = TokenIndex(8, "made-up"), TokenIndex(8, "made-up", bits=4)
    items = random_passages(["p", "q", "r"], Random(3))
    for item in items:
        one.add([item.passage], [item.tokens])
    other.add([item.passage for item in reversed(items)], [item.tokens for item in reversed(items)])
    assert one.version == other.version
    one.save(tmp_path)
    assert TokenIndex.load(tmp_path).version == one.version
    before = one.version
    one.delete(["q"])
    assert one.version != before
    one.add([items[1].passage], [items[1].tokens])
    assert one.version == before != TokenIndex(8, "another").version


# Large indexes


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Samples]:
    """Return the folder of an index with 200,000 tokens and centroids."""
    folder, samples = tmp_path_factory.mktemp("large"), Samples(tokens=40, seed=5)
    index = TokenIndex(samples.dimension, "made-up", exact_up_to=0)
    for first in range(0, 5_000, 1_000):
        samples.add(index, samples.vectors(1_000), first)
        index.stage(folder)
    index.save(folder)
    assert (index.stats().tokens, index.stats().regime) == (200_000, "tokens")
    return folder, samples


def test_a_small_addition_to_a_large_index_is_searchable_within_a_second(large: tuple[Path, Samples]) -> None:
    folder, samples = large
    index, weights = TokenIndex.load(folder, exact_up_to=0), np.full((1, samples.tokens), 1.0, np.float32)
    index.search(samples.vectors(1)[0], weights, k=1)  # compiled loops are loaded once per process
    added = samples.vectors(10)
    for round_ in range(3):
        start = time.process_time()
        samples.add(index, added, 100_000 + 10 * round_)
        index.save(folder)
        hits = index.search(added[3], weights, k=round_ + 1)[0]
        assert time.process_time() - start < 1
        assert {hit.passage_id for hit in hits} == {f"p{100_003 + 10 * number}" for number in range(round_ + 1)}
        start = time.process_time()
        index.delete([f"p{round_}"])
        index.save(folder)
        assert time.process_time() - start < 1
    assert TokenIndex.load(folder).ids() == index.ids()


def test_a_deletion_writes_few_bytes_and_no_segment(large: tuple[Path, Samples]) -> None:
    folder, _ = large
    index = TokenIndex.load(folder, exact_up_to=0)
    before = {path.name: path.stat() for path in folder.iterdir()}
    index.delete(["p100", "p200", "p4000"])
    index.save(folder)
    changed = {
        path.name: path.stat().st_size
        for path in folder.iterdir()
        if path.name not in before or path.stat().st_ino != before[path.name].st_ino
    }
    assert all(name == "manifest.json" or name.endswith(".deleted") for name in changed)
    assert sum(changed.values()) < 10_000
    assert not {"p100", "p200", "p4000"} & TokenIndex.load(folder).ids()
