"""Print a comparison: of answers, each row says who says what; of whole texts, what changed between them."""

from __future__ import annotations

from collections.abc import Mapping

from rich.markup import escape
from rich.text import Text

from propcite.app.terminal import err, indented, out, source_line
from propcite.attribution.citing.comparing import Comparison, Relation
from propcite.attribution.formats.comparison import RELATION_SIGNS, counts_line, no_answer_line, relation_line, words_of
from propcite.attribution.formats.text_comparison import marked, pair_line, same_line, text_counts_line
from propcite.attribution.formats.wording import place_of
from propcite.attribution.versions.records import TextComparison

COLOURS = {Relation.AGREES: "green", Relation.PARTLY: "yellow", Relation.DIFFERS: "red", Relation.ALONE: "dim"}


def show_comparison(comparison: Comparison, documents: Mapping[str, str], names: tuple[str, str]) -> None:
    """Print the rows.  `documents` maps ids to names, `names` are those of the two sides."""
    out.print(Text(comparison.question, style="bold"))
    if line := no_answer_line(comparison, names):
        out.print(Text(line, style="yellow"), soft_wrap=not out.is_terminal)
    for row in comparison.rows:
        colour = COLOURS[row.relation]
        out.print(f"\n[{colour}]{RELATION_SIGNS[row.relation]} {escape(relation_line(row, names))}[/{colour}]")
        for name, side in zip(names, words_of(row), strict=True):
            if side.fact:
                indented(f"[dim]{escape(name)}[/dim]  {escape(side.fact)}", 2)
            for evidence in side.evidence:
                indented(f"[dim]{escape(name) if not side.fact else ''}[/dim] {source_line(evidence, documents)}", 4)
    err.print(f"[dim]{counts_line(comparison)} · answers {comparison.left.id} and {comparison.right.id}[/dim]")


def show_text_comparison(comparison: TextComparison, names: tuple[str, str]) -> None:
    """Print what differs with the words that do underlined, and how many sentences between are the same."""
    for is_copy, run in comparison.runs():
        if is_copy:
            out.print(f"\n[dim]= {same_line(run)}[/dim]")
        for pair in [] if is_copy else run:
            colour = COLOURS[pair.relation]
            out.print(f"\n[{colour}]{RELATION_SIGNS[pair.relation]} {escape(pair_line(pair, names))}[/{colour}]")
            for name, sentence, spans in zip(names, (pair.left, pair.right), pair.changed, strict=True):
                if sentence:
                    words = marked(sentence.quote, spans, escape, "[underline]{}[/underline]")
                    place = f" [dim]{escape(place_of(sentence))}[/dim]" if place_of(sentence) else ""
                    indented(f"[dim]{escape(name)}[/dim]  {' '.join(words.split())}{place}", 2)
    err.print(f"[dim]{escape(text_counts_line(comparison, names))}[/dim]")
