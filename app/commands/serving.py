"""The commands that start the page and the HTTP server, and manage its keys."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from propcite.app.commands import AsJson, Collection, Panel, account_name, cli, note, open_parts, record, write_json
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.extras import install_command

if TYPE_CHECKING:
    from propcite.app.library.store import Key
    from propcite.app.parts import Parts

keys = typer.Typer(no_args_is_help=True, help="Create, list and revoke keys of the HTTP server.")
cli.add_typer(keys, name="keys", rich_help_panel=Panel.SERVING)

PORT, MCP_PORT = 8600, 8610


class Scopes(StrEnum):
    read = "read"
    write = "write"
    admin = "admin"


Host = Annotated[str, typer.Option(help="The address to listen on; addresses other than loopback require keys.")]
Port = Annotated[int, typer.Option(min=1, max=65535, help="The server's port.")]
AskKeys = Annotated[bool, typer.Option("--keys", help="Require keys on loopback too.")]


@cli.command(rich_help_panel=Panel.SERVING)
def serve(host: Host = "127.0.0.1", port: Port = PORT, ask_keys: AskKeys = False) -> None:
    """Serve cite, ask, search and documents over HTTP, an OpenAI-compatible endpoint that cites, and agents at /mcp."""
    _serve(open_parts, host, port, ask_keys, "/docs shows its routes")


@cli.command(rich_help_panel=Panel.SERVING)
def mcp(
    collection: Collection = "",
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP at /mcp, not standard input.")] = False,
    host: Host = "127.0.0.1",
    port: Port = MCP_PORT,
    ask_keys: AskKeys = False,
) -> None:
    """Serve agents (Model Context Protocol) over standard input and output, for a client that starts this command."""
    if find_spec("mcp") is None:
        raise PropCiteError(f"this command needs the extra mcp: {install_command('mcp')}")
    if http:
        opened = partial(open_parts, collection=collection or None)
        _serve(opened, host, port, ask_keys, "agents reach it at /mcp", only_agents=True)
        return
    if sys.stdin.isatty():
        note("waiting for a client on standard input; clients start this command themselves (docs/mcp.md)")
    from propcite.app.server.logs import set_up_logs
    from propcite.app.server.mcp.transports import serve_stdio

    parts = open_parts(collection=collection or None)
    set_up_logs(parts.settings.log_format, logging.WARNING)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the thread that waits for input ends with the process alone
    asyncio.run(serve_stdio(parts, account_name()))


def _serve(
    open_them: Callable[[], Parts], host: str, port: int, ask_keys: bool, hint: str, *, only_agents: bool = False
) -> None:
    import uvicorn

    from propcite.app.server.application import create_app
    from propcite.app.server.connections import is_loopback, listen, server_config, shown_address
    from propcite.app.server.logs import prepare_telemetry, set_up_logs

    listening = listen(host, port)
    parts = open_them()
    on_loopback = is_loopback(host)
    requires_keys = ask_keys or not on_loopback
    if requires_keys:
        check_keys(parts, host)
    set_up_logs(parts.settings.log_format)
    prepare_telemetry()
    app = create_app(parts, on_loopback=on_loopback, requires_keys=requires_keys, only_agents=only_agents)
    note(f"PropCite listens at {shown_address(host, port)}  ·  {hint}, Ctrl-C stops it")
    with suppress(KeyboardInterrupt):  # how a server is stopped
        uvicorn.Server(server_config(app, parts.settings)).run([listening])


def check_keys(parts: Parts, host: str) -> None:
    """Raise PropCiteError if there is no key, without which a server there would refuse everything."""
    if not parts.keys.any():
        raise PropCiteError(
            f"a server at {host} needs a key, and there is none: propcite keys create NAME --scope write makes one"
        )


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


@keys.command("renew-links")
def renew_links(
    keep: Annotated[bool, typer.Option("--keep", help="Links made before stay valid until they end.")] = False,
) -> None:
    """Sign links to documents with a new secret; links made before open nothing more."""
    from propcite.app.library.store import Action

    parts = open_parts()
    if parts.settings.link_secret:
        raise PropCiteError("links are signed with PROPCITE_LINK_SECRET: change that setting")
    parts.link_secrets.replace(keep=keep)
    record(parts, Action.REVOKED_KEY, subject="links")
    note("links are signed with a new secret; those made before " + ("still open" if keep else "open nothing more"))


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


@cli.command(rich_help_panel=Panel.ASKING)
def ui(
    port: Annotated[int, typer.Option(min=1, max=65535, help="The page's port.")] = 8501,
    headless: Annotated[bool, typer.Option(help="Do not open a browser.")] = False,
) -> None:
    """Start the web page."""
    import subprocess

    from propcite.app.settings import check_sign_in, load_settings

    check_sign_in(load_settings())

    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            free.bind(("localhost", port))
        except OSError as error:
            raise PropCiteError(f"port {port} is taken ({error.strerror}): give another with --port") from error
    # A process of its own, named by its file: the application never imports the page that shows it.
    flags = ["--headless"] if headless else []
    words = [sys.executable, "-P", "-m", "propcite.ui.launch", str(port), *flags]
    if os.name == "posix":  # this process becomes the page, so that a signal ends the page itself
        os.execv(words[0], words)
    raise typer.Exit(subprocess.call(words))
