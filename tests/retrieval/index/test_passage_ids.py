"""Ids kept as bytes are what they were as strings, and an index that is opened again shares what has not changed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_passages import random_passage

from propcite.retrieval.index import passage_ids
from propcite.retrieval.index.allowed import AllBut, OnlyPassages, both
from propcite.retrieval.index.passage_ids import PassageIds
from propcite.retrieval.index.storage import MAX_SEGMENTS
from propcite.retrieval.index.token_index import TokenIndex

MEAN = np.full((1, 5), 0.2, np.float32)
IDS = st.lists(st.text(max_size=30) | st.from_regex(r"[a-c]{1,9}:[0-9]{1,3}", fullmatch=True), unique=True, max_size=40)


@pytest.mark.parametrize("few", [0, 256])
def test_any_ids_are_read_and_found(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passage_ids, "FEW", few)

    @given(IDS, IDS)
    def check(ids: list[str], others: list[str]) -> None:
        content = np.frombuffer(json.dumps(ids).encode(), np.uint8)
        for kept in (PassageIds.of(ids), PassageIds.from_json(content)):
            assert list(kept) == [kept[n] for n in range(len(ids))] == ids
            assert kept[1:3] == tuple(ids[1:3])
            wanted = list(dict.fromkeys(ids[::2] + others))
            assert kept.numbers_of(wanted).tolist() == [ids.index(i) if i in ids else -1 for i in wanted]
            documents, places = kept.documents
            assert [documents[p] for p in places] == [i.rpartition(":")[0] if ":" in i else i for i in ids]
            assert kept.total == sum(PassageIds.of([i]).total for i in ids) % 2**64

    check()


def test_half_a_surrogate_pair_and_very_long_ids_are_kept() -> None:
    ids = ["\ud800", "a" * 10_000, '"\\', ""]
    kept = PassageIds.from_json(np.frombuffer(json.dumps(ids).encode(), np.uint8))
    assert list(kept) == ids
    assert kept.numbers_of(["a" * 9_999, "a" * 10_000]).tolist() == [-1, 1]


def add(index: TokenIndex, *names: str) -> None:
    samples = [random_passage(name, hash(name) % 1000) for name in names]
    index.add([one.passage for one in samples], [one.tokens for one in samples])


@pytest.mark.parametrize("options", [{"bits": 8}, {"bits": 8, "regime": "tokens"}])
def test_an_index_opened_again_equals_one_opened_anew_and_shares_segments(tmp_path: Path, options: dict) -> None:
    writer = TokenIndex(8, "made-up", **options)
    reader: TokenIndex | None = None
    expected: set[str] = set()
    for number in range(3 * MAX_SEGMENTS):
        add(writer, f"a{number}", f"b{number}")
        expected |= {f"a{number}", f"b{number}"}
        if number % 5 == 4:
            writer.delete([f"a{number - 2}", f"b{number}"])
            expected -= {f"a{number - 2}", f"b{number}"}
        writer.save(tmp_path)
        before = {live.name: live.segment for live in reader._contents.segments} if reader else {}
        reader = TokenIndex.load(tmp_path, "made-up", earlier=reader, **options)
        anew = TokenIndex.load(tmp_path, "made-up", **options)
        for live in reader._contents.segments:
            assert before.get(live.name, live.segment) is live.segment
        assert reader.ids() == anew.ids() == expected
        assert (reader.version, reader.stats()) == (anew.version, anew.stats())
        query = anew.vectors(f"a{number}").vectors
        assert reader.search(query, MEAN, k=9) == anew.search(query, MEAN, k=9)


def test_changes_of_an_index_do_not_show_in_the_one_that_it_was_opened_from(tmp_path: Path) -> None:
    first = TokenIndex(8, "made-up")
    add(first, *"abc")
    first.save(tmp_path)
    second = TokenIndex.load(tmp_path, earlier=first)
    second.delete(["a"])
    add(second, "d")
    assert (first.ids(), second.ids()) == (set("abc"), set("bcd"))
    second.save(tmp_path)
    assert TokenIndex.load(tmp_path, earlier=first).ids() == TokenIndex.load(tmp_path).ids() == set("bcd")


def test_limits_of_a_search_are_combined() -> None:
    index = TokenIndex(8, "made-up")
    add(index, *"abcd")
    assert index.ids(both(OnlyPassages(frozenset("abx")), OnlyPassages(frozenset("bcx")))) == {"b"}
    assert index.ids(both(None, AllBut(frozenset("ax")))) == set("bcd")
    assert index.ids(both(OnlyPassages(frozenset("abx")), AllBut(frozenset("a")))) == {"b"}
