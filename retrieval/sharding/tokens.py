"""The token of a Ray cluster: who has none is refused, because whoever takes part runs code on its machines."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from propcite.retrieval.errors import RetrievalError

MODE, FILE = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN_PATH"
TIMEOUT_S = 5


def token_file() -> Path:
    """Return where this machine keeps the token, for Ray too; the variable RAY_AUTH_TOKEN takes its place."""
    return Path(os.environ.get(FILE) or Path.home() / ".ray" / "auth_token")


def begin_with_token() -> bool:
    """Let a cluster that begins here ask for a token, made if there is none; False if RAY_AUTH_MODE says otherwise."""
    if os.environ.get(MODE, "token").lower() != "token":
        return False
    if not _has_token():
        path = token_file()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
        _loader().reset_cache()
    _enable()
    return True


def use_token(address: str) -> None:
    """Use the token of this machine where the cluster at an address asks for one; RetrievalError if it takes none."""
    if MODE in os.environ and os.environ[MODE].lower() != "token":
        return
    if MODE in os.environ and not _has_token():
        raise RetrievalError(_line(address, f"{MODE} is token, and this machine has none"))
    if _is_admitted(address):
        return
    if not _has_token():
        raise RetrievalError(_line(address, "it asks for a token, and this machine has none"))
    _enable()
    if not _is_admitted(address):
        raise RetrievalError(_line(address, "it refuses the token of this machine"))


def _line(address: str, what: str) -> str:
    return (
        f"the cluster at {address} cannot be used, because {what}: copy {token_file()} from the cluster's first "
        "machine, or set RAY_AUTH_TOKEN"
    )


def check_reachable(address: str) -> None:
    """Raise OSError where no machine takes a connection at `host:port`: Ray would go on trying for minutes."""
    host, _, port = address.rpartition(":")
    if "://" not in host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=TIMEOUT_S).close()


def _is_admitted(address: str) -> bool:
    """Return whether a cluster admits this process; RetrievalError where something else listens at the address."""
    from ray._raylet import GcsClient  # type: ignore[attr-defined]
    from ray.exceptions import AuthenticationError

    try:
        with _silent():
            GcsClient(address=address).internal_kv_get(b"", b"propcite")
    except AuthenticationError:
        return False
    except Exception as error:  # joining it would try again for minutes
        raise RetrievalError(
            f"what listens at {address} is no Ray cluster of this version: give the address that propcite cluster "
            "start or ray start printed on the first machine"
        ) from error
    return True


@contextmanager
def _silent() -> Iterator[None]:
    """Keep Ray's own code from writing to standard error that it was refused."""
    stderr, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nothing)


def _has_token() -> bool:
    from ray.exceptions import AuthenticationError

    try:
        return bool(_loader().has_token(ignore_auth_mode=True))
    except AuthenticationError:  # the file that RAY_AUTH_TOKEN_PATH names is not there
        return False


def _enable() -> None:
    from ray._raylet import Config  # type: ignore[attr-defined]

    os.environ[MODE] = "token"
    Config.initialize("")


def _loader() -> Any:
    from ray._raylet import AuthenticationTokenLoader  # type: ignore[attr-defined]

    return AuthenticationTokenLoader.instance()
