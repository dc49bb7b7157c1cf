"""The error of a client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from propcite.retrieval.errors import PropCiteError


class ServerError(PropCiteError):
    """The server refused a request, failed, could not be reached, or broke off its answer.

    `status` is that of HTTP, 0 if there was no response; `detail` is the server's own line; `errors` are the fields
    that are wrong; `retry_after` says in how many seconds a new try makes sense, None if the server did not say.

    >>> str(ServerError(404, "no collection 'x'"))
    "no collection 'x' (404)"
    """

    def __init__(
        self,
        status: int,
        detail: str,
        errors: Sequence[Mapping[str, Any]] = (),
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{detail} ({status})" if status else detail)
        self.status = status
        self.detail = detail
        self.errors = tuple(errors)
        self.retry_after = retry_after


def unreachable(address: str, error: Exception) -> ServerError:
    what = " ".join(str(error).split()) or type(error).__name__
    return ServerError(
        0, f"{address} cannot be reached ({what}): start it with `propcite serve`, or name another address"
    )


def broken(reason: str) -> ServerError:
    """Return the error of a stream without an end."""
    return ServerError(0, f"the answer broke off ({reason}): ask again")


def unreadable(error: Exception) -> ServerError:
    return ServerError(0, f"the response cannot be read ({error}): use a client of the server's version")
