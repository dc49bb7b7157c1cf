"""The times of day that a text states, whether it counts twelve hours or twenty-four."""

from __future__ import annotations

import re

CLOCK = re.compile(r"(?<![\w.:])\d{1,2}:\d{2}(?![\w:])")
HALF_DAY = re.compile(
    r"(?<![\w.:,])(?P<hour>1[0-2]|0?[1-9])(?::(?P<minutes>[0-5]\d))?\s?(?ai:(?P<half>[ap])(?:\.\s?m\.|m\b))"
)


def times(text: str) -> set[str]:
    """Each time in one spelling, in twenty-four hours where the text says which half of the day it means.

    >>> sorted(times("at 9 a.m., 2:30 pm, 14:30 or 09:15"))
    ['14:30', '9:00 am', '9:15']
    """
    told = {_spelling(int(m["hour"]), m["minutes"] or "00", m["half"].lower()) for m in HALF_DAY.finditer(text)}
    return told | {_spelling(int(m[:-3]), m[-2:]) for m in CLOCK.findall(HALF_DAY.sub(" ", text))}


def without_times(text: str) -> str:
    return CLOCK.sub(" ", HALF_DAY.sub(" ", text))


def same_time(one: str, other: str) -> bool:
    """Whether two times in that spelling may be the same: one that leaves the half of the day open may be either.

    >>> same_time("2:30", "14:30"), same_time("2:30 am", "14:30"), same_time("2:30 am", "2:30")
    (True, False, True)
    """
    return one == other or (_in_twelve(one) == _in_twelve(other) and (_is_open(one) or _is_open(other)))


def _spelling(hour: int, minutes: str, half: str = "") -> str:
    if half == "p" and hour < 12:
        return f"{hour + 12}:{minutes}"
    return f"{hour}:{minutes}" + (f" {half}m" if half else "")


def _in_twelve(time: str) -> str:
    hour, _, minutes = time.split(" ")[0].partition(":")
    return f"{int(hour) % 12}:{minutes}"


def _is_open(time: str) -> bool:
    return " " not in time and 1 <= int(time.partition(":")[0]) <= 12
