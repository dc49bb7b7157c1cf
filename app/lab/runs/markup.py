"""HTML elements of a run's page: sections, tables, figures, lists.  All text is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from propcite.attribution.formats.text import safe

MAX_LENGTH = 700  # characters of a text that are shown


def section(name: str, title: str, body: str) -> str:
    return f'<section id="{name}">\n<h2>{escape(title)}</h2>\n{body}</section>\n'


def table(first: str, headings: Sequence[str], rows: Mapping[str, Sequence[str]], caption: str = "") -> str:
    """Return a table; `rows` maps the text of the first column to the other cells, which are markup."""
    head = "".join(f'<th scope="col">{safe(heading)}</th>' for heading in (first, *headings))
    body = "".join(f'<tr><th scope="row">{safe(name)}</th>{"".join(cells)}</tr>\n' for name, cells in rows.items())
    above = f'<p class="told">{escape(caption)}</p>\n' if caption else ""
    whole = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"
    return f'{above}<div class="wide" tabindex="0">\n{whole}\n</div>\n'


def plot_figure(title: str, plot: str, text: str = "") -> str:
    caption = f"<figcaption>{safe(text)}</figcaption>\n" if text else ""
    return f'<figure class="drawn">\n<h3>{safe(title)}</h3>\n{plot}\n{caption}</figure>\n'


def definition_list(rows: Iterable[tuple[str, str]]) -> str:
    items = "".join(f"<div><dt>{safe(name)}</dt><dd>{safe(shorten(value))}</dd></div>\n" for name, value in rows)
    return f"<dl>\n{items}</dl>\n"


def shorten(text: str) -> str:
    return text if len(text) <= MAX_LENGTH else f"{text[:MAX_LENGTH].rstrip()}…"
