"""The store of evaluation runs, on SQLite and PostgreSQL."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import inspect

from propcite.app.errors import NotFoundError, StoreError
from propcite.app.library.store import Library, RunItem, Runs
from propcite.app.library.store.database import upgrade
from propcite.app.library.store.runs import PAGE

SETTINGS = {"sha256": "ab12", "context": 5, "methods": ["propcite", "postcite"], "thresholds": {"judge": 0.5}}


@pytest.fixture
def runs(database_url: str) -> Iterator[Runs]:
    library = Library(database_url)
    yield Runs(library)
    library.close()


def item(key: str, way: str = "propcite", **measures: float | None) -> RunItem:
    return RunItem(key, way, measures, {"text": f"Answer {key} 🌊"}, {"seconds": 0.25})


def test_a_started_run_is_loaded_unchanged(runs: Runs) -> None:
    started = runs.start("asqa", "asqa_dev.json", SETTINGS, {"version": "0.1.0"}, judge="embedded/x")
    assert (started.state, started.num_items, started.ended_at) == ("unfinished", 0, None)
    assert runs.run(started.id) == started
    assert started.settings == SETTINGS
    ended = runs.finish(started.id)
    assert ended.state == "done"
    assert ended.ended_at is not None
    assert ended.started_at <= ended.ended_at


def test_items_are_loaded_unchanged_and_in_order(runs: Runs) -> None:
    run = runs.start("asqa", "x.json", {}, {})
    items = [item(str(n), str_em=n / 3, citation_recall=None) for n in range(PAGE + 3)]
    runs.add(run.id, items[:2])
    runs.add(run.id, items[2:])
    assert list(runs.items(run.id)) == items
    assert runs.run(run.id).num_items == len(items)


def test_the_old_name_of_history_s_coverage_is_migrated(runs: Runs) -> None:
    history, split = runs.start("history", "all", {}, {}), runs.start("split", "x.jsonl", {}, {})
    runs.add(history.id, [item("a", supported_facts=0.5, length=3.0), item("b", length=4.0)])
    runs.add(split.id, [item("c", coverage=0.25)])
    with runs._database.engine.begin() as connection:
        upgrade(connection, "0006")
    assert [one.measures for one in runs.items(history.id)] == [{"coverage": 0.5, "length": 3.0}, {"length": 4.0}]
    with runs._database.engine.begin() as connection:
        upgrade(connection)
    assert [one.measures for one in runs.items(history.id)] == [
        {"supported_facts": 0.5, "length": 3.0},
        {"length": 4.0},
    ]
    assert [one.measures for one in runs.items(split.id)] == [{"coverage": 0.25}]


def test_an_item_is_replaced_by_one_of_the_same_way_and_key(runs: Runs) -> None:
    run = runs.start("asqa", "x.json", {}, {})
    runs.add(run.id, [item("q1", str_em=0.0), item("q1", "postcite", str_em=0.5), item("q1", str_em=0.25)])
    runs.add(run.id, [item("q1", str_em=1.0)])
    assert runs.item_keys(run.id) == {("propcite", "q1"), ("postcite", "q1")}
    assert [i.measures["str_em"] for i in runs.items(run.id, "propcite")] == [1.0]
    assert [i.measures["str_em"] for i in runs.items(run.id, "postcite")] == [0.5]


def test_nan_and_infinity_are_stored_as_missing(runs: Runs) -> None:
    run = runs.start("beir", "cranfield", {}, {})
    odd = {"a": math.nan, "b": math.inf, "c": np.float32(0.5), "d": np.int64(2)}
    runs.add(run.id, [RunItem("q", "bm25", odd, {"scores": np.array([1.0, math.nan]).tolist()}, {})])
    (stored,) = runs.items(run.id)
    assert stored.measures == {"a": None, "b": None, "c": 0.5, "d": 2}
    assert stored.output == {"scores": [1.0, None]}


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.text(min_size=1, max_size=20).filter(lambda t: "\0" not in t),
            st.sampled_from(["one", "two"]),
            st.dictionaries(st.sampled_from(["a", "b"]), st.none() | st.floats(0, 1)),
        ),
        max_size=12,
    )
)
def test_the_last_item_of_each_way_and_key_is_stored(
    runs: Runs, items: list[tuple[str, str, dict[str, float | None]]]
) -> None:
    run = runs.start("cite", "x", {}, {})
    for key, way, measures in items:
        runs.add(run.id, [RunItem(key, way, measures)])
    assert {(i.way, i.key): i.measures for i in runs.items(run.id)} == {(way, key): m for key, way, m in items}
    assert runs.item_keys(run.id) == {(way, key) for key, way, _ in items}
    runs.remove(run.id)


@pytest.mark.parametrize("key", ["", "a\0b", "\ud800", "x" * 501])
def test_an_invalid_id_is_an_error(runs: Runs, key: str) -> None:
    run = runs.start("asqa", "x.json", {}, {})
    with pytest.raises(StoreError, match="an item's id cannot be"):
        runs.add(run.id, [item(key)])
    assert runs.item_keys(run.id) == set()


def test_runs_are_listed_newest_first(runs: Runs) -> None:
    first, other, last = (runs.start(kind, "x.json", {}, {}) for kind in ("asqa", "eli5", "asqa"))
    assert [run.id for run in runs.find("asqa", "x.json")] == [last.id, first.id]
    assert [run.id for run in runs.list()] == [last.id, other.id, first.id]
    assert [run.id for run in runs.list(limit=1)] == [last.id]
    assert runs.run("last").id == last.id


def test_a_run_is_found_by_a_unique_prefix(runs: Runs) -> None:
    ids = [runs.start("asqa", "x.json", {}, {}).id for _ in range(20)]
    assert runs.run(ids[3][:8]).id == ids[3]
    with pytest.raises(NotFoundError, match=r"several runs begin with .* give more of the id"):
        runs.run(next(a[0] for a in ids if sum(b[0] == a[0] for b in ids) > 1))  # 20 ids, 16 first digits


@pytest.mark.parametrize("name", ["", "%", "_", "zzz", "' OR 1=1 --"])
def test_an_unknown_run_is_an_error_with_the_next_step(runs: Runs, name: str) -> None:
    with pytest.raises(NotFoundError, match="no run yet: propcite eval --help"):
        runs.run(name)
    there = runs.start("asqa", "x.json", {}, {})
    with pytest.raises(NotFoundError, match=f"{there.id}: propcite runs list"):
        runs.run(name)


def test_a_mistyped_id_gets_the_nearest_as_a_hint(runs: Runs) -> None:
    ids = [runs.start("asqa", "x.json", {}, {}).id for _ in range(5)]
    typed = ids[0][:4] + "z" + ids[0][5:]
    with pytest.raises(NotFoundError, match=f"nearest: {ids[0]}"):
        runs.run(typed)


def test_removing_a_run_removes_its_items(runs: Runs) -> None:
    run, other = runs.start("asqa", "x.json", {}, {}), runs.start("asqa", "x.json", {}, {})
    runs.add(run.id, [item("q1")])
    runs.add(other.id, [item("q1")])
    runs.remove(run.id)
    assert runs.item_keys(run.id) == set()
    assert runs.item_keys(other.id) == {("propcite", "q1")}
    for late in (lambda: runs.add(run.id, [item("q2")]), lambda: runs.finish(run.id)):
        with pytest.raises(NotFoundError, match="removed while it was measured"):
            late()


def test_the_tables_are_added_and_removed_by_migrations(empty_database_url: str) -> None:
    library = Library(empty_database_url)
    library.create_collection("rivers")
    with library.engine.begin() as connection:
        upgrade(connection, "0003")
        assert not {"runs", "run_items"} & set(inspect(connection).get_table_names())
    library.close()
    again = Library(empty_database_url)
    assert [c.name for c in again.collections()] == ["rivers"]
    assert Runs(again).list() == []
    again.close()
