"""The commands of a cluster: machines join and leave it, and servers run on them."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from propcite.app.commands import AsJson, Panel, cli, note, open_parts, write_json
from propcite.app.commands.serving import PORT, AskKeys, Host, Port, check_keys
from propcite.app.errors import AppError

if TYPE_CHECKING:
    from propcite.app.settings import Settings

cluster = typer.Typer(no_args_is_help=True, help="A Ray cluster of several machines, and servers on all of them.")
cli.add_typer(cluster, name="cluster", rich_help_panel=Panel.SERVING)

Address = Annotated[
    str,
    typer.Option("--address", help="The cluster's, as start printed it; default: PROPCITE_CLUSTER, or this machine's."),
]


@cluster.command()
def start(
    address: Annotated[str, typer.Option("--address", help="Join the cluster there; without it, begin one.")] = "",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where the first machine listens for others.")] = 6379,
    host: Annotated[str, typer.Option(help="This machine's address in the network of the cluster.")] = "",
    more: Annotated[list[str] | None, typer.Argument(help="After --: words for ray start, as --num-cpus 4.")] = None,
) -> None:
    """Start a cluster on this machine, or join one, after checks of what all its machines must have in common."""
    from propcite.app.cluster.machines import start

    started = start(open_parts(), address=address, port=port, host=host, more=more or ())
    if address:
        note(f"this machine is in the cluster at {started.cluster}  ·  propcite cluster show lists its machines")
    else:
        from propcite.retrieval.sharding.tokens import MODE, token_file

        token = f"asks for the token in {token_file()}: copy that file to each other machine"
        if os.environ.get(MODE) != "token":
            token = f"asks for no token ({MODE}={os.environ.get(MODE)}), and who reaches it runs code on its machines"
        note(
            f"the cluster is at {started.cluster}  ·  on each other machine: propcite cluster start --address "
            f"{started.cluster}  ·  it {token}  ·  keep Ray's ports in a network of their own: nothing is encrypted"
        )


@cluster.command()
def show(address: Address = "", as_json: AsJson = False) -> None:
    """Show the machines of the cluster and the servers on them."""
    from propcite.app.cluster.deploying import machines, running_servers
    from propcite.app.terminal import show_table

    _connect(address, open_parts().settings)
    rows = [asdict(one) for one in machines()]
    state, servers = running_servers()
    if as_json:
        write_json({"machines": rows, "state": state, "servers": servers})
        return
    show_table(list(rows[0]), [[str(value) for value in row.values()] for row in rows])
    counts = ", ".join(f"{number} {name}" for name, number in servers.items())
    note(f"servers: {state} ({counts})" if state else "no servers: propcite cluster serve starts them")


@cluster.command()
def serve(
    address: Address = "",
    host: Host = "127.0.0.1",
    port: Port = PORT,
    replicas: Annotated[int, typer.Option(min=0, help="Servers, each on a machine of its own; 0: on all.")] = 0,
    ask_keys: AskKeys = False,
    as_json: AsJson = False,
) -> None:
    """Run the server on the machines of the cluster, or replace it there one by one, without an error for a request."""
    from propcite.app.cluster.deploying import deploy
    from propcite.app.server.connections import is_loopback

    parts = open_parts()
    requires_keys = ask_keys or not is_loopback(host)
    if requires_keys:
        check_keys(parts, host)
    _connect(address, parts.settings)
    number, where = deploy(parts, host=host, port=port, replicas=replicas, requires_keys=requires_keys)
    if as_json:
        write_json({"servers": number, "address": where})
    else:
        note(
            f"{number} servers listen at {where} on each of their machines; propcite cluster serve again replaces them"
        )


@cluster.command()
def stop(as_json: AsJson = False) -> None:
    """Leave the cluster with this machine; ends what start began here, and no other cluster."""
    from propcite.app.cluster.machines import require_ray, stop

    require_ray()
    ended = stop()
    if as_json:
        write_json({"stopped": [one.cluster for one in ended]})
    elif ended:
        note(f"this machine left the cluster at {', '.join(one.cluster for one in ended)}")
    else:
        note("propcite cluster start began nothing that still runs here")


def _connect(address: str, settings: Settings) -> None:
    """Connect this process to a cluster of which this machine is a part."""
    from propcite.app.cluster.machines import begun_here, require_ray
    from propcite.retrieval.sharding.hosts import connect

    require_ray()
    named = "" if settings.cluster == "local" else settings.cluster
    place = address or named or next((one.cluster for one in begun_here()), "")
    if not place:
        raise AppError("this machine is in no cluster: propcite cluster start begins or joins one")
    connect(place)
