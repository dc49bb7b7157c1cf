"""Wording of runs; filters and orders of runs and items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from propcite.app.library.store.runs import DONE, RunInfo, RunItem
from propcite.ui.words import counted

if TYPE_CHECKING:  # a first look loads no numpy
    from propcite.app.lab.runs.aggregates import Measure
    from propcite.app.lab.runs.comparison import ItemChange

WHAT = {
    "asqa": "ALCE's ASQA: answers with docs, cited in several ways",
    "cite": "Citations beside simpler ways of citing: ALCE's JSON, or JSON lines of claims with docs",
    "sentences": "Sentences ranked within their passages: JSON lines of query, sentences, positive_sentence_ids",
    "split": "Facts cut from sentences: JSON lines of sentence and propositions",
    "verdicts": "How far the judges can be trusted: JSON lines of claim, evidence and label",
}
NUM_IN_A_LINE = 90  # letters of a question in a list


def title(run: RunInfo) -> str:
    return f"{run.kind} on {run.name}"


def progress(run: RunInfo) -> str:
    """Say how far a run is."""
    if run.num_expected and run.state != DONE:
        return f"{run.num_items:,} of {counted(run.num_expected, 'item')}"
    return counted(run.num_items, "item")


def state(run: RunInfo, process: int | None) -> str:
    """Say whether a run is finished, running, or stopped."""
    if run.state == DONE:
        return f"finished, {progress(run)}"
    return f"being measured, {progress(run)}" if process else f"interrupted at {progress(run)}"


def details(run: RunInfo, process: int | None) -> str:
    """Return the line below a run's name: date, progress, judge, id."""
    judged = f"judged by {run.judge}" if run.judge else ""
    when = f"{run.started_at.astimezone():%d %b %Y, %H:%M}"
    return " · ".join(filter(None, (when, state(run, process), judged, run.id)))


def matching(runs: Iterable[RunInfo], kind: str | None, text: str) -> list[RunInfo]:
    """Return the runs of a kind that contain every word in file, judge, id, date, ways or settings."""
    words = text.lower().split()
    return [run for run in runs if kind in (None, run.kind) and all(word in _searched_text(run) for word in words)]


def _searched_text(run: RunInfo) -> str:
    when = f"{run.started_at.astimezone():%d %b %Y %Y-%m-%d}"
    return f"{run.id} {run.kind} {run.name} {run.judge} {run.state} {when} {dict(run.settings)}".lower()


def side(run_id: str, way: str) -> str:
    """Return the name that `runs compare` takes for a run, or one way of it."""
    return f"{run_id}:{way}" if way else run_id


def ordered(items: Iterable[RunItem], way: str, measure: Measure, text: str = "") -> list[RunItem]:
    """Return the items of one way that contain a text, worst first; items without a figure last."""
    wanted = text.lower()
    found = [one for one in items if one.way == way and wanted in f"{one.key} {question(one)}".lower()]

    def place(one: RunItem) -> tuple[bool, float]:
        known = measure.applies_to(one.measures)
        return not known, measure.of_item(one.measures) * (measure.goal or 1) if known else 0.0

    return sorted(found, key=place)


def question(item: RunItem) -> str:
    """Return the question or claim of an item on one line."""
    told = (str(item.output.get(name) or "") for name in ("question", "claim", "text"))
    return " ".join(next(filter(None, told), "").split())


def item_line(item: RunItem, measure: Measure) -> str:
    figure = measure.show(measure.of_item(item.measures)) if measure.applies_to(item.measures) else "–"
    return short(f"{figure} · {question(item) or item.key}")


def moved_line(one: ItemChange, measure: Measure) -> str:
    """Say how an item changed from the first side to the second.

    >>> from propcite.app.lab.runs.aggregates import measure_of
    >>> from propcite.app.lab.runs.comparison import ItemChange
    >>> item = RunItem("q1", "w", {}, {"question": "How high is it?"})
    >>> moved_line(ItemChange(item, item, 0.5, 1.0), measure_of("recall"))
    '↑ 50.0 to 100.0 · How high is it?'
    """
    sign = "↑" if one.difference > 0 else "↓"
    told = question(one.b) or question(one.a) or one.a.key
    return short(f"{sign} {measure.show(one.before)} to {measure.show(one.after)} · {told}")


def short(text: str) -> str:
    return text if len(text) <= NUM_IN_A_LINE else f"{text[: NUM_IN_A_LINE - 1].rstrip()}…"


def ways_in(items: Iterable[RunItem]) -> list[str]:
    from propcite.app.lab.runs.aggregates import is_way

    return [way for way in dict.fromkeys(item.way for item in items) if is_way(way)]


def comparable(run: RunInfo, runs: Sequence[RunInfo]) -> list[RunInfo]:
    """Return runs of its kind that may share items with it, over the same file first; for its ways the run itself."""
    others = [other for other in runs if other.kind == run.kind and other.id != run.id and other.num_items]
    same = [other for other in others if other.name == run.name]
    return [*same, run, *(other for other in others if other.name != run.name)]
