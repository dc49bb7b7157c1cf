"""The result of a run over ALCE's files: a table a context size, every figure with its interval."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from propcite.app.lab.alce.evaluating import Result
from propcite.app.lab.alce.shortcuts import Passed
from propcite.app.lab.runs.aggregates import Aggregate, aggregates
from propcite.app.lab.tables import aligned

OURS = {"citation_f1": "F1 (ours)", "citations_a_sentence": "citations a sentence"}
LEFT_OUT = ("citations", "sentences")  # told a sentence
SAME = "*"


def as_text(result: Result) -> str:
    """Percent, but for counts; behind ± half of the 95% interval."""
    figures = aggregates(result.items)
    tables = [_table(result, figures, label) for label in result.labels]
    return "\n\n".join([*tables, "\n".join(_below(result))])


def as_lines(result: Result) -> Iterator[str]:
    """A JSON object a figure."""
    for one in aggregates(result.items):
        way, _, docs = one.way.partition(", ")
        told = {"value": one.value, "low": one.low, "high": one.high, "items": one.items}
        place = {"run": result.run.id, "judge": result.run.judge, "way": way, "context": docs or _context(result)}
        own = {"own_judge": way in result.own_judge}
        yield json.dumps({**place, "measure": one.measure.name, **told, **own}, ensure_ascii=False)


def checks_text(checks: Sequence[Passed]) -> str:
    rows = [
        [one.check.what, str(one.questions), f"{100 * one.recall:.1f}", f"{100 * one.precision:.1f}", one.check.wanted,
         "passed" if one.holds else "FAILED"]
        for one in checks
    ]  # fmt: skip
    return aligned([["shortcut", "questions", "recall", "precision", "wanted", ""], *rows], left={0, 4, 5})


def _table(result: Result, figures: Sequence[Aggregate], label: str) -> str:
    of_way = {way: [f for f in figures if f.way == way] for way in dict.fromkeys(f.way for f in figures)}
    ways = [way for way in of_way if way.endswith(label)]
    measures = list(dict.fromkeys(f.measure for way in ways for f in of_way[way] if f.measure.name not in LEFT_OUT))
    measures.sort(key=lambda measure: measure.name in OURS and measure.name != "citation_f1")
    head = [f"way{f'{label}'}", *(OURS.get(measure.name, measure.heading) for measure in measures)]
    rows = []
    for way in ways:
        cells = {f.measure.name: f for f in of_way[way]}
        name = way.removesuffix(label)
        shown = [_cell(cells.get(measure.name)) for measure in measures]
        rows.append([name + (SAME if name in result.own_judge else ""), *shown])
    return "\n".join([_head(result, label), aligned([head, *rows], left={0})])


def _cell(figure: Aggregate | None) -> str:
    if figure is None:
        return "-"
    value = figure.measure.show(figure.value)
    return value if figure.is_single else f"{value} ±{figure.measure.show(figure.half)}"


def _head(result: Result, label: str) -> str:
    shown = label.removeprefix(", ") or _context(result)
    answers = result.run.settings["answers"]["name"]
    return f"{result.run.kind}, {result.run.name}, {shown}, answers: {answers}; judge: {result.run.judge}"


def _context(result: Result) -> str:
    context = result.run.settings["context"]
    return f"{context[0]} docs" if isinstance(context, list) else f"docs {context}"


def _below(result: Result) -> Iterator[str]:
    if result.own_judge:
        yield f"{SAME} cites by the judge that scores: what is measured was optimised"
    for one in result.own_test:
        verdict = "" if one.holds else " FAILED"
        figures = f"{100 * one.recall:.1f} / {100 * one.precision:.1f}"
        yield f"the judge's own test, {one.check.what}: {figures} ({one.check.wanted}){verdict}"
    yield from result.notes
    yield f"sentences by {result.run.settings['sentences']}; run {result.run.id}: propcite runs show {result.run.id}"
