"""What the sync and the async client share: the connection's options, when to try again, and responses as errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from propcite.app.client.errors import ServerError

BUSY = (429, 503)  # the server did nothing yet, so that even what changes something can be sent again
LONGEST_WAIT_S = 60.0
FIRST_WAIT_S = 0.5


@dataclass(frozen=True, slots=True)
class Retrying:
    """Tries again where the server is busy: so many times, after as long as it says."""

    retries: int

    def wait(self, response: httpx.Response, tried: int) -> float | None:
        """Return how long to wait before the next try; None where there is none."""
        if response.status_code not in BUSY or tried >= self.retries:
            return None
        wait = seconds_in(response.headers.get("Retry-After"))
        wait = FIRST_WAIT_S * 2**tried if wait is None else wait
        return wait if wait <= LONGEST_WAIT_S else None


def seconds_in(retry_after: str | None) -> float | None:
    """Return the seconds of a header Retry-After, which may be a date; None where it is none.

    >>> seconds_in("2"), seconds_in("soon"), seconds_in(None)
    (2.0, None, None)
    """
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        moment = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return max(0.0, (moment - datetime.now(UTC)).total_seconds()) if moment.tzinfo else None


def headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def error_of(response: httpx.Response) -> ServerError:
    """Return the error that a response is, whose body was read: problem details, or whatever a proxy sent."""
    problem: Mapping[str, Any] = {}
    try:
        found = response.json()
        problem = found if isinstance(found, dict) else {}
    except ValueError:
        pass
    detail = str(problem.get("detail") or response.reason_phrase or "the server refused")
    errors = problem.get("errors")
    wait = seconds_in(response.headers.get("Retry-After"))
    return ServerError(response.status_code, detail, errors if isinstance(errors, list) else (), wait)
