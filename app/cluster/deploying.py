"""Servers on the machines of a cluster: deployed by Ray Serve, replaced one after another by the next deployment."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from propcite.app.cluster.machines import note_first
from propcite.app.cluster.sameness import check_shared, member_of
from propcite.app.errors import AppError
from propcite.app.parts import Parts
from propcite.app.server.connections import is_loopback, listen, shown_address
from propcite.retrieval.extras import install_command

APPLICATION = "propcite"
SERVING = "servers of a cluster need Ray Serve: "
_REASON = re.compile(r"^(?:[\w.]+\.)?(?:\w*Error|\w*Exception): (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine of a cluster, whether it answers, its processors, and whether it listens for requests."""

    address: str
    state: str
    processors: int
    listens: str


def deploy(parts: Parts, *, host: str, port: int, replicas: int = 0, requires_keys: bool = True) -> tuple[int, str]:
    """Run servers on that many machines of the cluster that this process is connected to; 0: on all.

    Returns their number and address.  Servers of an earlier deployment end once their requests are answered, while
    those of this one take their places.
    """
    machines = [one for one in _nodes() if one["Alive"]]
    replicas = replicas or len(machines)
    if replicas > len(machines):
        raise AppError(
            f"the cluster has {len(machines)} machines, and each has one server, which uses all its processors: give "
            f"--replicas {len(machines)}, or start more machines (propcite cluster start --address)"
        )
    if len(machines) > 1:  # a machine that is lost hands its server to another
        check_shared(parts.settings)
    member, _ = member_of(parts, first=True), parts.propcite  # what cannot be loaded here replaces no server
    with _serve() as serve:
        _listen(serve, host, port)
        from propcite.app.cluster.serving import app

        args = {
            "replicas": replicas,
            "requires_keys": requires_keys,
            "on_loopback": is_loopback(host),
            "settings": parts.settings.model_dump(),
            "member": member.model_dump(),
        }
        try:
            serve.run(app(args), name=APPLICATION, route_prefix="/")
        except RuntimeError as error:
            raise AppError(f"the servers did not start: {_reason(serve, str(error))}") from error
    note_first(_address(), member)  # it may have another version since
    return replicas, shown_address(host, port)


def running_servers() -> tuple[str, dict[str, int]]:
    """Return the state of the servers of the cluster, and how many there are by state; empty where none are."""
    with _serve() as serve:
        application = serve.status().applications.get(APPLICATION)
    if application is None:
        return "", {}
    states: dict[Any, int] = next((one.replica_states for one in application.deployments.values()), {})
    return str(application.status.value).lower(), {str(name).lower(): number for name, number in states.items()}


def machines() -> list[Machine]:
    """Return the machines of the cluster that this process is connected to, with those that left it."""
    with _serve() as serve:
        listening = serve.status().proxies
    return [
        Machine(
            address=node["NodeManagerAddress"],
            state="here" if node["Alive"] else "gone",
            processors=int(node["Resources"].get("CPU", 0)),
            listens=str(getattr(listening.get(node["NodeID"]), "value", "")).lower(),
        )
        for node in _nodes()
    ]


def _listen(serve: Any, host: str, port: int) -> None:
    """Let every machine with a server listen; AppError if they do so elsewhere already, or the port is in use here."""
    from ray.serve.context import _get_global_client

    client: Any = _get_global_client(raise_if_no_controller_running=False)
    if client is None:
        listen(host, port).close()
        serve.start(proxy_location="EveryNode", http_options={"host": host, "port": port})
        return
    now = client.http_config
    if (now.host, now.port) != (host, port):
        raise AppError(
            f"the servers listen at {shown_address(now.host, now.port)}, which stays so while Ray Serve runs: give "
            f"--host {now.host} --port {now.port}, or run serve shutdown first"
        )


@contextmanager
def _serve() -> Iterator[Any]:
    try:
        from ray import serve
    except ImportError as error:
        raise AppError(SERVING + install_command("cluster")) from error
    logging.getLogger("ray.serve").setLevel(logging.WARNING)
    yield serve


def _address() -> str:
    import ray

    return str(ray.get_runtime_context().gcs_address)


def _nodes() -> list[dict[str, Any]]:
    import ray

    found: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    return sorted(found, key=lambda node: str(node["NodeManagerAddress"]))


def _reason(serve: Any, message: str) -> str:
    """Return the last error that Ray names, whose messages hold the traces of several processes; else its message."""
    application = serve.status().applications.get(APPLICATION)
    messages = [one.message for one in application.deployments.values()] if application else []
    named = [reason for text in (message, *messages) for reason in _REASON.findall(text)]
    return str(named[-1] if named else message.strip().splitlines()[-1])
