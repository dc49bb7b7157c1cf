"""This machine in a cluster: Ray's processes on it, begun by one command and ended by another.

They run below one process, `ray start --block`, in a session of its own.  It holds a lock on the file that names it, so
that what is stopped later is what was begun here, and no other cluster of this machine.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from platformdirs import user_state_path
from pydantic import ValidationError

from propcite.app.cluster.sameness import Member, check_clock, check_same, check_shared, member_of
from propcite.app.errors import AppError
from propcite.app.parts import Parts
from propcite.app.server.connections import listen
from propcite.retrieval.extras import install_command
from propcite.retrieval.sharding.tokens import begin_with_token, use_token

PORT = 6379
START_S, STOP_S, PAUSE_S = 120.0, 45.0, 0.2
OBJECTS = 256 << 20  # bytes of memory for Ray's objects, which are small here; by default it takes a third
FACTS = b"first machine", b"propcite"  # the key and the namespace in the store of the cluster
_STARTED, _ADDRESS = "Ray runtime started", re.compile(r"--address='([^']+)'")
_NOISE = re.compile(r"^(?:\x1b\[[0-9;]*m)?[\d:, -]+ (?:ERR|ERROR|WARNING|INFO|PANIC|VINFO|SUCC) \S+ -- ")


@dataclass(frozen=True, slots=True)
class Started:
    """What was begun on this machine: the first process, the cluster's address, this machine's own if it was given."""

    pid: int
    cluster: str
    host: str = ""


def start(parts: Parts, *, address: str = "", port: int = PORT, host: str = "", more: Sequence[str] = ()) -> Started:
    """Start a cluster, or join the one at an address, with the checks of what its machines must have in common.

    `host` is the address of this machine; `more` is passed to `ray start`.
    """
    require_ray()
    if any(one.host == host for one, _ in _running()):
        raise AppError("this machine is in a cluster already: propcite cluster show, or propcite cluster stop first")
    if address:
        check_shared(parts.settings)
        _check_member(parts, address)
        where = ["--address", address]
    else:
        listen(host or "0.0.0.0", port).close()  # so that a port in use is reported before Ray starts
        begin_with_token()
        where = ["--head", "--port", str(port), "--include-dashboard", "false", "--disable-usage-stats"]
    check_clock(parts)
    own = member_of(parts, first=not address)
    if host:
        where += ["--node-ip-address", host]
    started = _begin([*where, "--object-store-memory", str(OBJECTS), *more], address, host)
    if not address:
        note_first(started.cluster, own)
    return started


def note_first(cluster: str, member: Member) -> None:
    """Keep in a cluster what machines that join it are compared with."""
    _client(cluster).internal_kv_put(FACTS[0], member.model_dump_json().encode(), True, FACTS[1])


def stop() -> list[Started]:
    """End what was begun on this machine, and return it; running requests get some time to end."""
    running, until = _running(), time.monotonic() + STOP_S
    for one, _ in running:
        with suppress(ProcessLookupError):
            os.kill(one.pid, signal.SIGTERM)
    for one, record in running:
        while _is_locked(record) and time.monotonic() < until:
            time.sleep(PAUSE_S)
        with suppress(ProcessLookupError):  # what is left of the session, if anything
            os.killpg(one.pid, signal.SIGKILL)
        record.unlink(missing_ok=True)
    return [one for one, _ in running]


def begun_here() -> list[Started]:
    """Return what was begun on this machine and still runs."""
    return [one for one, _ in _running()]


def require_ray() -> None:
    """Raise AppError where the extra is missing."""
    if find_spec("ray") is None:
        raise AppError(f"a cluster needs Ray: {install_command('cluster')}")
    if os.name != "posix":
        raise AppError("Ray runs clusters on Linux and macOS: start its machines there")


def _check_member(parts: Parts, address: str) -> None:
    """Compare this machine with the first one of a cluster."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=5).close()
    except (OSError, ValueError) as error:
        raise AppError(
            f"no cluster answers at {address!r} ({error}): give the address that propcite cluster start printed on "
            "the first machine"
        ) from error
    use_token(address)
    try:
        facts = _client(address).internal_kv_get(*FACTS)
    except Exception as error:  # whatever listens there speaks another language
        raise AppError(f"what listens at {address} is no Ray cluster of this version ({error})") from error
    if not facts:
        raise AppError(f"the cluster at {address} was not begun by propcite cluster start: run it on the first machine")
    try:
        first = Member.model_validate_json(facts)
    except ValidationError as error:
        raise AppError(f"the cluster at {address} has another version of PropCite: install it here") from error
    check_same(member_of(parts), first)


def _client(address: str) -> Any:
    """Return a client of a cluster's store, which needs no process of Ray on this machine."""
    from ray._raylet import GcsClient  # type: ignore[attr-defined]

    return GcsClient(address=address)


def _begin(words: Sequence[str], address: str, host: str) -> Started:
    """Run `ray start` below a process of its own until it says that it has started."""
    import fcntl

    folder = user_state_path("propcite", appauthor=False) / "cluster"
    folder.mkdir(parents=True, exist_ok=True)
    record = folder / f"{host or 'this machine'}.json"
    said = record.with_suffix(".log")
    with record.open("w") as locked, said.open("wb") as out:
        fcntl.flock(locked, fcntl.LOCK_EX)
        process = subprocess.Popen(
            [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", *words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=[locked.fileno()],  # it keeps the lock as long as it lives
            env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
        )
        until = time.monotonic() + START_S
        while _STARTED not in (text := said.read_text("utf-8", "replace")):
            if process.poll() is None and time.monotonic() < until:
                time.sleep(PAUSE_S)
                continue
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            record.unlink()
            raise AppError(f"Ray did not start ({_last_line(text)}): {said} has all that it said")
        named = _ADDRESS.search(text)
        started = Started(process.pid, address or (named[1] if named else ""), host)
        json.dump(asdict(started), locked)
    return started


def _last_line(text: str) -> str:
    """Return the last line that Ray said, without its time and place."""
    lines = [_NOISE.sub("", line).strip() for line in text.splitlines()]
    return next((line for line in reversed(lines) if line), "it said nothing")[:300]


def _running() -> list[tuple[Started, Path]]:
    found = []
    for record in sorted((user_state_path("propcite", appauthor=False) / "cluster").glob("*.json")):
        if _is_locked(record):
            with suppress(ValueError, TypeError):  # it is being started
                found.append((Started(**json.loads(record.read_text("utf-8"))), record))
    return found


def _is_locked(record: Path) -> bool:
    import fcntl

    with suppress(FileNotFoundError), record.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
