"""Write a comparison of two texts as a table: Markdown or HTML.  What is the same is folded to a count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from propcite.attribution.citations import Evidence
from propcite.attribution.citing.comparing import Relation
from propcite.attribution.formats.comparison import RELATION_LINES, RELATION_SIGNS, STYLE
from propcite.attribution.formats.html import page
from propcite.attribution.formats.markdown import inline
from propcite.attribution.formats.text import one_line, safe
from propcite.attribution.formats.wording import place_of
from propcite.attribution.versions.records import SentencePair, TextComparison
from propcite.retrieval.text import Span

COUNTED = {
    Relation.AGREES: "in other words", Relation.PARTLY: "partly the same", Relation.DIFFERS: "different",
}  # fmt: skip
IN_OTHER_WORDS = "Both say this, in other words"
TITLE = "{} beside {}"


def pair_line(pair: SentencePair, names: tuple[str, str]) -> str:
    """Say what the sides of a pair have to do with each other."""
    if pair.relation is Relation.ALONE:
        return f"Only {names[0] if pair.left else names[1]} says this"
    line = IN_OTHER_WORDS if pair.relation is Relation.AGREES else RELATION_LINES[pair.relation]
    return f"{line}, at another place" if pair.moved else line


def same_line(copies: Sequence[SentencePair]) -> str:
    """Say how many sentences stand on both sides, and how many of them at another place.

    >>> same_line([SentencePair(None, None, Relation.AGREES)])
    '1 sentence is the same'
    """
    number, moved = len(copies), sum(pair.moved for pair in copies)
    line = f"{number:,} sentences are the same" if number > 1 else "1 sentence is the same"
    return f"{line}, {moved:,} of them at another place" if moved else line


def text_counts_line(comparison: TextComparison, names: tuple[str, str]) -> str:
    """Count the sentences: `115 the same, 12 different, 3 only in A`; `no sentences` where there are none."""
    counts = {
        "the same": comparison.num_copies,
        **{words: comparison.count(relation) for relation, words in COUNTED.items()},
        f"only in {names[0]}": comparison.only_left,
        f"only in {names[1]}": comparison.only_right,
    }
    return ", ".join(f"{number:,} {words}" for words, number in counts.items() if number) or "no sentences"


def to_markdown(comparison: TextComparison, names: tuple[str, str]) -> str:
    """Return the counts and a table with a row per pair; the words that the other side lacks are bold."""
    rows = [f"| | {' | '.join(map(_MARKDOWN.write, names))} |", "|---|---|---|"]
    for is_copy, run in comparison.runs():
        if is_copy:
            rows.append(f"| = {_MARKDOWN.write(same_line(run))} | | |")
        else:
            rows += [f"| {' | '.join(_cells(pair, names, _MARKDOWN))} |" for pair in run]
    parts = [f"# {inline(TITLE.format(*names))}", f"*{inline(text_counts_line(comparison, names))}*", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def to_html(comparison: TextComparison, names: tuple[str, str]) -> str:
    """Return a page of its own with the same table."""
    rows = []
    for is_copy, run in comparison.runs():
        if is_copy:
            rows.append(f'<tr class="same"><th scope="row" colspan="3">= {safe(same_line(run))}</th></tr>')
        for pair in [] if is_copy else run:
            first, *sides = _cells(pair, names, _HTML)
            cells = "".join(f"<td>{side}</td>" for side in sides)
            rows.append(f'<tr class="{pair.relation.value}"><th scope="row">{first}</th>{cells}</tr>')
    title = TITLE.format(*names)
    head = "".join(f'<th scope="col">{_HTML.write(name)}</th>' for name in names)
    lines = [
        f"<h1>{safe(title)}</h1>",
        f"<p>{safe(text_counts_line(comparison, names))}</p>",
        f'<table class="compared"><thead><tr><td></td>{head}</tr></thead>\n<tbody>',
        *rows,
        "</tbody></table>",
    ]
    return page(title, "\n".join(lines), STYLE)


def marked(text: str, spans: Sequence[Span], write: Callable[[str], str], mark: str) -> str:
    """Write a text with `mark` around each span, a form such as `<mark>{}</mark>`."""
    pieces, last = [], 0
    for span in spans:
        pieces += [write(text[last : span.start]), mark.format(write(span.of(text)))]
        last = span.end
    return "".join([*pieces, write(text[last:])])


class _Form(NamedTuple):
    """How a cell is written: any text, words that differ, and the place of a sentence."""

    write: Callable[[str], str]
    mark: str
    place: str


def _spaced(text: str, write: Callable[[str], str]) -> str:
    """Write a piece of a text on one line, and keep the space at its ends."""
    before = " " if text[:1].isspace() else ""
    after = " " if text[-1:].isspace() and text.strip() else ""
    return f"{before}{write(' '.join(text.split()))}{after}"


_MARKDOWN = _Form(lambda text: _spaced(text, inline), "**{}**", " *{}*")
_HTML = _Form(lambda text: _spaced(text, lambda words: safe(one_line(words))), "<mark>{}</mark>", " <em>{}</em>")


def _cells(pair: SentencePair, names: tuple[str, str], form: _Form) -> list[str]:
    first = f"{RELATION_SIGNS[pair.relation]} {form.write(pair_line(pair, names))}"
    sides = zip((pair.left, pair.right), pair.changed, strict=True)
    return [first, *(_side(sentence, spans, form) if sentence else "" for sentence, spans in sides)]


def _side(sentence: Evidence, spans: Sequence[Span], form: _Form) -> str:
    place = place_of(sentence)
    return marked(sentence.quote, spans, form.write, form.mark) + (
        form.place.format(form.write(place)) if place else ""
    )
