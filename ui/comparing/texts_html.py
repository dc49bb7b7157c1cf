"""A comparison of whole texts as markup: what differs, with the words that do marked; what is the same is folded."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from propcite.attribution.citations import Evidence
from propcite.attribution.formats.comparison import RELATION_SIGNS
from propcite.attribution.formats.text_comparison import marked, pair_line, same_line
from propcite.attribution.versions.records import SentencePair, TextComparison
from propcite.retrieval.text import Span
from propcite.ui.render import NO_VIEWS, place_html
from propcite.ui.sources import Views, open_html
from propcite.ui.words import Sources, evidence_line

MARK = '<mark class="changed">{}</mark>'


def texts_html(comparison: TextComparison, names: tuple[str, str], sources: Sources, views: Views = NO_VIEWS) -> str:
    """Return the pairs in their order; empty without sentences.  `names` are those of the two sides."""
    return "".join(
        _same_html(run) if is_copy else "".join(_pair_html(pair, names, sources, views) for pair in run)
        for is_copy, run in comparison.runs()
    )


def _same_html(copies: Sequence[SentencePair]) -> str:
    """Return what is the same, folded, in the words of the left side."""
    words = "".join(f"<p>{escape(pair.left.quote)}</p>" for pair in copies if pair.left)
    return f'<details class="same"><summary>= {escape(same_line(copies))}</summary>{words}</details>'


def _pair_html(pair: SentencePair, names: tuple[str, str], sources: Sources, views: Views) -> str:
    sign = f'<span class="sign" aria-hidden="true">{RELATION_SIGNS[pair.relation]}</span>'
    sides = zip(names, (pair.left, pair.right), pair.changed, strict=True)
    return (
        f'<section class="compared {pair.relation.value}"><h3>{sign} {escape(pair_line(pair, names))}</h3>'
        f'<div class="sides">{"".join(_side_html(*side, sources, views) for side in sides)}</div></section>'
    )


def _side_html(name: str, sentence: Evidence | None, changed: Sequence[Span], sources: Sources, views: Views) -> str:
    if sentence is None:
        return "<div></div>"
    return (
        f"<div><h4>{escape(name)}</h4>"
        f'<blockquote class="passage">{marked(sentence.quote, changed, escape, MARK)}</blockquote>'
        f"{place_html(evidence_line(sentence, sources))}"
        f'<p class="deeds">{open_html(sentence.passage, [sentence.span], views)}</p></div>'
    )
