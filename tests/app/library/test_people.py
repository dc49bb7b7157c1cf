"""People, their roles, their sign-ins and the audit log, on both databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, text, update

from propcite.app.errors import NotFoundError, StoreError
from propcite.app.library.backup import create_backup, restore_backup
from propcite.app.library.store import Action, AuditLog, Keys, Library, People, Rights, Scope, SignIns, SignInState, Via
from propcite.app.library.store.database import aware, upgrade
from propcite.app.library.store.tables import AuditRow, SignInRow
from propcite.app.parts import Parts

ADA = "ada@propcite.example"
DAY = timedelta(days=1)


@pytest.fixture
def library(database_url: str) -> Iterator[Library]:
    library = Library(database_url)
    for name in ("harbour", "council"):
        library.create_collection(name)
    yield library
    library.close()


@pytest.fixture
def people(library: Library) -> People:
    return People(library)


def test_a_role_opens_one_collection_or_all(library: Library, people: People) -> None:
    assert not people.rights(ADA)
    people.grant(ADA, Scope.WRITE, library.collection("harbour"))
    rights = people.rights(ADA)
    assert [rights.allow(scope, "harbour") for scope in Scope] == [True, True, False]
    assert rights.scope("council") is None
    people.grant(ADA, Scope.READ)
    assert people.rights(ADA).scope("harbour") is Scope.WRITE
    assert people.rights(ADA).scope("council") is Scope.READ
    assert not people.rights("").by_name
    assert not people.rights("ben@propcite.example")


def test_owners_of_an_older_library_are_compared_as_people_are(library: Library, people: People) -> None:
    with library.engine.begin() as connection:
        upgrade(connection, "0013")
        connection.execute(text("UPDATE collections SET owner = 'Ada@Propcite.Example' WHERE name = 'harbour'"))
        connection.execute(text("UPDATE collections SET owner = 'The Council' WHERE name = 'council'"))
        upgrade(connection)
    assert people.rights(ADA) == Rights(None, {"harbour": Scope.ADMIN})
    assert people.rights("The Council") == Rights(None, {"council": Scope.ADMIN})


def test_a_later_role_replaces_the_earlier_one_and_a_revoked_one_is_gone(library: Library, people: People) -> None:
    harbour = library.collection("harbour")
    for scope in (Scope.ADMIN, Scope.READ):
        people.grant(ADA, scope, harbour)
        people.grant(ADA, scope)
    assert [(role.collection, role.scope) for role in people.roles()] in (
        [("", Scope.READ), ("harbour", Scope.READ)],
        [("harbour", Scope.READ), ("", Scope.READ)],  # PostgreSQL sorts nulls last
    )
    assert [role.person for role in people.roles(harbour)] == [ADA]
    people.revoke(ADA)
    assert people.rights(ADA) == Rights(None, {"harbour": Scope.READ})
    people.revoke(ADA, harbour)
    assert not people.rights(ADA)
    with pytest.raises(NotFoundError, match="propcite people list"):
        people.revoke(ADA, harbour)


def test_addresses_are_compared_in_lower_case_and_no_other_name_is_taken_for_one(people: People) -> None:
    people.grant(" Ada@Propcite.Example ", Scope.READ)
    assert people.rights("ADA@propcite.example").everywhere is Scope.READ
    for other in (
        "ada@propcite.example.evil.example",
        "ada",
        "ada@propcite.example\n",
        "*",
        "%",
        "ada@propcite_example",
    ):
        assert not people.rights(other) or other.strip() == ADA
    people.grant("Ada", Scope.READ)
    assert not people.rights("ada")
    for wrong in ("", " ", "a\nb", "x" * 201):
        with pytest.raises(StoreError, match="cannot be named"):
            people.grant(wrong, Scope.READ)


def test_an_owner_may_do_all_with_their_collections(library: Library, people: People) -> None:
    library.set_owner(library.collection("harbour"), "Ada@propcite.example")
    assert people.rights(ADA) == Rights(None, {"harbour": Scope.ADMIN})


def test_a_role_goes_with_its_collection(library: Library, people: People) -> None:
    people.grant(ADA, Scope.ADMIN, library.collection("harbour"))
    library.remove_collection(library.collection("harbour"))
    library.create_collection("harbour")
    assert not people.rights(ADA)
    assert people.roles() == []


def test_a_key_with_an_owner_opens_what_the_owner_may_up_to_its_scope(library: Library, people: People) -> None:
    keys = Keys(library)
    key, secret = keys.create("bot", Scope.WRITE, owner=ADA)
    assert key.collections == frozenset()
    people.grant(ADA, Scope.READ, library.collection("council"))
    library.set_owner(library.collection("harbour"), ADA)
    found = keys.find(secret)
    assert found is not None
    assert found.rights == Rights(None, {"council": Scope.READ, "harbour": Scope.WRITE})
    people.revoke(ADA, library.collection("council"))
    now = keys.find(secret)
    assert now is not None
    assert now.collections == {"harbour"}


def test_rights_include_others_that_allow_no_more() -> None:
    read, write = Rights(Scope.READ), Rights(Scope.WRITE)
    one = Rights(None, {"harbour": Scope.WRITE})
    assert write.include(read)
    assert write.include(one)
    assert not read.include(one)
    assert not one.include(read)
    assert one.include(Rights())
    assert one.at_most(Scope.READ) == Rights(None, {"harbour": Scope.READ})


def test_a_sign_in_ends_without_use_after_its_time_and_on_request(library: Library) -> None:
    signs = SignIns(library, idle=timedelta(hours=1), longest=timedelta(hours=8))
    now = datetime.now(UTC)

    def used_before(id_: str, ago: timedelta) -> None:
        with library.session() as session:
            session.execute(update(SignInRow).where(SignInRow.id == id_).values(last_used_at=now - ago))

    assert signs.use("a", ADA, now) is SignInState.BEGUN
    assert signs.use("a", ADA, now) is SignInState.KNOWN
    used_before("a", timedelta(minutes=59))
    assert signs.use("a", ADA, now - timedelta(hours=3), used=False) is not SignInState.ENDED
    assert signs.use("a", ADA, now - timedelta(hours=3)) is not SignInState.ENDED  # is written
    used_before("a", timedelta(minutes=59))
    assert signs.use("a", ADA, now - timedelta(hours=3)) is not SignInState.ENDED
    used_before("a", timedelta(minutes=61))
    assert signs.use("a", ADA, now - timedelta(hours=3)) is SignInState.ENDED
    assert signs.use("a", ADA, now - timedelta(hours=3)) is SignInState.ENDED  # asking again revives nothing
    assert signs.use("b", ADA, now - timedelta(hours=9)) is SignInState.ENDED
    assert signs.use("never seen", ADA, now - timedelta(hours=2)) is SignInState.ENDED
    assert signs.use("c", ADA, now) is not SignInState.ENDED
    signs.end("c", ADA)
    assert signs.use("c", ADA, now) is SignInState.ENDED
    signs.end("d", ADA)
    assert signs.use("d", ADA, now) is SignInState.ENDED


def test_looking_on_does_not_count_as_use(library: Library) -> None:
    signs = SignIns(library, idle=timedelta(hours=1), longest=timedelta(hours=8))
    now = datetime.now(UTC)
    assert signs.use("a", ADA, now) is not SignInState.ENDED
    with library.session() as session:
        session.execute(update(SignInRow).values(last_used_at=now - timedelta(minutes=50)))
    assert signs.use("a", ADA, now, used=False) is not SignInState.ENDED
    with library.session() as session:
        assert aware(session.scalars(select(SignInRow.last_used_at)).one()) == now - timedelta(minutes=50)


def test_the_log_is_filtered_and_forgets(library: Library) -> None:
    log = AuditLog(library, days=30)
    log.record(ADA, Via.PAGE, Action.ASKED, "harbour", "feedbeef")
    log.record("", Via.HTTP, Action.REMOVED_DOCUMENT, "council", "d1")
    log.record("ben", Via.COMMAND, Action.SHARED, "", "ada may read")
    assert [(e.who, e.via, e.action, e.collection) for e in log.find().items] == [
        ("ben", "command", "shared", ""),
        ("anyone", "http", "removed document", "council"),
        (ADA, "page", "asked", "harbour"),
    ]
    harbour = library.collection("harbour")
    assert [e.subject for e in log.find([harbour]).items] == ["feedbeef"]
    assert log.find([]).total == 0
    assert log.find(who=ADA).total == log.find(action="asked").total == 1
    assert log.find(since=datetime.now(UTC) + DAY).total == 0
    assert (log.find(first=1, limit=1).total, len(log.find(first=1, limit=1).items)) == (3, 1)
    with library.session() as session:
        session.execute(update(AuditRow).where(AuditRow.who == ADA).values(at=datetime.now(UTC) - 31 * DAY))
    assert log.find().total == 2
    AuditLog(library, days=30).record("ben", Via.COMMAND, Action.ASKED)
    with library.session() as session:
        assert session.query(AuditRow).count() == 3
    AuditLog(library, days=0).record("ben", Via.COMMAND, Action.ASKED)
    assert log.find().total == 3


def test_a_new_collection_does_not_show_what_was_done_in_a_removed_one_of_its_name(library: Library) -> None:
    log = AuditLog(library, days=30)
    log.record(ADA, Via.PAGE, Action.ASKED, "harbour", "old")
    library.remove_collection(library.collection("harbour"))
    again = library.create_collection("harbour")
    assert log.find([again]).total == 0
    assert log.find().total == 1


def test_a_backup_brings_roles_and_log_back(open_parts: Callable[..., Parts], tmp_path: Path) -> None:
    parts = open_parts(data_dir=tmp_path / "one")
    for name in ("harbour", "council"):
        parts.people.grant(ADA, Scope.WRITE, parts.library.create_collection(name))
    parts.people.grant("ben", Scope.READ)
    parts.audit.record(ADA, Via.PAGE, Action.ASKED, "harbour", "a1")
    path = tmp_path / "all.zip"
    create_backup(parts.library, parts.settings.data_dir, path)
    other, single = open_parts(data_dir=tmp_path / "two"), open_parts(data_dir=tmp_path / "three")
    restore_backup(path, lambda: other.library, other.settings.data_dir)
    assert [(r.person, r.collection, r.scope) for r in other.people.roles()] == [
        (r.person, r.collection, r.scope) for r in parts.people.roles()
    ]
    assert [e.subject for e in other.audit.find().items] == ["a1"]
    restore_backup(path, lambda: single.library, single.settings.data_dir, collection="council")
    assert single.people.rights(ADA) == Rights(None, {"council": Scope.WRITE})
    assert not single.people.rights("ben")
    assert single.audit.find().total == 0


def test_two_grants_over_all_at_the_same_time_leave_one_role(library: Library, people: People) -> None:
    others = [People(Library(library.url)) for _ in range(4)]
    scopes = [Scope.READ, Scope.WRITE, Scope.ADMIN, Scope.READ]
    with ThreadPoolExecutor(4) as threads:
        for _ in range(10):
            granted = threads.map(lambda pair: pair[0].grant(ADA, pair[1]), zip(others, scopes, strict=True))
            assert {role.scope for role in granted} == set(scopes)
            assert len(people.roles()) == 1
    assert people.rights(ADA).everywhere is people.roles()[0].scope


def test_an_older_library_with_two_roles_over_all_keeps_the_later_one(library: Library, people: People) -> None:
    with library.engine.begin() as connection:
        upgrade(connection, "0014")
        for number, scope in enumerate(("admin", "read")):
            row = f"('{ADA}', NULL, '{scope}', '2026-11-2{number} 00:00:00')"
            connection.execute(text(f"INSERT INTO roles (person, collection_id, scope, granted_at) VALUES {row}"))
        upgrade(connection)
    assert [role.scope for role in people.roles()] == [Scope.READ]
