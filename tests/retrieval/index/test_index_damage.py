"""Files cut short, gone or with wrong bits: refused in one line, or searched rightly all the same and named."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch
from itertools import chain, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_passages import unit_item

from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index.checking import check_index
from propcite.retrieval.index.manifest import FILE
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Granularity

pytest.importorskip("faiss")  # so that there is a file of every kind

OPTIONS: dict[str, Any] = {"bits": 8, "exact_up_to": 0, "regime": "faiss"}
READ = [FILE, "segment-*.tokens", "segment-*.deleted"]
DERIVED = ["segment-*.codes-*", "centroids-*", "segment-*.faiss-*", "faiss-*"]
QUERY = np.random.default_rng(9).standard_normal((4, 8)).astype(np.float32)
WEIGHTS = np.array([[1, 1, 1, 1], [0, 1, 0, 0.5]], np.float32)
FLIPS = 40  # wrong bits tried in each file


def made(numbers: range) -> TokenIndex:
    index = TokenIndex(8, "made-up", **OPTIONS)
    add(index, numbers)
    return index


def add(index: TokenIndex, numbers: range) -> None:
    held = [unit_item(f"p{number}", number) for number in numbers]
    index.add([one.passage for one in held], [one.tokens for one in held])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Every file of an index of two segments with deletions, centroids, codes and FAISS's."""
    folder = tmp_path_factory.mktemp("whole")
    index = made(range(12))
    index.save(folder)
    add(index, range(12, 20))
    index.delete(["p3", "p7", "p15"])
    index.save(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def laid(whole: dict[str, bytes], folder: Path, kind: str) -> Path:
    """The files in a folder.  -> the first one of this kind"""
    for name, content in whole.items():
        (folder / name).write_bytes(content)
    return min(folder.glob(kind))


def contents(index: TokenIndex) -> dict[str, str]:
    return {i: str(index.vectors(i)) for i in sorted(index.ids())}


def answers(index: TokenIndex) -> list:
    """What every regime finds, passages and sentences; candidates are all that there is."""
    return [
        index.search(QUERY, WEIGHTS, k=50, granularity=granularity, passage_share=0.25, regime=regime)
        for granularity in (Granularity.PASSAGE, Granularity.SENTENCE)
        for regime in ("exact", "tokens", "faiss")
    ]


def same(some: list, others: list) -> bool:
    """The same units in the same order with the same scores, whatever the regime tells besides."""
    return [told(hits) for hits in chain(*some)] == [told(hits) for hits in chain(*others)]


def told(hits: list) -> list[tuple]:
    return [(hit.passage_id, hit.sentence, round(hit.score, 5)) for hit in hits]


def cut_short(content: bytes) -> Iterator[bytes]:
    for length in sorted({*np.linspace(0, len(content) - 1, 14, dtype=int).tolist(), 1, 8, len(content) - 8}):
        yield content[:length]


def wrong_bits(content: bytes) -> Iterator[bytes]:
    """One wrong bit each, or a run of zeros, or of bytes from elsewhere."""
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
def right(whole: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], list]:
    folder = tmp_path_factory.mktemp("right")
    laid(whole, folder, FILE)
    index = TokenIndex.load(folder, **OPTIONS)
    assert index.stats().regime == "faiss"
    return contents(index), answers(index)


@pytest.mark.parametrize("kind", READ)
def test_what_cannot_be_made_anew_is_refused_in_one_line_or_read_as_it_was(
    whole: dict[str, bytes], right: tuple[dict[str, str], list], tmp_path: Path, kind: str
) -> None:
    """A wrong bit among mapped tokens is the one exception: `check` names the file and the passages it reaches."""
    path = laid(whole, tmp_path, kind)
    held, found = right
    content = path.read_bytes()
    refused = 0
    for damaged in chain(cut_short(content), wrong_bits(content)):
        path.write_bytes(damaged)
        try:
            index = TokenIndex.load(tmp_path, **OPTIONS)
        except IndexFormatError as error:
            refused += 1
            assert "\n" not in str(error)  # noqa: PT017
            assert "run propcite" in str(error)  # noqa: PT017
            continue
        faults = check_index(tmp_path)
        now = contents(index)
        changed = {i for i in held if now[i] != held[i]}
        assert changed <= {i for fault in faults for i in fault.passages}
        assert changed or same(answers(index), found)
        assert {fault.file for fault in faults} <= {path.name}
    assert refused > 14


@pytest.mark.parametrize("kind", DERIVED)
def test_damage_to_what_is_derived_changes_no_answer_and_is_named_and_mended_by_the_next_save(
    whole: dict[str, bytes], right: tuple[dict[str, str], list], tmp_path: Path, kind: str
) -> None:
    path = laid(whole, tmp_path, kind)
    held, found = right
    content = path.read_bytes()
    named = 0
    for number, damaged in enumerate(chain(cut_short(content), wrong_bits(content))):
        path.write_bytes(damaged)
        index = TokenIndex.load(tmp_path, **OPTIONS)
        assert contents(index) == held
        assert same(answers(index), found)
        faults = check_index(tmp_path)
        assert {fault.file for fault in faults} <= {path.name}
        assert all(fault.derived for fault in faults)
        named += bool(faults)
        if number % 8 == 0:
            add(index, range(100, 103))
            index.save(tmp_path)
            assert check_index(tmp_path) == []
            loaded = TokenIndex.load(tmp_path, **OPTIONS)
            assert contents(loaded) == contents(index)
            assert loaded.stats().regime == "faiss"
            for made_since in tmp_path.iterdir():
                made_since.unlink()
            laid(whole, tmp_path, kind)
    assert named > 14


@pytest.mark.parametrize("kind", DERIVED)
def test_without_a_derived_file_a_search_is_right(
    whole: dict[str, bytes], right: tuple[dict[str, str], list], tmp_path: Path, kind: str
) -> None:
    path = laid(whole, tmp_path, kind)
    path.unlink()
    assert same(answers(TokenIndex.load(tmp_path, **OPTIONS)), right[1])
    assert [(fault.file, fault.derived) for fault in check_index(tmp_path)] == [(path.name, True)]


@pytest.mark.parametrize("kind", ["segment-*.tokens", "segment-*.codes-*", "segment-*.faiss-*"])
def test_a_file_that_belongs_to_another_segment_is_not_taken_for_its_own(
    whole: dict[str, bytes], right: tuple[dict[str, str], list], tmp_path: Path, kind: str
) -> None:
    for one, other in permutations([name for name in whole if fnmatch(name, kind)]):
        laid(whole, tmp_path, kind)
        (tmp_path / one).write_bytes(whole[other])
        try:
            assert same(answers(TokenIndex.load(tmp_path, **OPTIONS)), right[1])
        except IndexFormatError as error:
            assert "does not fit together" in str(error)  # noqa: PT017


def test_a_check_tells_how_much_it_has_read(whole: dict[str, bytes], tmp_path: Path) -> None:
    laid(whole, tmp_path, FILE)
    heard: list[tuple[str, float]] = []
    assert check_index(tmp_path, lambda what, share: heard.append((what, share))) == []
    shares = [share for _, share in heard]
    assert {what for what, _ in heard} == {"checking"}
    assert shares == sorted(shares)
    assert 0.5 < shares[-1] <= 1


def test_joining_tells_how_much_is_written(whole: dict[str, bytes], tmp_path: Path) -> None:
    laid(whole, tmp_path, FILE)
    heard: list[tuple[str, float]] = []
    index = TokenIndex.load(tmp_path, told=lambda what, share: heard.append((what, share)), **OPTIONS)
    index.compact(tmp_path)
    assert [share for what, share in heard if what == "joining parts"][-1] == 1
