"""The index ranks like a plain loop, and a saved index is read exactly as it was, or rejected."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from paths import SUPPORT
from small_passages import (
    DIMENSION,
    EIGHTHS,
    EncodedPassage,
    encoded_passage,
    encoded_passages,
    random_passage,
    reference_search,
)

from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.encoding.bundled import BASE_PASSAGES
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index.integrity import check_index
from propcite.retrieval.index.manifest import FORMAT, MANIFEST_FILE
from propcite.retrieval.index.ranking import BLOCK_TOKENS
from propcite.retrieval.index.storage import MAX_SEGMENTS
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Granularity, Passage

ONE = np.ones((1, 1), np.float32)
ACROSS = np.array([[1, 0, 0]], np.float32)


def index_of(*batches: Sequence[EncodedPassage], dimension: int = DIMENSION) -> TokenIndex:
    """Build an index with one segment per batch."""
    index = TokenIndex(dimension, "made-up", bits=16)
    for batch in batches:
        index.add([one.passage for one in batch], [one.tokens for one in batch])
    return index


def hit_names(index: TokenIndex, k: int = 100, **options) -> list[tuple[str, int | None]]:
    hits = index.search(ACROSS, ONE, k=k, **options)[0]
    return [(hit.passage_id, hit.sentence) for hit in hits]


def contents(index: TokenIndex) -> dict[str, list]:
    vectors = {i: index.vectors(i) for i in sorted(index.ids())}
    return {i: [tokens.vectors.tolist(), tokens.offsets.tolist()] for i, tokens in vectors.items()}


# Ranking


@st.composite
def search_cases(draw: st.DrawFn):
    """Draw passages in several segments, a query with rows of weights, and a filter."""
    count = draw(st.integers(1, 7))
    samples = [draw(encoded_passages(f"p{number}")) for number in range(count)]
    cuts = sorted({0, count, *draw(st.lists(st.integers(0, count), max_size=3))})
    batches = [samples[start:end] for start, end in pairwise(cuts)]
    q = draw(st.integers(1, 3))
    query = draw(arrays(np.float32, (q, DIMENSION), elements=EIGHTHS))
    weights = draw(arrays(np.float32, (draw(st.integers(1, 3)), q), elements=st.sampled_from([0.0, 0.5, 1.0])))
    allow = draw(st.none() | st.sets(st.sampled_from([*(one.passage.id for one in samples), "unknown"])))
    return samples, batches, query, weights, allow


@given(search_cases(), st.integers(0, 30), st.booleans(), st.sampled_from([0.0, 0.25, 0.5, 1.0]))
def test_search_equals_a_plain_loop_with_ties_in_order(case, k: int, sentences: bool, share: float) -> None:
    samples, batches, query, weights, allow = case
    granularity = Granularity.SENTENCE if sentences else Granularity.PASSAGE
    rows = index_of(*batches).search(query, weights, k=k, granularity=granularity, passage_share=share, allow=allow)
    assert rows == [
        reference_search(samples, query, row, k, sentences=sentences, share=share if sentences else 0.0, allow=allow)
        for row in weights
    ]


@given(search_cases(), st.data())
def test_search_after_deletions_equals_a_plain_loop_over_the_rest(case, data: st.DataObject) -> None:
    samples, batches, query, weights, allow = case
    deleted = data.draw(st.sets(st.sampled_from([one.passage.id for one in samples])))
    index = index_of(*batches)
    assert index.delete([*deleted, "unknown", *deleted]) == len(deleted)
    rest = [one for one in samples if one.passage.id not in deleted]
    assert index.ids() == {one.passage.id for one in rest}
    assert index.search(query, weights, k=30, granularity=Granularity.SENTENCE, allow=allow) == [
        reference_search(rest, query, row, 30, sentences=True, allow=allow) for row in weights
    ]


def test_a_segment_of_several_blocks_is_ranked_as_one() -> None:
    random = np.random.default_rng(3)
    samples = [
        encoded_passage(f"p{number}", (random.integers(-8, 9, (60, DIMENSION)) + 0.5) / 8, [*range(60)], [25, 35])
        for number in range(2 * BLOCK_TOKENS // 60)
    ]
    index = index_of(samples)
    assert index.stats().tokens > 1.9 * BLOCK_TOKENS
    query = (random.integers(-8, 9, (4, DIMENSION)) / 8).astype(np.float32)
    weights = np.full((1, 4), 0.5, np.float32)
    best = [samples[number].tokens.vectors @ query.T for number in range(len(samples))]
    expected = sorted(range(len(samples)), key=lambda number: (-float(best[number].max(axis=0).sum()), f"p{number}"))
    assert [hit.passage_id for hit in index.search(query, weights, k=50)[0]] == [
        f"p{number}" for number in expected[:50]
    ]


def test_a_passage_longer_than_a_block_is_searched_completely() -> None:
    vectors = np.tile([0, 1, 0], (BLOCK_TOKENS + 10, 1))
    vectors[-1] = [1, 0, 0]
    long = encoded_passage("long", vectors, [*range(len(vectors))], [BLOCK_TOKENS, 10])
    assert hit_names(index_of([encoded_passage("short", [[0.5, 0, 0]], [0], [1]), long])) == [
        ("long", None),
        ("short", None),
    ]


def test_hits_with_equal_scores_are_ordered_by_id_however_they_were_added() -> None:
    same = [encoded_passage(f"p{number}", [[1, 0, 0]], [0], [1]) for number in range(20)]
    expected = sorted(f"p{number}" for number in range(20))[:9]
    assert [i for i, _ in hit_names(index_of(same[:7], same[7:]), k=9)] == expected
    assert [i for i, _ in hit_names(index_of(same[::-1]), k=9)] == expected


def test_a_heading_is_never_a_hit_but_its_words_count_for_its_passage() -> None:
    headed = encoded_passage("p", [[1, 0, 0], [0.5, 0, 0]], [0, 1], [1, 1], heading=0)
    index = index_of([headed])
    assert hit_names(index, granularity=Granularity.SENTENCE) == [("p", 1)]
    assert index.search(ACROSS, ONE, k=1)[0][0].score == 1.0


def test_a_filter_is_applied_before_ranking() -> None:
    samples = [encoded_passage(f"p{number}", [[1 - number / 32, 0, 0]], [0], [1]) for number in range(20)]
    index = index_of(samples)
    assert [i for i, _ in hit_names(index, k=2, allow={"p17", "p19", "p18"})] == ["p17", "p18"]
    assert hit_names(index, allow=set()) == []
    assert hit_names(index, allow={"unknown"}) == []


def test_granularity_may_be_a_string() -> None:
    index = index_of([encoded_passage("p", [[1, 0, 0], [0.5, 0, 0]], [0, 1], [1, 1])])
    assert hit_names(index, granularity="passage") == [("p", None)]
    assert hit_names(index, granularity="sentence") == [("p", 0), ("p", 1)]


@pytest.mark.parametrize(("k", "number"), [(-1, 0), (0, 0), (1, 1), (2, 2), (1000, 2)])
def test_hits_are_limited_by_k_and_by_the_contents(k: int, number: int) -> None:
    samples = [encoded_passage("p", [[1, 0, 0]], [0], [1]), encoded_passage("q", [[0.5, 0, 0]], [0], [1])]
    assert len(hit_names(index_of(samples), k=k)) == number


def test_an_empty_index_has_no_hits() -> None:
    index = index_of()
    index.add([], [])
    assert hit_names(index) == []
    assert index.ids() == set()
    assert (index.stats().passages, index.stats().bytes_per_token) == (0, 0.0)
    assert index.search(ACROSS, np.zeros((0, 1), np.float32), k=3) == []


def test_vectors_are_returned_as_they_were_added() -> None:
    samples = [random_passage(f"p{seed}", seed) for seed in range(4)]
    index = index_of(samples[:1], samples[1:], dimension=8)
    for one in samples:
        tokens = index.vectors(one.passage.id)
        assert tokens.vectors == pytest.approx(one.tokens.vectors, abs=1e-3)
        assert tokens.offsets.tolist() == one.tokens.offsets.tolist()


def test_stats_count_the_contents() -> None:
    samples = [random_passage(f"p{seed}", seed, 5 + seed) for seed in range(4)]
    index = index_of(samples[:3], samples[3:], dimension=8)
    index.delete(["p1"])
    stats = index.stats()
    assert (stats.passages, stats.deleted, stats.segments, stats.tokens) == (3, 1, 2, 5 + 6 + 7 + 8)
    assert (stats.regime, stats.encoder, stats.dimension, stats.bits) == ("exact", "made-up", 8, (16,))
    assert stats.bytes_per_token > 2 * 8


# Invalid input


def tokens_with(vectors: object) -> TokenVectors:
    return TokenVectors(np.array(vectors, np.float32), np.zeros((len(np.array(vectors)), 2), np.int32))


@pytest.mark.parametrize(
    ("passages", "vectors", "message"),
    [
        (["p"], [tokens_with([[1.0, 0.0]])], "vectors must have 3 dimensions, got 2"),
        (["p"], [tokens_with([[1, np.nan, 0]])], "passage 'p' has a vector that is not finite"),
        (["p"], [tokens_with([[1, np.inf, 0]])], "passage 'p' has a vector that is not finite"),
        (["p"], [tokens_with(np.zeros((0, 3)))], "passage 'p' has no token"),
        (["p", "p"], [tokens_with([[1, 0, 0]])] * 2, "passage 'p' is in the index already"),
        (["old"], [tokens_with([[1, 0, 0]])], "passage 'old' is in the index already: delete it first"),
        ([""], [tokens_with([[1, 0, 0]])], "passage '' is in the index already"),
        (["p"], [tokens_with([[1, 0, 0], [0, 0, 0]])], "passage 'p' has a vector of zeros"),
        (["p", "q"], [tokens_with([[1, 0, 0]])], "shorter"),
    ],
)
def test_invalid_passages_are_rejected_and_change_nothing(passages, vectors, message: str) -> None:
    index = index_of([encoded_passage("old", [[1, 0, 0]], [0], [1]), encoded_passage("", [[1, 0, 0]], [0], [1])])
    with pytest.raises(ValueError, match=message):
        index.add([Passage(i, "x") for i in passages], vectors)
    assert index.ids() == {"old", ""}
    assert len(hit_names(index)) == 2


@pytest.mark.parametrize("query", [np.ones((1, 2)), np.ones(3), np.ones((1, 1, 3))])
def test_a_query_of_another_shape_is_rejected(query: np.ndarray) -> None:
    with pytest.raises(ValueError, match="query vectors must have 3 dimensions, got shape"):
        index_of([encoded_passage("p", [[1, 0, 0]], [0], [1])]).search(query, ONE, k=1)


def test_an_unknown_passage_has_no_vectors() -> None:
    with pytest.raises(KeyError):
        index_of().vectors("unknown")


def test_an_id_can_be_used_again_after_deletion() -> None:
    index = index_of([encoded_passage("p", [[0.5, 0, 0]], [0], [1])])
    index.delete(["p"])
    index.add([Passage("p", "x")], [tokens_with([[1, 0, 0]])])
    assert index.search(ACROSS, ONE, k=5)[0][0].score == 1.0
    assert len(hit_names(index)) == 1


def test_thousands_of_passages_are_added_quickly() -> None:
    passages = [Passage(f"p{number}", "x") for number in range(20_000)]
    start = time.perf_counter()
    index_of().add(passages, [tokens_with([[1, 0, 0]])] * len(passages))
    assert time.perf_counter() - start < 20  # comparing all pairs of ids would take minutes


# On disk


@given(st.lists(encoded_passages(), min_size=1, max_size=6), st.sets(st.integers(0, 5)), st.sampled_from([1, 2, 6]))
def test_saving_and_loading_changes_nothing(
    tmp_path_factory, samples: list[EncodedPassage], deleted: set[int], size: int
) -> None:
    folder = tmp_path_factory.mktemp("index")
    samples = [
        EncodedPassage(Passage(f"p{n}", one.passage.text, sentences=one.passage.sentences), one.tokens)
        for n, one in enumerate(samples)
    ]
    index = index_of(*(samples[start : start + size] for start in range(0, len(samples), size)))
    index.delete([f"p{number}" for number in deleted])
    before = contents(index)
    index.save(folder)
    loaded = TokenIndex.load(folder, "made-up")
    assert contents(index) == contents(loaded) == before
    query, weights = np.eye(DIMENSION, dtype=np.float32), np.full((1, DIMENSION), 0.5, np.float32)
    for granularity in (Granularity.PASSAGE, Granularity.SENTENCE):
        options = {"k": 30, "granularity": granularity, "passage_share": 0.25}
        assert loaded.search(query, weights, **options) == index.search(query, weights, **options)
        assert [hit.score for hit in loaded.search(query, weights, **options)[0]] == [
            hit.score
            for hit in reference_search(
                [one for one in samples if one.passage.id in before],
                query,
                weights[0],
                30,
                sentences=granularity == "sentence",
                share=0.25 if granularity == "sentence" else 0,
            )
        ]


def test_an_index_may_be_saved_in_several_folders(tmp_path: Path) -> None:
    index = index_of([random_passage("p", 1)], [random_passage("q", 2)], dimension=8)
    for name in ("one", "two", "two"):
        index.save(tmp_path / name)
    with pytest.raises(IndexFormatError, match="holds another index: load that one, or remove it first"):
        index.save(tmp_path / "one")
    copy = TokenIndex.load(tmp_path / "one")
    copy.add([random_passage("r", 3).passage], [random_passage("r", 3).tokens])
    copy.save(tmp_path / "three")
    assert contents(TokenIndex.load(tmp_path / "one")) == contents(TokenIndex.load(tmp_path / "two")) == contents(index)
    assert contents(TokenIndex.load(tmp_path / "three")) == contents(copy)


def test_many_saves_leave_few_segments_and_no_other_files(tmp_path: Path) -> None:
    index = TokenIndex(8, "made-up")
    for seed in range(3 * MAX_SEGMENTS):
        index.add([random_passage(f"p{seed}", seed).passage], [random_passage(f"p{seed}", seed).tokens])
        index.save(tmp_path)
        assert index.stats().segments <= MAX_SEGMENTS
    loaded = TokenIndex.load(tmp_path)
    assert loaded.ids() == {f"p{seed}" for seed in range(3 * MAX_SEGMENTS)}
    assert len(list(tmp_path.glob("segment-*.tokens"))) == loaded.stats().segments


def test_saving_frees_the_space_of_deleted_passages(tmp_path: Path) -> None:
    index = index_of([random_passage(f"p{seed}", seed) for seed in range(10)], dimension=8)
    index.save(tmp_path)
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    index.delete([f"p{seed}" for seed in range(1, 10)])
    index.save(tmp_path)
    assert index.stats().deleted == 0
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < size
    index.delete(["p0"])
    index.save(tmp_path)
    assert TokenIndex.load(tmp_path).ids() == set()
    assert not list(tmp_path.glob("segment-*"))


def test_a_reader_keeps_its_version_when_a_writer_replaces_it(tmp_path: Path) -> None:
    samples = [random_passage(f"p{seed}", seed) for seed in range(10)]
    index_of(samples, dimension=8).save(tmp_path)
    reader, writer = TokenIndex.load(tmp_path), TokenIndex.load(tmp_path)
    before = contents(reader)
    writer.delete([f"p{seed}" for seed in range(8)])
    writer.save(tmp_path)
    assert writer.stats().deleted == 0  # the old files have been removed
    assert contents(reader) == before
    for one in samples:
        hits = reader.search(one.tokens.vectors, np.full((1, 5), 0.2, np.float32), k=1)[0]
        assert hits[0].passage_id == one.passage.id
    assert TokenIndex.load(tmp_path).ids() == {"p8", "p9"}


def test_opening_while_a_writer_replaces_everything_gives_a_complete_version(tmp_path: Path) -> None:
    index_of([random_passage(f"p{seed}", seed) for seed in range(4)], dimension=8).save(tmp_path)

    def write() -> None:
        index = TokenIndex.load(tmp_path)
        for _ in range(60):  # half of it is deleted each time, so saving rewrites the others
            index.delete(["p0", "p1"])
            new = [random_passage("p0", 0), random_passage("p1", 1)]
            index.add([one.passage for one in new], [one.tokens for one in new])
            index.save(tmp_path)

    writer = threading.Thread(target=write)
    writer.start()
    loads = 0
    while writer.is_alive() or not loads:
        assert TokenIndex.load(tmp_path).ids() == {"p0", "p1", "p2", "p3"}
        loads += 1
    writer.join()


def test_the_second_of_two_writers_is_rejected_and_nothing_is_lost(tmp_path: Path) -> None:
    index_of([random_passage(f"p{seed}", seed) for seed in range(4)], dimension=8).save(tmp_path)
    one, other = TokenIndex.load(tmp_path), TokenIndex.load(tmp_path)
    one.delete(["p0", "p1"])
    one.save(tmp_path)
    with pytest.raises(IndexFormatError, match=r"another process has changed .* since it was opened: open it again"):
        other.save(tmp_path)
    assert TokenIndex.load(tmp_path).ids() == {"p2", "p3"}


def test_a_stopped_save_leaves_the_old_index_or_the_new_one(tmp_path: Path) -> None:
    script = SUPPORT / "stopped_saves.py"
    run = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    outcomes = run.stdout.split()
    assert len(outcomes) > 10  # moments between which the folder changed
    assert outcomes == sorted(outcomes, key=["old", "new"].index)  # one moment separates the two versions
    assert set(outcomes) == {"old", "new"}


def test_a_save_without_space_changes_nothing_and_succeeds_with_space(tmp_path: Path) -> None:
    index_of([random_passage("p", 1)], dimension=8).save(tmp_path)
    index = TokenIndex.load(tmp_path, bits=16)
    large = random_passage("q" * 500, 2, 200)
    index.add([large.passage], [large.tokens])
    index_of([large], dimension=8).save(tmp_path / "elsewhere")
    size = file_of_kind(tmp_path / "elsewhere", ".tokens").stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for limit in (size // 3, size - 1):  # bytes per file
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            with pytest.raises(OSError):
                index.save(tmp_path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert TokenIndex.load(tmp_path).ids() == {"p"}
    index.save(tmp_path)
    assert contents(TokenIndex.load(tmp_path)) == contents(index)
    assert len(list(tmp_path.glob("segment-*.tokens"))) == 2


# Damage


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    index = index_of(
        [random_passage("p", 1), random_passage("q", 2), random_passage("s", 4)], [random_passage("r", 3)], dimension=8
    )
    index.delete(["q"])
    index.save(tmp_path)
    return tmp_path


def file_of_kind(folder: Path, kind: str) -> Path:
    return next(folder.glob(f"*{kind}"))


KINDS = [MANIFEST_FILE, ".tokens", ".deleted"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_truncated_file_is_rejected(saved: Path, kind: str) -> None:
    path = file_of_kind(saved, kind)
    original = path.read_bytes()
    for length in {*range(0, len(original), max(1, len(original) // 150)), len(original) - 1}:
        path.write_bytes(original[:length])
        with pytest.raises(IndexFormatError, match="run propcite"):
            TokenIndex.load(saved)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_a_missing_file_is_rejected(saved: Path, kind: str) -> None:
    file_of_kind(saved, kind).unlink()
    with pytest.raises(IndexFormatError, match="is damaged or missing: run propcite index check --repair"):
        TokenIndex.load(saved)


@pytest.mark.parametrize("kind", [MANIFEST_FILE, ".deleted"])
def test_one_wrong_bit_is_rejected_or_changes_nothing(saved: Path, kind: str) -> None:
    path = file_of_kind(saved, kind)
    original, before = path.read_bytes(), contents(TokenIndex.load(saved))
    for place in np.random.default_rng(5).permutation(8 * len(original))[:400].tolist():
        flipped = bytearray(original)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            assert contents(TokenIndex.load(saved)) == before
        except IndexFormatError as error:
            assert "\n" not in str(error)  # noqa: PT017


@pytest.mark.parametrize("bits", [16, 8, 4, 2, 1])
def test_one_wrong_bit_in_token_data_is_detected_and_affects_one_passage(tmp_path: Path, bits: int) -> None:
    """Data per token is mapped, not read, so opening may miss such a bit; `check_index` detects all of them."""
    index = TokenIndex(8, "made-up", bits=bits)
    samples = [random_passage("p", 1), random_passage("q", 2)]
    index.add([one.passage for one in samples], [one.tokens for one in samples])
    index.save(tmp_path)
    path, before = file_of_kind(tmp_path, ".tokens"), contents(index)
    original = path.read_bytes()
    for place in range(0, 8 * len(original), 7):
        flipped = bytearray(original)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            after = contents(TokenIndex.load(tmp_path))
        except IndexFormatError:
            continue
        changed = [i for i in before if str(after[i]) != str(before[i])]
        assert len(changed) <= 1
        faults = check_index(tmp_path)
        assert faults or not changed
        assert set(changed) <= {i for fault in faults for i in fault.passages}


@pytest.mark.parametrize(
    "manifest",
    [
        b"",
        b"null",
        b"[]",
        b'"exact"',
        b"{}",
        b'{"format": 2}',
        b"\xff\xfe",
        b"{" * 50,
        json.dumps({"format": FORMAT}).encode(),
        json.dumps({"format": FORMAT, "segments": 3}).encode(),
    ],
)
def test_an_invalid_manifest_is_reported_in_one_line(saved: Path, manifest: bytes) -> None:
    (saved / MANIFEST_FILE).write_bytes(manifest)
    with pytest.raises(IndexFormatError, match="is damaged: run propcite reindex") as error:
        TokenIndex.load(saved)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("other", [FORMAT - 1, FORMAT + 1])
def test_another_format_is_reported_with_the_next_step(saved: Path, other: int) -> None:
    manifest = json.loads((saved / MANIFEST_FILE).read_text("utf-8"))
    (saved / MANIFEST_FILE).write_text(json.dumps(manifest | {"format": other, "segments": {}}), "utf-8")
    with pytest.raises(
        IndexFormatError, match=f"has index format {other}, this version reads {FORMAT}: run propcite reindex"
    ):
        TokenIndex.load(saved)


def test_the_index_of_another_encoder_is_rejected_by_name(saved: Path) -> None:
    assert TokenIndex.load(saved, "made-up").encoder == "made-up"
    with pytest.raises(IndexFormatError, match="was made by made-up, the encoder is MiniLM: run propcite reindex"):
        TokenIndex.load(saved, "MiniLM")


def test_an_index_of_the_base_model_is_rejected_with_a_way_to_keep_it(tmp_path: Path) -> None:
    TokenIndex(4, BASE_PASSAGES).save(tmp_path)
    with pytest.raises(IndexFormatError, match="keep it by PROPCITE_ENCODER=propcite-queries, or run propcite reindex"):
        TokenIndex.load(tmp_path, "propcite-minilm@123")
    assert TokenIndex.load(tmp_path, Encoder("propcite-queries").name).encoder == BASE_PASSAGES


def test_a_folder_without_an_index_is_reported(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no index", "utf-8")
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(IndexFormatError, match="holds no index: run propcite reindex"):
            TokenIndex.load(folder)


def test_a_segment_of_another_dimension_is_rejected(saved: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    index_of([encoded_passage("p", [[1, 0, 0]], [0], [1])]).save(other)
    shutil.copy(file_of_kind(other, ".tokens"), file_of_kind(saved, ".tokens"))
    with pytest.raises(IndexFormatError, match="is inconsistent: run propcite index check --repair"):
        TokenIndex.load(saved)
