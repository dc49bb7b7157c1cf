"""What can go wrong with a request, beside what can go wrong with its work."""

from __future__ import annotations

from app.errors import AppError


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
