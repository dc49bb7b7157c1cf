"""Render comparisons and items of runs as HTML; all text of files and models is escaped by `safe`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from propcite.app.lab.runs.aggregates import measures_in
from propcite.app.lab.runs.comparison import MeasureComparison
from propcite.app.lab.runs.markup import definition_list, table
from propcite.app.lab.runs.tables import COSTS, flat_settings, format_p, signed
from propcite.app.lab.runs.text_tables import NO_VALUE
from propcite.app.library.store.runs import RunItem
from propcite.attribution.formats.text import safe

_MARKER = re.compile(r"\[\d+\]")
SIGNS = {True: ("✓", "holds"), False: ("✗", "fails")}
EVEN = 0.5  # a probability from here on says yes
READ = {"question", "text", "given", "judgements", "cited", "wanted", "ranking", "found", "propositions", "claim"}
READ |= {"evidence", "judged", "scored"}  # what has its own place; all else is listed by its name


def comparison_html(figures: Sequence[MeasureComparison], caption: str = "") -> str:
    """Return one row per measure: both figures, their difference with interval, p, how many items changed."""
    rows = {one.measure.heading + (", %" if one.measure.percent else ""): _cells(one) for one in figures}
    return table("measure", ["first", "second", "difference", "p", "items", "up", "down"], rows, caption)


def _cells(one: MeasureComparison) -> list[str]:
    show = one.measure.show
    low, high = signed(show(one.low)), signed(show(one.high))
    between = f'<span class="interval">{low} to {high}</span>' if one.p is not None else ""
    output = [show(one.a), show(one.b), signed(show(one.difference)) + between]
    output += [NO_VALUE if one.p is None else format_p(one.p), *(str(n) for n in (one.items, one.up, one.down))]
    return [f"<td>{cell}</td>" for cell in output]


def items_html(items: Mapping[str, RunItem]) -> str:
    """Return one item by several ways, each under its name."""
    return "".join(_item(name, item) for name, item in items.items())


def _item(name: str, item: RunItem) -> str:
    try:
        output = _read(item.output)
    except (AttributeError, KeyError, TypeError, ValueError):  # a run from elsewhere may tell what it likes
        output = definition_list(flat_settings(item.output))
    return f'<section class="item">\n<h2>{safe(name)}</h2>\n{_figures(item)}{output}</section>\n'


def _read(output: Mapping[str, Any]) -> str:
    """Return the outputs, the text first."""
    parts = [
        _text(str(output.get("text") or "")),
        _given(output),
        _claim(output),
        _judgements(output.get("judgements") or []),
        _units(output),
        _ranking(output),
        _pieces(output.get("propositions") or []),
        _scores(output),
        definition_list(flat_settings({name: value for name, value in output.items() if name not in READ})),
    ]
    return "".join(parts)


def _figures(item: RunItem) -> str:
    figures = [
        (m.heading, m.show(m.of_item(item.measures))) for m in measures_in(item.measures) if m.applies_to(item.measures)
    ]
    spent = [f"{item.cost[name]:,.4g} {words}" for name, words in COSTS.items() if item.cost.get(name)]
    chips = "".join(f"<li>{safe(name)} <b>{safe(value)}</b></li>" for name, value in figures)
    cost = f'<p class="told">It cost {safe(", ".join(spent))}.</p>\n' if spent else ""
    return f'<ul class="figures">{chips}</ul>\n{cost}' if chips else cost


def _text(text: str) -> str:
    """Return a text with its markers in bold."""
    marked = _MARKER.sub(lambda marker: f"<b>{marker[0]}</b>", safe(text))
    return f'<p class="text" dir="auto">{marked}</p>\n' if text else ""


def _given(output: Mapping[str, Any]) -> str:
    given = str(output.get("given") or "")
    other = given and given != output.get("text")
    return f"<h3>As its writer cited it</h3>\n{_text(given)}" if other else ""


def _claim(output: Mapping[str, Any]) -> str:
    claim, evidence = str(output.get("claim") or ""), output.get("evidence") or ()
    quotes = "".join(f'<blockquote dir="auto">{safe(str(one))}</blockquote>\n' for one in evidence)
    return (f'<p class="claim" dir="auto">{safe(claim)}</p>\n' if claim else "") + quotes


def _judgements(verdicts: Iterable[Mapping[str, Any]]) -> str:
    """Return each sentence with the judge's verdicts on the documents it cites."""
    by_text: dict[str, list[Mapping[str, Any]]] = {}
    for one in verdicts:
        by_text.setdefault(str(one["text"]), []).append(one)
    rows = "".join(
        f'<li><span dir="auto">{safe(text)}</span>{_list([(_by_docs(o), bool(o["holds"])) for o in of])}</li>\n'
        for text, of in by_text.items()
    )
    return f'<h3>What the judge says</h3>\n<ul class="judgements">\n{rows}</ul>\n' if rows else ""


def _by_docs(one: Mapping[str, Any]) -> str:
    numbers = "".join(f"[{number}]" for number in one["docs"])
    output = f"{'supported' if one['holds'] else 'not supported'} by {numbers or 'nothing'}"
    return f"{output} together" if len(one["docs"]) > 1 else output


def _list(rows: Iterable[tuple[str, bool]]) -> str:
    output = "".join(
        f'<li class="{SIGNS[good][1]}"><span aria-hidden="true">{SIGNS[good][0]}</span> {safe(words)}</li>'
        for words, good in rows
    )
    return f'<ul class="signs">{output}</ul>'


def _units(output: Mapping[str, Any]) -> str:
    """Return what was cited beside what should have been."""
    if "cited" not in output or "wanted" not in output:
        return ""
    cited, expected = ([str(one) for one in output[name]] for name in ("cited", "wanted"))
    right = [(f"{one}: {'right' if one in expected else 'wrong'}", one in expected) for one in cited]
    missing = [(f"{one}: not cited", False) for one in expected if one not in cited]
    return f"<h3>Cited</h3>\n{_list([*right, *missing]) if right or missing else '<p>Nothing.</p>'}\n"


def _ranking(output: Mapping[str, Any]) -> str:
    """Return the top of a ranking with the correct units marked, and the ranks of all correct units."""
    if "ranking" not in output:
        return ""
    ranks = output.get("found") or {}
    places = sorted(ranks.values() if isinstance(ranks, Mapping) else ranks)
    rows = [(f"{at}. {one}", at in places) for at, one in enumerate(output["ranking"], start=1)]
    where = f"Correct at rank {', '.join(map(str, places))}." if places else "No correct unit is in the ranking."
    return f"<h3>Ranking</h3>\n{_list(rows)}\n<p>{where}</p>\n"


def _pieces(propositions: Sequence[Sequence[str]]) -> str:
    rows = "".join(f'<li dir="auto">{safe(" … ".join(map(str, pieces)))}</li>\n' for pieces in propositions)
    return f"<h3>Facts</h3>\n<ul>\n{rows}</ul>\n" if rows else ""


def _scores(output: Mapping[str, Any]) -> str:
    """Return probabilities and scores, and whether they were right."""
    judged = [_likely(float(one["probability"]), so=bool(one["right"])) for one in output.get("judged") or ()]
    scored = [
        (f"score {one['score']:.2f}, {_is(bool(one['right']))}", bool(one["right"]))
        for one in output.get("scored") or ()
    ]
    return f"<h3>How sure it was</h3>\n{_list([*judged, *scored])}\n" if judged or scored else ""


def _likely(probability: float, *, so: bool) -> tuple[str, bool]:
    """
    >>> _likely(0.04, so=False), _likely(0.82, so=False)
    (('4% likely, and it is not so', True), ('82% likely, but it is not so', False))
    """
    right = (probability >= EVEN) is so
    return f"{probability:.0%} likely, {'and' if right else 'but'} {_is(so)}", right


def _is(so: bool) -> str:
    return "it is so" if so else "it is not so"
