"""Truncated, missing and corrupt files are rejected in one line, or reported while searches stay correct."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from itertools import chain, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_passages import random_passage

from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index.integrity import check_index
from propcite.retrieval.index.manifest import MANIFEST_FILE
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Granularity
from propcite.retrieval.words.query import WordQuery
from propcite.retrieval.words.terms import piece_keys

pytest.importorskip("faiss")  # so that there are files of every kind

OPTIONS: dict[str, Any] = {"bits": 8, "exact_up_to": 0, "regime": "faiss"}
STORED = [MANIFEST_FILE, "segment-*.tokens", "segment-*.deleted"]
DERIVED = ["segment-*.words", "segment-*.codes-*", "centroids-*", "segment-*.faiss-*", "faiss-*"]
QUERY = np.random.default_rng(9).standard_normal((4, 8)).astype(np.float32)
WEIGHTS = np.array([[1, 1, 1, 1], [0, 1, 0, 0.5]], np.float32)
WORDS = WordQuery(piece_keys(np.arange(11)), np.ones((2, 11), np.float32), 0.5)
FLIPS = 40  # wrong bits tried per file


def new_index(numbers: range) -> TokenIndex:
    index = TokenIndex(8, "made-up", **OPTIONS)
    add(index, numbers)
    return index


def add(index: TokenIndex, numbers: range) -> None:
    samples = [random_passage(f"p{number}", number) for number in numbers]
    index.add([one.passage for one in samples], [one.tokens for one in samples])


@pytest.fixture(scope="module")
def original_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return all files of an index of two segments with deletions, centroids, codes and FAISS files."""
    folder = tmp_path_factory.mktemp("whole")
    index = new_index(range(12))
    index.save(folder)
    add(index, range(12, 20))
    index.delete(["p3", "p7", "p15"])
    index.save(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def write_files(original_files: dict[str, bytes], folder: Path, kind: str) -> Path:
    """Write the files to a folder, and return the first one of a kind."""
    for name, content in original_files.items():
        (folder / name).write_bytes(content)
    return min(folder.glob(kind))


def contents(index: TokenIndex) -> dict[str, str]:
    return {i: str(index.vectors(i)) for i in sorted(index.ids())}


def all_hits(index: TokenIndex) -> list:
    """Return the hits of every regime for passages and sentences, with all passages as candidates."""
    return [
        index.search(QUERY, WEIGHTS, k=50, granularity=granularity, passage_share=0.25, regime=regime, word_query=words)
        for granularity in (Granularity.PASSAGE, Granularity.SENTENCE)
        for regime in ("exact", "tokens", "faiss")
        for words in (None, WORDS)
    ]


def same_hits(some: list, others: list) -> bool:
    """Return whether the units, their order and their scores are the same, ignoring further fields of hits."""
    return [hit_rows(hits) for hits in chain(*some)] == [hit_rows(hits) for hits in chain(*others)]


def hit_rows(hits: list) -> list[tuple]:
    return [(hit.passage_id, hit.sentence, round(hit.score, 5)) for hit in hits]


def truncated(content: bytes) -> Iterator[bytes]:
    for length in sorted({*np.linspace(0, len(content) - 1, 14, dtype=int).tolist(), 1, 8, len(content) - 8}):
        yield content[:length]


def wrong_bits(content: bytes) -> Iterator[bytes]:
    """Yield copies with one wrong bit, a run of zeros, or a run of bytes from elsewhere."""
    random = np.random.default_rng(len(content))
    for place in random.choice(8 * len(content), min(FLIPS, 8 * len(content)), replace=False).tolist():
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << place % 8
        yield bytes(flipped)
    for _ in range(4):
        start = int(random.integers(len(content)))
        end = min(len(content), start + 64)
        yield content[:start] + bytes(end - start) + content[end:]
        yield content[:start] + content[: end - start] + content[end:]


@pytest.fixture(scope="module")
def expected(original_files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], list]:
    folder = tmp_path_factory.mktemp("right")
    write_files(original_files, folder, MANIFEST_FILE)
    index = TokenIndex.load(folder, **OPTIONS)
    assert index.stats().regime == "faiss"
    return contents(index), all_hits(index)


@pytest.mark.parametrize("kind", STORED)
def test_damaged_stored_files_are_rejected_or_read_as_they_were(
    original_files: dict[str, bytes], expected: tuple[dict[str, str], list], tmp_path: Path, kind: str
) -> None:
    """A wrong bit in mapped token data is the exception: `check_index` names the file and the affected passages."""
    path = write_files(original_files, tmp_path, kind)
    passages, expected_hits = expected
    content = path.read_bytes()
    num_rejected = 0
    for damaged in chain(truncated(content), wrong_bits(content)):
        path.write_bytes(damaged)
        try:
            index = TokenIndex.load(tmp_path, **OPTIONS)
        except IndexFormatError as error:
            num_rejected += 1
            assert "\n" not in str(error)  # noqa: PT017
            assert "run propcite" in str(error)  # noqa: PT017
            continue
        faults = check_index(tmp_path)
        now = contents(index)
        changed = {i for i in passages if now[i] != passages[i]}
        assert changed <= {i for fault in faults for i in fault.passages}
        assert changed or same_hits(all_hits(index), expected_hits)
        assert {fault.file for fault in faults} <= {path.name}
    assert num_rejected > 14


@pytest.mark.parametrize("kind", DERIVED)
def test_damaged_derived_files_change_no_hit_and_are_rebuilt_by_the_next_save(
    original_files: dict[str, bytes], expected: tuple[dict[str, str], list], tmp_path: Path, kind: str
) -> None:
    path = write_files(original_files, tmp_path, kind)
    passages, expected_hits = expected
    content = path.read_bytes()
    num_reported = 0
    for number, damaged in enumerate(chain(truncated(content), wrong_bits(content))):
        path.write_bytes(damaged)
        index = TokenIndex.load(tmp_path, **OPTIONS)
        assert contents(index) == passages
        assert same_hits(all_hits(index), expected_hits)
        faults = check_index(tmp_path)
        assert {fault.file for fault in faults} <= {path.name}
        assert all(fault.derived for fault in faults)
        num_reported += bool(faults)
        if number % 8 == 0:
            add(index, range(100, 103))
            index.save(tmp_path)
            assert check_index(tmp_path) == []
            loaded = TokenIndex.load(tmp_path, **OPTIONS)
            assert contents(loaded) == contents(index)
            assert loaded.stats().regime == "faiss"
            for file in tmp_path.iterdir():
                file.unlink()
            write_files(original_files, tmp_path, kind)
    assert num_reported > 14


@pytest.mark.parametrize("kind", DERIVED)
def test_a_search_without_a_derived_file_is_correct(
    original_files: dict[str, bytes], expected: tuple[dict[str, str], list], tmp_path: Path, kind: str
) -> None:
    path = write_files(original_files, tmp_path, kind)
    path.unlink()
    assert same_hits(all_hits(TokenIndex.load(tmp_path, **OPTIONS)), expected[1])
    assert [(fault.file, fault.derived) for fault in check_index(tmp_path)] == [(path.name, True)]


@pytest.mark.parametrize("kind", ["segment-*.tokens", "segment-*.codes-*", "segment-*.faiss-*", "segment-*.words"])
def test_a_file_of_another_segment_is_not_used(
    original_files: dict[str, bytes], expected: tuple[dict[str, str], list], tmp_path: Path, kind: str
) -> None:
    for one, other in permutations([name for name in original_files if fnmatch(name, kind)]):
        write_files(original_files, tmp_path, kind)
        (tmp_path / one).write_bytes(original_files[other])
        try:
            assert same_hits(all_hits(TokenIndex.load(tmp_path, **OPTIONS)), expected[1])
        except IndexFormatError as error:
            assert re.search("is inconsistent|does not match the manifest", str(error))  # noqa: PT017


def test_a_check_reports_the_share_it_has_read(original_files: dict[str, bytes], tmp_path: Path) -> None:
    write_files(original_files, tmp_path, MANIFEST_FILE)
    reports: list[tuple[str, float]] = []
    assert check_index(tmp_path, lambda *report: reports.append(report)) == []
    shares = [share for _, share in reports]
    assert {step for step, _ in reports} == {"checking"}
    assert shares == sorted(shares)
    assert 0.5 < shares[-1] <= 1


def test_merging_reports_the_share_it_has_written(original_files: dict[str, bytes], tmp_path: Path) -> None:
    write_files(original_files, tmp_path, MANIFEST_FILE)
    reports: list[tuple[str, float]] = []
    index = TokenIndex.load(tmp_path, progress=lambda *report: reports.append(report), **OPTIONS)
    index.compact(tmp_path)
    assert [share for step, share in reports if step == "merging segments"][-1] == 1
