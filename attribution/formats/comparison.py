"""Write a comparison of two answers as a table: Markdown or HTML."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from propcite.attribution.citations import Evidence
from propcite.attribution.citing.comparing import ComparedFact, ComparedFacts, Comparison, Relation
from propcite.attribution.formats.html import page
from propcite.attribution.formats.markdown import inline
from propcite.attribution.formats.text import one_line, safe
from propcite.attribution.formats.wording import place_of, title_of

RELATION_SIGNS = {Relation.AGREES: "=", Relation.PARTLY: "≈", Relation.DIFFERS: "≠", Relation.ALONE: "·"}
RELATION_LINES = {
    Relation.AGREES: "Both say this",
    Relation.PARTLY: "They agree in part",
    Relation.DIFFERS: "They differ",
}
COUNTED = {
    Relation.AGREES: "the same", Relation.PARTLY: "partly the same", Relation.DIFFERS: "different",
    Relation.ALONE: "said by one alone",
}  # fmt: skip


class SideWords(NamedTuple):
    """What a side says in a row: its own fact, if it has one, and its words."""

    fact: str
    evidence: tuple[Evidence, ...]


def relation_line(row: ComparedFacts, names: tuple[str, str]) -> str:
    """Say what the sides of a row have to do with each other."""
    if row.relation is not Relation.ALONE:
        return RELATION_LINES[row.relation]
    return f"Only {names[0] if row.left else names[1]} says this"


def words_of(row: ComparedFacts) -> tuple[SideWords, SideWords]:
    """Return what each side says: its fact with what supports it, or its words on the other side's fact."""
    return _side(row.left, row.right), _side(row.right, row.left)


def counts_line(comparison: Comparison) -> str:
    """Count the rows per relation: `2 the same, 1 different`; `no facts` where there are none."""
    counts = {relation: comparison.count(relation) for relation in COUNTED}
    return ", ".join(f"{count} {COUNTED[relation]}" for relation, count in counts.items() if count) or "no facts"


def no_answer_line(comparison: Comparison, names: tuple[str, str]) -> str:
    """Say which sides have no answer to the question; empty if both have one."""
    answers = zip(names, (comparison.left, comparison.right), strict=True)
    silent = [name for name, answer in answers if answer.abstained]
    return f"No answer in {' and none in '.join(silent)}." if silent else ""


def to_markdown(comparison: Comparison, names: tuple[str, str]) -> str:
    """Return the question and a table with a row per fact, with the quotes of both sides."""
    silent = no_answer_line(comparison, names)
    parts = [
        f"# {inline(comparison.question)}",
        f"*{counts_line(comparison)}*",
        f"> {inline(silent)}" if silent else "",
    ]
    table = [f"| | {' | '.join(map(_MARKDOWN.write, names))} |", "|---|---|---|"]
    for row in comparison.rows:
        first = f"{RELATION_SIGNS[row.relation]} {_MARKDOWN.write(relation_line(row, names))}"
        table.append(f"| {' | '.join([first, *(_side_text(side, _MARKDOWN) for side in words_of(row))])} |")
    return "\n\n".join(filter(None, [*parts, "\n".join(table)])) + "\n"


def to_html(comparison: Comparison, names: tuple[str, str]) -> str:
    """Return a page of its own with the same table."""
    silent = no_answer_line(comparison, names)
    lines = [f"<h1>{safe(comparison.question)}</h1>", f"<p>{safe(counts_line(comparison))}</p>"]
    lines += [f"<p>{safe(silent)}</p>"] if silent else []
    return page(comparison.question, "\n".join([*lines, _table_html(comparison, names)]), STYLE)


def _table_html(comparison: Comparison, names: tuple[str, str]) -> str:
    """Return the table alone, as markup."""
    head = "".join(f'<th scope="col">{_HTML.write(name)}</th>' for name in names)
    rows = "\n".join(_row_html(row, names) for row in comparison.rows)
    return f'<table class="compared"><thead><tr><td></td>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>'


def _row_html(row: ComparedFacts, names: tuple[str, str]) -> str:
    first = f"{RELATION_SIGNS[row.relation]} {safe(relation_line(row, names))}"
    cells = "".join(f"<td>{_side_text(side, _HTML)}</td>" for side in words_of(row))
    return f'<tr class="{row.relation.value}"><th scope="row">{first}</th>{cells}</tr>'


STYLE = (
    "table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.5rem;"
    "border-bottom:1px solid #8886}thead th{font-weight:600}tbody th{font-weight:400;width:9rem}"
)


def _side(own: ComparedFact | None, other: ComparedFact | None) -> SideWords:
    if own:
        fact = own.fact
        words = tuple(c.evidence for c in fact.citations) or ((fact.nearest,) if fact.nearest else ())
        return SideWords(fact.proposition.text, words)
    return SideWords("", other.evidence if other else ())


class _Form(NamedTuple):
    """How a cell is written: any text, a fact, a quote with its place, and the break between them."""

    write: Callable[[str], str]
    fact: str
    quote: str
    line: str


_MARKDOWN = _Form(inline, "**{}**", "“{}” *{}*", "<br>")
_HTML = _Form(lambda text: safe(one_line(text)), "<strong>{}</strong>", "“{}” <em>{}</em>", "<br>")


def _side_text(side: SideWords, form: _Form) -> str:
    lines = [form.fact.format(form.write(side.fact))] if side.fact else []
    for evidence in side.evidence:
        place = ", ".join(filter(None, [title_of(evidence.passage), place_of(evidence)]))
        lines.append(form.quote.format(form.write(evidence.quote), form.write(place)))
    return form.line.join(lines)
