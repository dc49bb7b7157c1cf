"""The steps of an answer with their times: while it is made, and of a stored one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from propcite.attribution.citations import CitedAnswer

STEPS = ("understand", "retrieve", "write", "split", "cite", "judge")
PARTS = {"score": "cite", "encode passages": "cite", "search the collection": "cite"}  # timed parts of a step


@dataclass(frozen=True, slots=True)
class Step:
    """One step and its milliseconds so far; `done` when it is over."""

    name: str
    ms: float
    done: bool = True


def spent_by_step(timings: Mapping[str, float]) -> dict[str, float]:
    """Add up the timings per step, in the order of the steps.

    >>> spent_by_step({"retrieve": 60.0, "judge": 2.0, "score": 5.0, "encode passages": 1.5})
    {'retrieve': 60.0, 'cite': 6.5, 'judge': 2.0}
    """
    sums: dict[str, float] = {}
    for name, ms in timings.items():
        step = PARTS.get(name, name)
        if step in STEPS:
            sums[step] = sums.get(step, 0.0) + ms
    return {step: sums[step] for step in STEPS if step in sums}


def steps_of(answer: CitedAnswer) -> list[Step]:
    """Return the steps of a stored answer."""
    return [Step(name, ms) for name, ms in spent_by_step(answer.timings_ms).items()]


def steps_line(answer: CitedAnswer) -> str:
    """Return all steps in one line; empty where no time is known.

    >>> steps_line(CitedAnswer("", timings_ms={"retrieve": 60, "write": 1200, "score": 300}, written_from=("a", "b")))
    'found 2 passages in 60 ms · written in 1.2 s · cited in 300 ms'
    """
    spent = spent_by_step(answer.timings_ms)
    count = len(answer.written_from)
    what = f"{count} passage{'s' * (count != 1)} " if count else ""
    searched = spent.get("understand", 0.0) + spent["retrieve"] if "retrieve" in spent else None
    cited = [spent[step] for step in ("split", "cite", "judge") if step in spent]
    parts = [
        f"found {what}in {duration(searched)}" if searched is not None else "",
        f"written in {duration(spent['write'])}" if "write" in spent else "",
        f"cited in {duration(sum(cited))}" if cited else "",
    ]
    return " · ".join(filter(None, parts))


def duration(ms: float) -> str:
    """Write milliseconds as a person reads them.

    >>> duration(0.4), duration(61.2), duration(1234), duration(75_000)
    ('under 1 ms', '61 ms', '1.2 s', '1 min 15 s')
    """
    if ms < 1:
        return "under 1 ms"
    if ms < 1000:
        return f"{ms:.0f} ms"
    return f"{ms / 1000:.1f} s" if ms < 60_000 else f"{ms // 60_000:.0f} min {ms % 60_000 / 1000:.0f} s"
