"""What the page says of runs in plain words, which of them are meant, and in which order their items stand."""

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
}
NUM_IN_A_LINE = 90  # letters of a question in a list


def title(run: RunInfo) -> str:
    return f"{run.kind} on {run.name}"


def progress(run: RunInfo) -> str:
    """How far a run is."""
    if run.num_expected and run.state != DONE:
        return f"{run.num_items:,} of {counted(run.num_expected, 'item')}"
    return counted(run.num_items, "item")


def state(run: RunInfo, process: int | None) -> str:
    """Whether a run is finished, is being measured by a process, or has been left."""
    if run.state == DONE:
        return f"finished, {progress(run)}"
    return f"being measured, {progress(run)}" if process else f"interrupted at {progress(run)}"


def details(run: RunInfo, process: int | None) -> str:
    """Below a run's name: when, how far, who judged, which it is."""
    judged = f"judged by {run.judge}" if run.judge else ""
    when = f"{run.started_at.astimezone():%d %b %Y, %H:%M}"
    return " · ".join(filter(None, (when, state(run, process), judged, run.id)))


def matching(runs: Iterable[RunInfo], kind: str | None, text: str) -> list[RunInfo]:
    """The runs of a kind in which each word stands somewhere: file, judge, id, day, a way or a setting."""
    words = text.lower().split()
    return [run for run in runs if kind in (None, run.kind) and all(word in _told(run) for word in words)]


def _told(run: RunInfo) -> str:
    when = f"{run.started_at.astimezone():%d %b %Y %Y-%m-%d}"
    return f"{run.id} {run.kind} {run.name} {run.judge} {run.state} {when} {dict(run.settings)}".lower()


def side(run_id: str, way: str) -> str:
    """What `runs compare` calls a run, or one way of it."""
    return f"{run_id}:{way}" if way else run_id


def ordered(items: Iterable[RunItem], way: str, measure: Measure, text: str = "") -> list[RunItem]:
    """The items of one way in which a text stands, the worst first; what has no figure comes last."""
    wanted = text.lower()
    found = [one for one in items if one.way == way and wanted in f"{one.key} {question(one)}".lower()]

    def place(one: RunItem) -> tuple[bool, float]:
        known = measure.applies_to(one.measures)
        return not known, measure.of_item(one.measures) * (measure.goal or 1) if known else 0.0

    return sorted(found, key=place)


def question(item: RunItem) -> str:
    """What an item asks or says, on one line."""
    told = (str(item.output.get(name) or "") for name in ("question", "claim", "text"))
    return " ".join(next(filter(None, told), "").split())


def item_line(item: RunItem, measure: Measure) -> str:
    figure = measure.show(measure.of_item(item.measures)) if measure.applies_to(item.measures) else "–"
    return short(f"{figure} · {question(item) or item.key}")


def moved_line(one: ItemChange, measure: Measure) -> str:
    """How an item moved from the first side to the second.

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
    """Those of its kind that may share items with it, over the same file first; the run itself with its own ways."""
    others = [other for other in runs if other.kind == run.kind and other.id != run.id and other.num_items]
    same = [other for other in others if other.name == run.name]
    return [*same, run, *(other for other in others if other.name != run.name)]
