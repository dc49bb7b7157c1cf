"""Parse dates in the forms that documents use to comparable text: 2024-05-01T09:30:00 in UTC, or the start of it."""

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


@lru_cache(8192)  # many documents of a library have the same date
def parse_date(text: str) -> str | None:
    """Return a date or time in ISO 8601, as precise as it is given; None if the text is none.

    >>> parse_date("2024-5"), parse_date("18 October 2024"), parse_date("2024-05-01T10:00+02:00"), parse_date("soon")
    ('2024-05', '2024-10-18', '2024-05-01T08:00:00', None)
    """
    text = text.strip()
    for pattern in (_ISO, _PDF):
        if match := pattern.fullmatch(text):
            return _iso([match[i] for i in range(1, 7)], match[7] if pattern is _ISO else None)
    if match := _DAY_FIRST.fullmatch(text):
        return _iso([match[3], _month(match[2]), match[1]])
    if match := _MONTH_FIRST.fullmatch(text):
        return _iso([match[3], _month(match[1]), match[2]])
    return _email_date(text) if ":" in text else None


def compare_dates(date: str, with_: str) -> int:
    """Return a number below, equal to or above 0; a date equals the month or year that contains it.

    >>> compare_dates("2024-05-17", "2024-05"), compare_dates("2023", "2024-05"), compare_dates("2025", "2024-12-31")
    (0, -1, 1)
    """
    start = (date + FULL[len(date) :])[: len(with_)]
    return (start > with_) - (start < with_)


def _month(name: str) -> str:
    short = name[:3].lower()
    return str(MONTHS.index(short) + 1) if short in MONTHS else "0"


def _iso(parts: list[str | None], zone: str | None = None) -> str | None:
    numbers = [int(part) for part in parts if part is not None]
    try:
        year, month, day, hour, minute, second = (*numbers, *(1, 1, 1, 0, 0, 0)[len(numbers) :])
        time = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        if zone and zone != "Z":
            time = datetime.fromisoformat(time.isoformat()[:19] + zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return time.isoformat()[: {1: 4, 2: 7, 3: 10}.get(len(numbers), 19)]


def _email_date(text: str) -> str | None:
    try:
        time = parsedate_to_datetime(text)
        return (time.astimezone(UTC) if time.tzinfo else time).isoformat()[:19]
    except (ValueError, TypeError, OverflowError):
        return None
