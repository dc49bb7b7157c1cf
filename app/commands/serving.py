"""The commands that start the HTTP server and manage its keys."""

from __future__ import annotations

import ipaddress
import logging
import socket
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from propcite.app.commands import AsJson, Panel, cli, note, open_parts, record, write_json
from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from propcite.app.library.store import Key

keys = typer.Typer(no_args_is_help=True, help="Create, list and revoke keys of the HTTP server.")
cli.add_typer(keys, name="keys", rich_help_panel=Panel.SERVING)

PORT = 8600


class Scopes(StrEnum):
    read = "read"
    write = "write"
    admin = "admin"


@cli.command(rich_help_panel=Panel.SERVING)
def serve(
    host: Annotated[str, typer.Option(help="The address to listen on; addresses other than loopback require keys.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=1, max=65535, help="The server's port.")] = PORT,
    ask_keys: Annotated[bool, typer.Option("--keys", help="Require keys on loopback too.")] = False,
) -> None:
    """Serve cite, ask, search and documents over HTTP, and an OpenAI-compatible endpoint that cites."""
    import uvicorn

    from propcite.app.server.application import create_app
    from propcite.app.server.connections import server_config

    listening = _listening(host, port)
    parts = open_parts()
    on_loopback = _is_loopback(host)
    if (ask_keys or not on_loopback) and not parts.keys.any():
        raise PropCiteError(
            f"a server at {host} needs a key, and there is none: propcite keys create NAME --scope write makes one"
        )
    _log_lines()
    app = create_app(parts, on_loopback=on_loopback, requires_keys=ask_keys or not on_loopback)
    shown = f"[{host}]" if ":" in host else host
    note(f"PropCite listens at http://{shown}:{port}  ·  /docs shows its routes, Ctrl-C stops it")
    with suppress(KeyboardInterrupt):  # how a server is stopped
        uvicorn.Server(server_config(app, parts.settings)).run([listening])


def _listening(host: str, port: int) -> socket.socket:
    """Bind the socket before any model loads, so that a port in use is reported at once."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)  # asyncio sends at once only where TCP is named (TCP_NODELAY)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        raise PropCiteError(
            f"{host}:{port} cannot be listened on ({error.strerror or error}): give another --port or --host"
        ) from error
    return listening


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _log_lines() -> None:
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("propcite").setLevel(logging.INFO)


@keys.command()
def create(
    name: Annotated[str, typer.Argument(help="Who or what the key is for.")],
    scope: Annotated[Scopes, typer.Option(help="read: search, ask, cite; write: documents too; admin: all.")] = (
        Scopes.read
    ),
    collections: Annotated[
        list[str] | None, typer.Option("--collection", "-c", help="Only this collection; repeatable.")
    ] = None,
    owner: Annotated[str, typer.Option("--owner", help="Only what this person owns or may use, now and later.")] = "",
    as_json: AsJson = False,
) -> None:
    """Create a key.  It is shown only once; only its digest is stored."""
    from propcite.app.library.store import Action, Scope

    parts = open_parts()
    key, secret = parts.keys.create(name, Scope(scope.value), collections or (), owner)
    record(parts, Action.CREATED_KEY, subject=f"{key.id}: {key.scope}")
    if as_json:
        write_json({**_key_fields(key), "key": secret})
    else:
        typer.echo(secret)
        note(f"key {key.id} for {key.name}: {key.scope}, {_access(key)}; it is not shown again")


@keys.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the keys, including revoked ones."""
    from propcite.app.terminal import show_table

    found = open_parts().keys.all()
    if as_json:
        write_json([_key_fields(key) for key in found])
    elif found:
        rows = [[k.id, k.name, k.scope.value, _access(k), f"{k.created_at:%Y-%m-%d}", _state(k)] for k in found]
        show_table(["id", "name", "scope", "collections", "made", ""], rows)
    else:
        note("no keys yet: propcite keys create NAME")


@keys.command()
def revoke(key_id: Annotated[str, typer.Argument(help="The key's id, as keys list shows it.")]) -> None:
    """Revoke a key."""
    from propcite.app.library.store import Action

    parts = open_parts()
    key = parts.keys.revoke(key_id)
    record(parts, Action.REVOKED_KEY, subject=key.id)
    note(f"revoked key {key.id} for {key.name}")


def _key_fields(key: Key) -> dict[str, object]:
    return {
        "id": key.id,
        "name": key.name,
        "scope": key.scope.value,
        "collections": sorted(key.collections) if key.collections is not None else None,
        "owner": key.owner,
        "created_at": key.created_at.isoformat(),
        "revoked_at": key.revoked_at.isoformat() if key.revoked_at else None,
    }


def _access(key: Key) -> str:
    opened = "all collections" if key.collections is None else ", ".join(sorted(key.collections))
    return f"{key.owner}'s collections ({opened or 'none yet'})" if key.owner else opened


def _state(key: Key) -> str:
    return f"revoked {key.revoked_at:%Y-%m-%d}" if key.revoked_at else ""
