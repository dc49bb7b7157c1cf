"""Errors of requests, with their HTTP status."""

from __future__ import annotations

from propcite.app.errors import AppError, NotFoundError


class RequestError(AppError):
    """A request is refused with this status and these headers."""

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def too_much_work(what: str, setting: str) -> RequestError:
    """Return the error for a request that asks for more work than one may; `what` says how much there is."""
    return RequestError(413, f"{what}: send it in parts, or raise {setting}")


def not_ready() -> RequestError:
    return RequestError(503, "the models are still loading: try again in a moment", Retry_After="2")


def no_collection(name: str) -> NotFoundError:
    """Return the same error for a collection that does not exist and for one that the key does not open."""
    return NotFoundError(f"no collection {name!r}: GET /v1/collections lists the collections")
