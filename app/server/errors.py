"""What can go wrong with a request, beside what can go wrong with its work."""

from __future__ import annotations

from propcite.app.errors import AppError, NotFoundError


class RequestError(AppError):
    """A request that is refused as it stands, with the status that says so."""

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def too_busy(waiting: int) -> RequestError:
    return RequestError(503, f"{waiting} requests are waiting already: try again in a moment", Retry_After="1")


def not_ready() -> RequestError:
    return RequestError(503, "the models are still loading: try again in a moment", Retry_After="2")


def hidden(collection: str) -> NotFoundError:
    """A collection that is not there, or that this key does not open: nobody learns which."""
    return NotFoundError(f"no collection {collection!r}: GET /v1/collections lists those that are there")
