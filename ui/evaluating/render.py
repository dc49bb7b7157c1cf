"""Comparisons and items of runs as HTML text; what a file or a model said is escaped here, by `safe`."""

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
from propcite.attribution.formats.html import safe

_MARKER = re.compile(r"\[\d+\]")
SIGNS = {True: ("✓", "holds"), False: ("✗", "fails")}
EVEN = 0.5  # a probability from here on says yes
READ = {"question", "text", "given", "judgements", "cited", "wanted", "ranking", "found", "propositions", "claim"}
READ |= {"evidence", "judged", "scored"}  # what has its own place; all else is listed by its name


def comparison_html(figures: Sequence[MeasureComparison], caption: str = "") -> str:
    """A row a measure: both figures, their difference with its interval, p, how many items moved and where to."""
    rows = {one.measure.heading + (", %" if one.measure.percent else ""): _cells(one) for one in figures}
    return table("measure", ["first", "second", "difference", "p", "items", "up", "down"], rows, caption)


def _cells(one: MeasureComparison) -> list[str]:
    show = one.measure.show
    low, high = signed(show(one.low)), signed(show(one.high))
    between = f'<span class="interval">{low} to {high}</span>' if one.p is not None else ""
    told = [show(one.a), show(one.b), signed(show(one.difference)) + between]
    told += [NO_VALUE if one.p is None else format_p(one.p), *(str(n) for n in (one.items, one.up, one.down))]
    return [f"<td>{cell}</td>" for cell in told]


def items_html(items: Mapping[str, RunItem]) -> str:
    """One item as several ways left it, each under a name."""
    return "".join(_item(name, item) for name, item in items.items())


def _item(name: str, item: RunItem) -> str:
    try:
        told = _read(item.output)
    except (AttributeError, KeyError, TypeError, ValueError):  # a run from elsewhere may tell what it likes
        told = definition_list(flat_settings(item.output))
    return f'<section class="item">\n<h2>{safe(name)}</h2>\n{_figures(item)}{told}</section>\n'


def _read(told: Mapping[str, Any]) -> str:
    """What there is to read, the text first."""
    parts = [
        _text(str(told.get("text") or "")),
        _given(told),
        _claim(told),
        _judgements(told.get("judgements") or []),
        _units(told),
        _ranking(told),
        _pieces(told.get("propositions") or []),
        _said(told),
        definition_list(flat_settings({name: value for name, value in told.items() if name not in READ})),
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
    """A text with its markers heavier."""
    marked = _MARKER.sub(lambda found: f"<b>{found[0]}</b>", safe(text))
    return f'<p class="text" dir="auto">{marked}</p>\n' if text else ""


def _given(told: Mapping[str, Any]) -> str:
    given = str(told.get("given") or "")
    other = given and given != told.get("text")
    return f"<h3>As its writer cited it</h3>\n{_text(given)}" if other else ""


def _claim(told: Mapping[str, Any]) -> str:
    claim, evidence = str(told.get("claim") or ""), told.get("evidence") or ()
    quotes = "".join(f'<blockquote dir="auto">{safe(str(one))}</blockquote>\n' for one in evidence)
    return (f'<p class="claim" dir="auto">{safe(claim)}</p>\n' if claim else "") + quotes


def _judgements(said: Iterable[Mapping[str, Any]]) -> str:
    """Under each sentence what the judge said of the documents that it cites."""
    by_text: dict[str, list[Mapping[str, Any]]] = {}
    for one in said:
        by_text.setdefault(str(one["text"]), []).append(one)
    rows = "".join(
        f'<li><span dir="auto">{safe(text)}</span>{_list([(_by_docs(o), bool(o["holds"])) for o in of])}</li>\n'
        for text, of in by_text.items()
    )
    return f'<h3>What the judge said</h3>\n<ul class="judgements">\n{rows}</ul>\n' if rows else ""


def _by_docs(one: Mapping[str, Any]) -> str:
    numbers = "".join(f"[{number}]" for number in one["docs"])
    told = f"{'supported' if one['holds'] else 'not supported'} by {numbers or 'nothing'}"
    return f"{told} together" if len(one["docs"]) > 1 else told


def _list(rows: Iterable[tuple[str, bool]]) -> str:
    told = "".join(
        f'<li class="{SIGNS[good][1]}"><span aria-hidden="true">{SIGNS[good][0]}</span> {safe(words)}</li>'
        for words, good in rows
    )
    return f'<ul class="signs">{told}</ul>'


def _units(told: Mapping[str, Any]) -> str:
    """What was cited beside what should have been."""
    if "cited" not in told or "wanted" not in told:
        return ""
    cited, wanted = ([str(one) for one in told[name]] for name in ("cited", "wanted"))
    right = [(f"{one}: {'right' if one in wanted else 'wrong'}", one in wanted) for one in cited]
    missing = [(f"{one}: not cited", False) for one in wanted if one not in cited]
    return f"<h3>Cited</h3>\n{_list([*right, *missing]) if right or missing else '<p>Nothing.</p>'}\n"


def _ranking(told: Mapping[str, Any]) -> str:
    """The head of a ranking, the right ones marked, and where the right ones are."""
    if "ranking" not in told:
        return ""
    found = told.get("found") or {}
    places = sorted(found.values() if isinstance(found, Mapping) else found)
    rows = [(f"{at}. {one}", at in places) for at, one in enumerate(told["ranking"], start=1)]
    where = f"Right at place {', '.join(map(str, places))}." if places else "No right one was found."
    return f"<h3>Ranking</h3>\n{_list(rows)}\n<p>{where}</p>\n"


def _pieces(propositions: Sequence[Sequence[str]]) -> str:
    rows = "".join(f'<li dir="auto">{safe(" … ".join(map(str, pieces)))}</li>\n' for pieces in propositions)
    return f"<h3>Facts</h3>\n<ul>\n{rows}</ul>\n" if rows else ""


def _said(told: Mapping[str, Any]) -> str:
    """Probabilities and scores, and whether they turned out right."""
    judged = [_likely(float(one["probability"]), so=bool(one["right"])) for one in told.get("judged") or ()]
    scored = [
        (f"score {one['score']:.2f}, {_is(bool(one['right']))}", bool(one["right"])) for one in told.get("scored") or ()
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
