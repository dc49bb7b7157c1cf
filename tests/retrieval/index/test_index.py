"""The index ranks as a slow loop does, and what it saved is read whole, as it was, or not at all."""

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
from small_passages import DIMENSION, EIGHTHS, Item, item, items, slow_search, unit_item

from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.encoding.checkpoints import BASE_PASSAGES
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index.checking import check_index
from propcite.retrieval.index.disk import MOST_SEGMENTS
from propcite.retrieval.index.manifest import FILE, FORMAT
from propcite.retrieval.index.ranking import BLOCK_TOKENS
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Granularity, Passage

ONE = np.ones((1, 1), np.float32)
ACROSS = np.array([[1, 0, 0]], np.float32)


def index_of(*batches: Sequence[Item], dimension: int = DIMENSION) -> TokenIndex:
    """An index with one segment for each batch."""
    index = TokenIndex(dimension, "made-up", bits=16)
    for batch in batches:
        index.add([one.passage for one in batch], [one.tokens for one in batch])
    return index


def found(index: TokenIndex, k: int = 100, **options) -> list[tuple[str, int | None]]:
    hits = index.search(ACROSS, ONE, k=k, **options)[0]
    return [(hit.passage_id, hit.sentence) for hit in hits]


def contents(index: TokenIndex) -> dict[str, list]:
    vectors = {i: index.vectors(i) for i in sorted(index.ids())}
    return {i: [tokens.vectors.tolist(), tokens.offsets.tolist()] for i, tokens in vectors.items()}


# Ranking


@st.composite
def searches(draw: st.DrawFn):
    """Passages in several segments, a query with rows of weights, and what may be asked."""
    count = draw(st.integers(1, 7))
    held = [draw(items(f"p{number}")) for number in range(count)]
    cuts = sorted({0, count, *draw(st.lists(st.integers(0, count), max_size=3))})
    batches = [held[start:end] for start, end in pairwise(cuts)]
    q = draw(st.integers(1, 3))
    query = draw(arrays(np.float32, (q, DIMENSION), elements=EIGHTHS))
    weights = draw(arrays(np.float32, (draw(st.integers(1, 3)), q), elements=st.sampled_from([0.0, 0.5, 1.0])))
    allow = draw(st.none() | st.sets(st.sampled_from([*(one.passage.id for one in held), "unknown"])))
    return held, batches, query, weights, allow


@given(searches(), st.integers(0, 30), st.booleans(), st.sampled_from([0.0, 0.25, 0.5, 1.0]))
def test_search_is_that_of_a_slow_loop_ties_in_order(drawn, k: int, sentences: bool, share: float) -> None:
    held, batches, query, weights, allow = drawn
    granularity = Granularity.SENTENCE if sentences else Granularity.PASSAGE
    rows = index_of(*batches).search(query, weights, k=k, granularity=granularity, passage_share=share, allow=allow)
    assert rows == [
        slow_search(held, query, row, k, sentences=sentences, share=share if sentences else 0.0, allow=allow)
        for row in weights
    ]


@given(searches(), st.data())
def test_search_after_deletions_is_that_of_a_slow_loop_over_the_rest(drawn, data: st.DataObject) -> None:
    held, batches, query, weights, allow = drawn
    gone = data.draw(st.sets(st.sampled_from([one.passage.id for one in held])))
    index = index_of(*batches)
    assert index.delete([*gone, "unknown", *gone]) == len(gone)
    rest = [one for one in held if one.passage.id not in gone]
    assert index.ids() == {one.passage.id for one in rest}
    assert index.search(query, weights, k=30, granularity=Granularity.SENTENCE, allow=allow) == [
        slow_search(rest, query, row, 30, sentences=True, allow=allow) for row in weights
    ]


def test_a_segment_of_several_blocks_ranks_as_one() -> None:
    random = np.random.default_rng(3)
    held = [
        item(f"p{number}", (random.integers(-8, 9, (60, DIMENSION)) + 0.5) / 8, [*range(60)], [25, 35])
        for number in range(2 * BLOCK_TOKENS // 60)
    ]
    index = index_of(held)
    assert index.stats().tokens > 1.9 * BLOCK_TOKENS
    query = (random.integers(-8, 9, (4, DIMENSION)) / 8).astype(np.float32)
    weights = np.full((1, 4), 0.5, np.float32)
    best = [held[number].tokens.vectors @ query.T for number in range(len(held))]
    slow = sorted(range(len(held)), key=lambda number: -float(best[number].max(axis=0).sum()))
    assert [hit.passage_id for hit in index.search(query, weights, k=50)[0]] == [f"p{number}" for number in slow[:50]]


def test_a_passage_longer_than_a_block_is_searched_whole() -> None:
    vectors = np.tile([0, 1, 0], (BLOCK_TOKENS + 10, 1))
    vectors[-1] = [1, 0, 0]
    long = item("long", vectors, [*range(len(vectors))], [BLOCK_TOKENS, 10])
    assert found(index_of([item("short", [[0.5, 0, 0]], [0], [1]), long])) == [("long", None), ("short", None)]


def test_equal_scores_come_in_the_order_of_adding() -> None:
    same = [item(f"p{number}", [[1, 0, 0]], [0], [1]) for number in range(20)]
    assert [i for i, _ in found(index_of(same[:7], same[7:]), k=9)] == [f"p{number}" for number in range(9)]


def test_a_heading_is_never_found_and_its_words_still_count_for_its_passage() -> None:
    headed = item("p", [[1, 0, 0], [0.5, 0, 0]], [0, 1], [1, 1], heading=0)
    index = index_of([headed])
    assert found(index, granularity=Granularity.SENTENCE) == [("p", 1)]
    assert index.search(ACROSS, ONE, k=1)[0][0].score == 1.0


def test_a_filter_is_applied_before_ranking() -> None:
    held = [item(f"p{number}", [[1 - number / 32, 0, 0]], [0], [1]) for number in range(20)]
    index = index_of(held)
    assert [i for i, _ in found(index, k=2, allow={"p17", "p19", "p18"})] == ["p17", "p18"]
    assert found(index, allow=set()) == []
    assert found(index, allow={"unknown"}) == []


def test_passages_may_be_asked_for_by_name() -> None:
    index = index_of([item("p", [[1, 0, 0], [0.5, 0, 0]], [0, 1], [1, 1])])
    assert found(index, granularity="passage") == [("p", None)]
    assert found(index, granularity="sentence") == [("p", 0), ("p", 1)]


@pytest.mark.parametrize(("k", "number"), [(-1, 0), (0, 0), (1, 1), (2, 2), (1000, 2)])
def test_no_more_is_found_than_is_asked_or_there(k: int, number: int) -> None:
    held = [item("p", [[1, 0, 0]], [0], [1]), item("q", [[0.5, 0, 0]], [0], [1])]
    assert len(found(index_of(held), k=k)) == number


def test_an_empty_index_finds_nothing() -> None:
    index = index_of()
    index.add([], [])
    assert found(index) == []
    assert index.ids() == set()
    assert (index.stats().passages, index.stats().bytes_per_token) == (0, 0.0)
    assert index.search(ACROSS, np.zeros((0, 1), np.float32), k=3) == []


def test_vectors_come_back_as_they_were_given() -> None:
    held = [unit_item(f"p{seed}", seed) for seed in range(4)]
    index = index_of(held[:1], held[1:], dimension=8)
    for one in held:
        tokens = index.vectors(one.passage.id)
        assert tokens.vectors == pytest.approx(one.tokens.vectors, abs=1e-3)
        assert tokens.offsets.tolist() == one.tokens.offsets.tolist()


def test_an_index_counts_what_it_holds() -> None:
    held = [unit_item(f"p{seed}", seed, 5 + seed) for seed in range(4)]
    index = index_of(held[:3], held[3:], dimension=8)
    index.delete(["p1"])
    stats = index.stats()
    assert (stats.passages, stats.deleted, stats.segments, stats.tokens) == (3, 1, 2, 5 + 6 + 7 + 8)
    assert (stats.regime, stats.encoder, stats.dimension, stats.bits) == ("exact", "made-up", 8, (16,))
    assert stats.bytes_per_token > 2 * 8


# Wrong input


def tokens_with(vectors: object) -> TokenVectors:
    return TokenVectors(np.array(vectors, np.float32), np.zeros((len(np.array(vectors)), 2), np.int32))


@pytest.mark.parametrize(
    ("passages", "vectors", "message"),
    [
        (["p"], [tokens_with([[1.0, 0.0]])], "wanted vectors of 3 dimensions, got 2"),
        (["p"], [tokens_with([[1, np.nan, 0]])], "passage 'p' has a vector that is not a number"),
        (["p"], [tokens_with([[1, np.inf, 0]])], "passage 'p' has a vector that is not a number"),
        (["p"], [tokens_with(np.zeros((0, 3)))], "passage 'p' has no token"),
        (["p", "p"], [tokens_with([[1, 0, 0]])] * 2, "passage 'p' is in the index already"),
        (["held"], [tokens_with([[1, 0, 0]])], "passage 'held' is in the index already: delete it first"),
        ([""], [tokens_with([[1, 0, 0]])], "passage '' is in the index already"),
        (["p"], [tokens_with([[1, 0, 0], [0, 0, 0]])], "passage 'p' has a vector of zeros"),
        (["p", "q"], [tokens_with([[1, 0, 0]])], "shorter"),
    ],
)
def test_wrong_passages_are_refused_and_leave_nothing_behind(passages, vectors, message: str) -> None:
    index = index_of([item("held", [[1, 0, 0]], [0], [1]), item("", [[1, 0, 0]], [0], [1])])
    with pytest.raises(ValueError, match=message):
        index.add([Passage(i, "x") for i in passages], vectors)
    assert index.ids() == {"held", ""}
    assert len(found(index)) == 2


@pytest.mark.parametrize("query", [np.ones((1, 2)), np.ones(3), np.ones((1, 1, 3))])
def test_a_query_of_another_shape_is_refused(query: np.ndarray) -> None:
    with pytest.raises(ValueError, match="wanted query vectors of 3 dimensions, got shape"):
        index_of([item("p", [[1, 0, 0]], [0], [1])]).search(query, ONE, k=1)


def test_an_unknown_passage_has_no_vectors() -> None:
    with pytest.raises(KeyError):
        index_of().vectors("unknown")


def test_an_id_is_free_again_once_it_is_deleted() -> None:
    index = index_of([item("p", [[0.5, 0, 0]], [0], [1])])
    index.delete(["p"])
    index.add([Passage("p", "x")], [tokens_with([[1, 0, 0]])])
    assert index.search(ACROSS, ONE, k=5)[0][0].score == 1.0
    assert len(found(index)) == 1


def test_thousands_of_passages_are_added_at_once_in_no_time() -> None:
    passages = [Passage(f"p{number}", "x") for number in range(20_000)]
    start = time.perf_counter()
    index_of().add(passages, [tokens_with([[1, 0, 0]])] * len(passages))
    assert time.perf_counter() - start < 20  # comparing every id with every other takes minutes


# On disk


@given(st.lists(items(), min_size=1, max_size=6), st.sets(st.integers(0, 5)), st.sampled_from([1, 2, 6]))
def test_saving_and_loading_changes_nothing(tmp_path_factory, held: list[Item], gone: set[int], size: int) -> None:
    folder = tmp_path_factory.mktemp("index")
    held = [
        Item(Passage(f"p{n}", one.passage.text, sentences=one.passage.sentences), one.tokens)
        for n, one in enumerate(held)
    ]
    index = index_of(*(held[start : start + size] for start in range(0, len(held), size)))
    index.delete([f"p{number}" for number in gone])
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
            for hit in slow_search(
                [one for one in held if one.passage.id in before],
                query,
                weights[0],
                30,
                sentences=granularity == "sentence",
                share=0.25 if granularity == "sentence" else 0,
            )
        ]


def test_an_index_may_be_saved_in_several_folders(tmp_path: Path) -> None:
    index = index_of([unit_item("p", 1)], [unit_item("q", 2)], dimension=8)
    for name in ("one", "two", "two"):
        index.save(tmp_path / name)
    with pytest.raises(IndexFormatError, match="holds another index: load that one, or remove it first"):
        index.save(tmp_path / "one")
    copy = TokenIndex.load(tmp_path / "one")
    copy.add([unit_item("r", 3).passage], [unit_item("r", 3).tokens])
    copy.save(tmp_path / "three")
    assert contents(TokenIndex.load(tmp_path / "one")) == contents(TokenIndex.load(tmp_path / "two")) == contents(index)
    assert contents(TokenIndex.load(tmp_path / "three")) == contents(copy)


def test_saving_often_leaves_few_segments_and_no_other_files(tmp_path: Path) -> None:
    index = TokenIndex(8, "made-up")
    for seed in range(3 * MOST_SEGMENTS):
        index.add([unit_item(f"p{seed}", seed).passage], [unit_item(f"p{seed}", seed).tokens])
        index.save(tmp_path)
        assert index.stats().segments <= MOST_SEGMENTS
    loaded = TokenIndex.load(tmp_path)
    assert loaded.ids() == {f"p{seed}" for seed in range(3 * MOST_SEGMENTS)}
    assert len(list(tmp_path.glob("segment-*"))) == loaded.stats().segments


def test_saving_gives_the_room_of_deleted_passages_back(tmp_path: Path) -> None:
    index = index_of([unit_item(f"p{seed}", seed) for seed in range(10)], dimension=8)
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


def test_a_reader_goes_on_with_its_version_when_a_writer_replaces_it(tmp_path: Path) -> None:
    held = [unit_item(f"p{seed}", seed) for seed in range(10)]
    index_of(held, dimension=8).save(tmp_path)
    reader, writer = TokenIndex.load(tmp_path), TokenIndex.load(tmp_path)
    before = contents(reader)
    writer.delete([f"p{seed}" for seed in range(8)])
    writer.save(tmp_path)
    assert writer.stats().deleted == 0  # the old files are gone
    assert contents(reader) == before
    for one in held:
        hits = reader.search(one.tokens.vectors, np.full((1, 5), 0.2, np.float32), k=1)[0]
        assert hits[0].passage_id == one.passage.id
    assert TokenIndex.load(tmp_path).ids() == {"p8", "p9"}


def test_a_reader_that_opens_while_a_writer_replaces_everything_never_sees_half(tmp_path: Path) -> None:
    index_of([unit_item(f"p{seed}", seed) for seed in range(4)], dimension=8).save(tmp_path)

    def write() -> None:
        index = TokenIndex.load(tmp_path)
        for _ in range(60):  # half of it goes each time, so saving rewrites the rest
            index.delete(["p0", "p1"])
            again = [unit_item("p0", 0), unit_item("p1", 1)]
            index.add([one.passage for one in again], [one.tokens for one in again])
            index.save(tmp_path)

    writer = threading.Thread(target=write)
    writer.start()
    loads = 0
    while writer.is_alive() or not loads:
        assert TokenIndex.load(tmp_path).ids() == {"p0", "p1", "p2", "p3"}
        loads += 1
    writer.join()


def test_of_two_writers_the_second_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    index_of([unit_item(f"p{seed}", seed) for seed in range(4)], dimension=8).save(tmp_path)
    one, other = TokenIndex.load(tmp_path), TokenIndex.load(tmp_path)
    one.delete(["p0", "p1"])
    one.save(tmp_path)
    with pytest.raises(IndexFormatError, match=r"another process has changed .* since it was opened: open it again"):
        other.save(tmp_path)
    assert TokenIndex.load(tmp_path).ids() == {"p2", "p3"}


def test_a_save_stopped_on_its_way_leaves_the_old_index_or_the_new_one(tmp_path: Path) -> None:
    script = SUPPORT / "stopped_saves.py"
    run = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    outcomes = run.stdout.split()
    assert len(outcomes) > 10  # moments between which something changed on the disk
    assert outcomes == sorted(outcomes, key=["old", "new"].index)  # one moment parts the two, and neither is missing
    assert set(outcomes) == {"old", "new"}


def test_a_save_without_room_fails_whole_and_succeeds_when_there_is_room_again(tmp_path: Path) -> None:
    index_of([unit_item("p", 1)], dimension=8).save(tmp_path)
    index = TokenIndex.load(tmp_path, bits=16)
    large = unit_item("q" * 500, 2, 200)
    index.add([large.passage], [large.tokens])
    index_of([large], dimension=8).save(tmp_path / "elsewhere")
    size = of_kind(tmp_path / "elsewhere", ".tokens").stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for room in (size // 3, size - 1):  # bytes that a file may have
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
        try:
            with pytest.raises(OSError):
                index.save(tmp_path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert TokenIndex.load(tmp_path).ids() == {"p"}
    index.save(tmp_path)
    assert contents(TokenIndex.load(tmp_path)) == contents(index)
    assert len(list(tmp_path.glob("segment-*"))) == 2


# Damage


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    index = index_of([unit_item("p", 1), unit_item("q", 2), unit_item("s", 4)], [unit_item("r", 3)], dimension=8)
    index.delete(["q"])
    index.save(tmp_path)
    return tmp_path


def of_kind(folder: Path, kind: str) -> Path:
    return next(folder.glob(f"*{kind}"))


KINDS = [FILE, ".tokens", ".deleted"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_cut_short_anywhere_is_seen(saved: Path, kind: str) -> None:
    path = of_kind(saved, kind)
    whole = path.read_bytes()
    for length in {*range(0, len(whole), max(1, len(whole) // 150)), len(whole) - 1}:
        path.write_bytes(whole[:length])
        with pytest.raises(IndexFormatError, match="run propcite"):
            TokenIndex.load(saved)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_a_missing_file_is_seen(saved: Path, kind: str) -> None:
    of_kind(saved, kind).unlink()
    with pytest.raises(IndexFormatError, match="is damaged or missing: run propcite index check --repair"):
        TokenIndex.load(saved)


@pytest.mark.parametrize("kind", [FILE, ".deleted"])
def test_one_wrong_bit_is_seen_or_changes_nothing(saved: Path, kind: str) -> None:
    path = of_kind(saved, kind)
    whole, held = path.read_bytes(), contents(TokenIndex.load(saved))
    for place in np.random.default_rng(5).permutation(8 * len(whole))[:400].tolist():
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            assert contents(TokenIndex.load(saved)) == held
        except IndexFormatError as error:
            assert "\n" not in str(error)  # noqa: PT017


@pytest.mark.parametrize("bits", [16, 8, 4, 2, 1])
def test_one_wrong_bit_among_the_tokens_is_found_and_reaches_no_other_passage(tmp_path: Path, bits: int) -> None:
    """What has an entry a token is mapped, not read, so opening may miss such a bit; `check` finds every one."""
    index = TokenIndex(8, "made-up", bits=bits)
    held = [unit_item("p", 1), unit_item("q", 2)]
    index.add([one.passage for one in held], [one.tokens for one in held])
    index.save(tmp_path)
    path, before = of_kind(tmp_path, ".tokens"), contents(index)
    whole = path.read_bytes()
    for place in range(0, 8 * len(whole), 7):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            after = contents(TokenIndex.load(tmp_path))
        except IndexFormatError:
            continue
        changed = [i for i in before if str(after[i]) != str(before[i])]
        assert len(changed) <= 1
        found = check_index(tmp_path)
        assert found or not changed
        assert set(changed) <= {i for damage in found for i in damage.passages}


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
def test_a_manifest_that_is_none_is_one_clear_line(saved: Path, manifest: bytes) -> None:
    (saved / FILE).write_bytes(manifest)
    with pytest.raises(IndexFormatError, match="is damaged: run propcite reindex") as error:
        TokenIndex.load(saved)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("other", [FORMAT - 1, FORMAT + 1])
def test_another_format_is_named_with_the_next_step(saved: Path, other: int) -> None:
    manifest = json.loads((saved / FILE).read_text("utf-8"))
    (saved / FILE).write_text(json.dumps(manifest | {"format": other, "segments": {}}), "utf-8")
    with pytest.raises(
        IndexFormatError, match=f"has index format {other}, this version reads {FORMAT}: run propcite reindex"
    ):
        TokenIndex.load(saved)


def test_another_encoders_index_is_refused_by_name(saved: Path) -> None:
    assert TokenIndex.load(saved, "made-up").encoder == "made-up"
    with pytest.raises(IndexFormatError, match="was made by made-up, the encoder is MiniLM: run propcite reindex"):
        TokenIndex.load(saved, "MiniLM")


def test_an_index_of_the_bases_passages_is_told_how_it_can_be_kept(tmp_path: Path) -> None:
    TokenIndex(4, BASE_PASSAGES).save(tmp_path)
    with pytest.raises(IndexFormatError, match="keep it by PROPCITE_ENCODER=propcite-queries, or run propcite reindex"):
        TokenIndex.load(tmp_path, "propcite-minilm@123")
    assert TokenIndex.load(tmp_path, Encoder("propcite-queries").name).encoder == BASE_PASSAGES


def test_a_folder_without_an_index_says_so(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no index", "utf-8")
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(IndexFormatError, match="holds no index: run propcite reindex"):
            TokenIndex.load(folder)


def test_a_segment_of_another_dimension_is_seen(saved: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    index_of([item("p", [[1, 0, 0]], [0], [1])]).save(other)
    shutil.copy(of_kind(other, ".tokens"), of_kind(saved, ".tokens"))
    with pytest.raises(IndexFormatError, match="does not fit together: run propcite index check --repair"):
        TokenIndex.load(saved)
