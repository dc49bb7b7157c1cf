"""After any changes of documents, what the library remembers of them equals what it holds."""

from __future__ import annotations

from random import Random

import pytest
from sqlalchemy import inspect, update
from test_store import document, put

from propcite.app.library.conditions import parse_condition
from propcite.app.library.store import CollectionInfo, DetailsChange, Library
from propcite.app.library.store.changes import PassageSet
from propcite.app.library.store.tables import CollectionRow
from propcite.retrieval.fidelity import WHOLE


def check(library: Library, collection: CollectionInfo, *others: Library) -> None:
    assert library.passage_set(collection) == PassageSet.of(library.passage_ids(collection))
    fields = library.document_fields(collection)
    for one in (library, *others):
        columns = one.columns(collection)
        assert columns.ids(columns.alive) == list(fields)
        for line in ("year>=2003", "title~b", "kind=text", "year is missing", "source~moved", "tags=new"):
            condition = parse_condition(line)
            expected = [id_ for id_, of in fields.items() if condition.holds(of)]
            assert columns.ids(columns.holds(condition) & columns.alive) == expected


@pytest.mark.parametrize("seed", range(3))
def test_after_many_changes_columns_and_the_set_of_passages_are_right(
    library: Library, rivers: CollectionInfo, seed: int
) -> None:
    random, other = Random(seed), Library(library.url)  # as of another process
    names = [f"/{name}.txt" for name in "abcdef"]
    library.create_collection("another")
    try:
        for number in range(40):
            ids = [info.id for info in library.documents(rivers)]
            one = random.choice(ids) if ids else ""
            change = random.choice(["put", "put", "remove", "describe", "move", "reading"])
            if change == "put" or not one:
                put(
                    library,
                    rivers,
                    random.choice(names),
                    random.choice(["The Po is 652 km long.", "The Tiber is 405 km long."]),
                )
            elif change == "remove":
                library.remove_document(one)
            elif change == "describe":
                new = DetailsChange({"year": 2000 + number % 7, "title": random.choice(["b", None])}, ["new"])
                library.describe(ids[:2], new)
            elif change == "move":
                library.move_document(one, f"/moved-{number}.txt")
            else:
                library.note_reading(one, {"kind": "text", "year": "2005"}, 2)
            if number % 3 == 0:
                check(library, rivers, other)
        check(library, rivers, other)
        with library.session() as session:  # as after the migration
            session.execute(update(CollectionRow).values(passage_set=None))
        put(library, rivers, "/new.txt")
        check(library, rivers, other)
    finally:
        other.close()


def test_a_collection_that_gets_the_number_of_a_removed_one_is_read_again(library: Library) -> None:
    first = library.create_collection("first")
    put(library, first, "/a.txt")
    assert library.columns(first).ids(library.columns(first).alive) == [document("/a.txt", collection="first").id]
    library.remove_collection(first)
    second = library.create_collection("second")
    for name in "bc":
        put(library, second, f"/{name}.txt")
    assert len(library.columns(second).ids(library.columns(second).alive)) == 2


def test_a_library_of_the_schema_before_is_migrated_with_its_documents(
    library: Library, rivers: CollectionInfo
) -> None:
    from propcite.app.library.store.database import upgrade

    put(library, rivers, "/a.txt")
    with library.engine.begin() as connection:
        upgrade(connection, "0016")
        assert "changes" not in {column["name"] for column in inspect(connection).get_columns("collections")}
        upgrade(connection)
    fresh = Library(library.url)
    try:
        check(fresh, rivers)
        put(fresh, rivers, "/b.txt")
        check(fresh, rivers)
        assert [info.fidelity for info in fresh.documents(rivers)] == [WHOLE, WHOLE]
    finally:
        fresh.close()
