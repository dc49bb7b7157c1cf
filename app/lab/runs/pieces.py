"""What a run's page is made of: sections, tables, pictures, lists.  All words are escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from propcite.attribution.formats.page import safe

LONGEST = 700  # characters of a text that are shown


def section(name: str, title: str, body: str) -> str:
    return f'<section id="{name}">\n<h2>{escape(title)}</h2>\n{body}</section>\n'


def table(first: str, headings: Sequence[str], rows: Mapping[str, Sequence[str]], caption: str = "") -> str:
    """`rows` are cells of markup under the words of their first column."""
    head = "".join(f'<th scope="col">{safe(heading)}</th>' for heading in (first, *headings))
    body = "".join(f'<tr><th scope="row">{safe(name)}</th>{"".join(cells)}</tr>\n' for name, cells in rows.items())
    told = f'<p class="told">{escape(caption)}</p>\n' if caption else ""
    whole = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"
    return f'{told}<div class="wide" tabindex="0">\n{whole}\n</div>\n'


def picture(title: str, plot: str, words: str = "") -> str:
    caption = f"<figcaption>{safe(words)}</figcaption>\n" if words else ""
    return f'<figure class="drawn">\n<h3>{safe(title)}</h3>\n{plot}\n{caption}</figure>\n'


def described(rows: Iterable[tuple[str, str]]) -> str:
    told = "".join(f"<div><dt>{safe(name)}</dt><dd>{safe(cut(value))}</dd></div>\n" for name, value in rows)
    return f"<dl>\n{told}</dl>\n"


def cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()}…"
