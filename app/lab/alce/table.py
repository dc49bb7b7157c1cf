"""The result of a run over ALCE's files as tables, one per context size, and as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from propcite.app.lab.alce.evaluation import Result
from propcite.app.lab.alce.shortcuts import ShortcutResult
from propcite.app.lab.runs.aggregates import Aggregate, aggregates
from propcite.app.lab.runs.text_tables import NO_VALUE, align_columns

OURS = {"citation_f1": "F1 (ours)", "citations_a_sentence": "citations a sentence"}  # not ALCE's
LEFT_OUT = ("citations", "sentences")  # their ratio is shown
OWN_JUDGE = "*"


def as_text(result: Result) -> str:
    """Return the tables in percent, except for counts, with half of the 95% interval after ±; then the remarks."""
    figures = aggregates(result.items)
    tables = [_table(result, figures, label) for label in result.labels]
    return "\n\n".join([*tables, "\n".join(_remarks(result))])


def as_lines(result: Result) -> Iterator[str]:
    """Yield one JSON object per figure."""
    for one in aggregates(result.items):
        way, _, docs = one.way.partition(", ")
        figure = {"value": one.value, "low": one.low, "high": one.high, "items": one.items}
        place = {"run": result.run.id, "judge": result.run.judge, "way": way, "context": docs or _context(result)}
        own = {"own_judge": way in result.own_judge}
        yield json.dumps({**place, "measure": one.measure.name, **figure, **own}, ensure_ascii=False)


def checks_text(checks: Sequence[ShortcutResult]) -> str:
    rows = [
        [
            one.check.description,
            str(one.questions),
            f"{100 * one.recall:.1f}",
            f"{100 * one.precision:.1f}",
            one.check.requirement,
            "passed" if one.holds else "FAILED",
        ]
        for one in checks
    ]
    return align_columns([["shortcut", "questions", "recall", "precision", "wanted", ""], *rows], left={0, 4, 5})


def _table(result: Result, figures: Sequence[Aggregate], label: str) -> str:
    by_way = {way: [f for f in figures if f.way == way] for way in dict.fromkeys(f.way for f in figures)}
    ways = [way for way in by_way if way.endswith(label)]
    measures = list(dict.fromkeys(f.measure for way in ways for f in by_way[way] if f.measure.name not in LEFT_OUT))
    measures.sort(key=lambda measure: measure.name in OURS and measure.name != "citation_f1")
    header = [f"way{label}", *(OURS.get(measure.name, measure.heading) for measure in measures)]
    rows = []
    for way in ways:
        cells = {f.measure.name: f for f in by_way[way]}
        name = way.removesuffix(label)
        mark = OWN_JUDGE if name in result.own_judge else ""
        rows.append([name + mark, *(_cell(cells.get(measure.name)) for measure in measures)])
    return "\n".join([_title(result, label), align_columns([header, *rows], left={0})])


def _cell(figure: Aggregate | None) -> str:
    if figure is None:
        return NO_VALUE
    value = figure.measure.show(figure.value)
    return value if figure.is_single else f"{value} ±{figure.measure.show(figure.half)}"


def _title(result: Result, label: str) -> str:
    context = label.removeprefix(", ") or _context(result)
    answers = result.run.settings["answers"]["name"]
    return f"{result.run.kind}, {result.run.name}, {context}, answers: {answers}; judge: {result.run.judge}"


def _context(result: Result) -> str:
    context = result.run.settings["context"]
    return f"{context[0]} docs" if isinstance(context, list) else f"docs {context}"


def _remarks(result: Result) -> Iterator[str]:
    if result.own_judge:
        yield f"{OWN_JUDGE} cites by the judge that scores: what is measured was optimised"
    for one in result.judge_test:
        verdict = "" if one.holds else " FAILED"
        figures = f"{100 * one.recall:.1f} / {100 * one.precision:.1f}"
        yield f"the judge's own test, {one.check.description}: {figures} ({one.check.requirement}){verdict}"
    yield from result.notes
    yield f"sentences by {result.run.settings['sentences']}; run {result.run.id}: propcite runs show {result.run.id}"
