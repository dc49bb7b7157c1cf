"""A comparison as markup: a row per fact, each side with its own words."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from propcite.attribution.citing.comparing import ComparedFacts, Comparison, Relation
from propcite.attribution.formats.comparison import RELATION_SIGNS, SideWords, relation_line, words_of
from propcite.attribution.formats.text_comparison import marked
from propcite.attribution.versions.words import changed_words, word_set
from propcite.retrieval.text import Span
from propcite.ui.comparing.texts_html import MARK
from propcite.ui.render import NO_VIEWS, place_html
from propcite.ui.sources import Views, open_html
from propcite.ui.words import Sources, evidence_line


def comparison_html(comparison: Comparison, names: tuple[str, str], sources: Sources, views: Views = NO_VIEWS) -> str:
    """Return the rows of a comparison; empty without facts.  `names` are those of the two sides."""
    return "".join(_row_html(row, names, sources, views) for row in comparison.rows)


def _row_html(row: ComparedFacts, names: tuple[str, str], sources: Sources, views: Views) -> str:
    words = words_of(row)
    sides = "".join(_side_html(*side, sources, views) for side in zip(names, words, _changed(row, words), strict=True))
    sign = f'<span class="sign" aria-hidden="true">{RELATION_SIGNS[row.relation]}</span>'
    return (
        f'<section class="compared {row.relation.value}"><h3>{sign} {escape(relation_line(row, names))}</h3>'
        f'<div class="sides">{sides}</div></section>'
    )


def _changed(row: ComparedFacts, sides: tuple[SideWords, SideWords]) -> tuple[Sequence[Span], Sequence[Span]]:
    """Return the words of each quote that the other one has not; none where they share few."""
    quotes = [side.evidence[0].quote for side in sides if len(side.evidence) == 1]
    if row.relation is Relation.AGREES or len(quotes) != len(sides):
        return (), ()
    left, right = map(word_set, quotes)
    return changed_words(*quotes) if 2 * len(left & right) >= len(left | right) else ((), ())


def _side_html(name: str, side: SideWords, changed: Sequence[Span], sources: Sources, views: Views) -> str:
    """Return what a side says; a fact that its quote repeats word for word is shown as the quote alone."""
    fact = " ".join(side.fact.split())
    is_quoted = any(fact.rstrip(".") in " ".join(evidence.quote.split()) for evidence in side.evidence)
    said = f'<p class="said">{escape(fact)}</p>' if fact and not is_quoted else ""
    quotes = "".join(
        f'<blockquote class="passage"><mark class="cited">{marked(evidence.quote, changed, escape, MARK)}</mark>'
        "</blockquote>"
        f"{place_html(evidence_line(evidence, sources))}"
        f'<p class="deeds">{open_html(evidence.passage, [evidence.span], views)}</p>'
        for evidence in side.evidence
    )
    nothing = "" if said or quotes else '<p class="place">Nothing on this</p>'
    return f"<div><h4>{escape(name)}</h4>{said}{quotes}{nothing}</div>"
