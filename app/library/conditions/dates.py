"""Dates as documents write them, in a form that can be compared: as much of 2024-05-01T09:30:00 as is known, in UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache

FULL = "0000-01-01T00:00:00"
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()

_ISO = re.compile(
    r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2})"
    r"(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?)?)?"
)
_PDF = re.compile(r"D:(\d{4})(?:(\d{2})(?:(\d{2})(?:(\d{2})(\d{2})(\d{2})?)?)?)?(?:Z|[+-]\d{2}'?\d{2}'?)?.*")
_DAY_FIRST = re.compile(r"(\d{1,2})\.? ([A-Za-z]{3,9})\.?,? (\d{4})")
_MONTH_FIRST = re.compile(r"([A-Za-z]{3,9})\.? (?:(\d{1,2}),? )?(\d{4})")


@lru_cache(8192)  # many documents of a library have the same
def moment(text: str) -> str | None:
    """A date or time as ISO 8601 writes it, so far as it is told; None where it is none.

    >>> moment("2024-5"), moment("18 October 2024"), moment("2024-05-01T10:00+02:00"), moment("soon")
    ('2024-05', '2024-10-18', '2024-05-01T08:00:00', None)
    """
    text = text.strip()
    for pattern, order in ((_ISO, (1, 2, 3, 4, 5, 6)), (_PDF, (1, 2, 3, 4, 5, 6))):
        if found := pattern.fullmatch(text):
            return _written([found[i] for i in order], found[7] if pattern is _ISO else None)
    if found := _DAY_FIRST.fullmatch(text):
        return _written([found[3], _month(found[2]), found[1]])
    if found := _MONTH_FIRST.fullmatch(text):
        return _written([found[3], _month(found[1]), found[2]])
    return _mailed(text) if ":" in text else None


def compared(told: str, wanted: str) -> int:
    """Below 0, 0 or above it: where a date lies beside a day, month or year.

    >>> compared("2024-05-17", "2024-05"), compared("2023", "2024-05"), compared("2025", "2024-12-31")
    (0, -1, 1)
    """
    known = (told + FULL[len(told) :])[: len(wanted)]
    return (known > wanted) - (known < wanted)


def _month(name: str) -> str:
    short = name[:3].lower()
    return str(MONTHS.index(short) + 1) if short in MONTHS else "0"


def _written(parts: list[str | None], zone: str | None = None) -> str | None:
    numbers = [int(part) for part in parts if part is not None]
    try:
        year, month, day, hour, minute, second = (*numbers, *(1, 1, 1, 0, 0, 0)[len(numbers) :])
        time = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        if zone and zone != "Z":
            time = datetime.fromisoformat(time.isoformat()[:19] + zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return time.isoformat()[: {1: 4, 2: 7, 3: 10}.get(len(numbers), 19)]


def _mailed(text: str) -> str | None:
    try:
        time = parsedate_to_datetime(text)
        return (time.astimezone(UTC) if time.tzinfo else time).isoformat()[:19]
    except (ValueError, TypeError, OverflowError):
        return None
