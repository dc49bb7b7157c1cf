"""The commands that share collections with people and read the audit log."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from propcite.app.commands import AsJson, Panel, cli, find_collection, note, open_parts, record, write_json
from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from propcite.app.library.store import CollectionInfo, Role
    from propcite.app.parts import Parts

people = typer.Typer(no_args_is_help=True, help="Share collections with people who sign in on the page.")
cli.add_typer(people, name="people", rich_help_panel=Panel.SERVING)

Person = Annotated[str, typer.Argument(help="The name or e-mail address that the sign-in tells.")]
Shared = Annotated[str, typer.Option("--collection", "-c", help="The collection; without it, all of them.")]


class RoleName(StrEnum):
    read = "read"
    write = "write"
    admin = "admin"


@people.command()
def grant(
    person: Person,
    role: Annotated[RoleName, typer.Option(help="read: ask, cite; write: documents too; admin: share, delete.")] = (
        RoleName.read
    ),
    collection: Shared = "",
    as_json: AsJson = False,
) -> None:
    """Give a person a role in a collection or in all, in place of the one that they have there."""
    from propcite.app.library.store import Action, Scope

    parts = open_parts()
    granted = parts.people.grant(person, Scope(role.value), _collection(parts, collection))
    record(parts, Action.SHARED, collection, f"{granted.person}: {granted.scope}")
    _tell(granted, as_json, f"{granted.person} may {granted.scope} {_where(granted)}")


@people.command()
def revoke(person: Person, collection: Shared = "", as_json: AsJson = False) -> None:
    """Take a person's role away; what they have open closes within seconds."""
    from propcite.app.library.store import Action

    parts = open_parts()
    revoked = parts.people.revoke(person, _collection(parts, collection))
    record(parts, Action.UNSHARED, collection, revoked.person)
    _tell(revoked, as_json, f"{revoked.person} has no role {_where(revoked)} any more")


@people.command("list")
def list_(
    collection: Annotated[str, typer.Option("--collection", "-c", help="Only the roles in this collection.")] = "",
    as_json: AsJson = False,
) -> None:
    """List who has which role.  Owners of collections are listed by propcite list."""
    from propcite.app.terminal import show_table

    parts = open_parts()
    roles = parts.people.roles(_collection(parts, collection))
    if as_json:
        write_json([_fields(role) for role in roles])
    elif roles:
        rows = [[r.person, r.scope.value, r.collection or "all", f"{r.granted_at:%Y-%m-%d}"] for r in roles]
        show_table(["person", "role", "collection", "since"], rows)
    else:
        note("nobody has a role yet: propcite people grant NAME --role read -c COLLECTION")


@cli.command(rich_help_panel=Panel.SERVING)
def audit(
    collection: Annotated[str, typer.Option("--collection", "-c", help="Only what was done in this collection.")] = "",
    who: Annotated[str, typer.Option(help="Only what this person did.")] = "",
    action: Annotated[str, typer.Option(help="Only this action, as 'removed document'.")] = "",
    since: Annotated[str, typer.Option(help="Only from this day on, as 2026-11-26.")] = "",
    limit: Annotated[int, typer.Option("-n", min=1, max=1_000_000, help="The most entries to list.")] = 100,
    as_json: AsJson = False,
) -> None:
    """List who asked, gave feedback, added, removed or shared what, the newest first."""
    from propcite.app.library.store import Action
    from propcite.app.terminal import show_table

    if action and action not in list(Action):
        raise PropCiteError(f"there is no action {action[:40]!r}: it is one of {', '.join(Action)}")
    parts = open_parts()
    only = [find_collection(parts, collection)] if collection else None
    found = parts.audit.find(only, who=who, action=action, since=_day(since), limit=limit)
    if as_json:
        from dataclasses import asdict

        write_json([{**asdict(entry), "at": entry.at.isoformat()} for entry in found.items])
    elif found.items:
        rows = [[f"{e.at.astimezone():%Y-%m-%d %H:%M:%S}", e.who, e.via, e.action, e.collection, e.subject]
                for e in found.items]  # fmt: skip
        show_table(["when", "who", "by", "did", "collection", "what"], rows)
        if found.total > len(found.items):
            note(f"the newest {len(found.items)} of {found.total}: -n lists more")
    else:
        note("nothing of that kind" if collection or who or action or since else "nothing was done yet")


def _day(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC) if text else None
    except (ValueError, OverflowError) as error:
        raise PropCiteError(f"--since: {text[:40]!r} is no day: write it as 2026-11-26") from error


def _collection(parts: Parts, name: str) -> CollectionInfo | None:
    return parts.library.collection(name) if name else None


def _where(role: Role) -> str:
    return f"in {role.collection}" if role.collection else "in all collections"


def _fields(role: Role) -> dict[str, str | None]:
    return {
        "person": role.person,
        "role": role.scope.value,
        "collection": role.collection or None,
        "granted_at": role.granted_at.isoformat(),
    }


def _tell(role: Role, as_json: bool, line: str) -> None:
    if as_json:
        write_json(_fields(role))
    else:
        note(line)
