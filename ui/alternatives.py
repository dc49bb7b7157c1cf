"""Show what else is near the chosen fact, at any granularity: support, near misses, contradictions."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from propcite.app.library.store import CollectionInfo
from propcite.app.turns.costs import Kind
from propcite.attribution.citations import CitedAnswer, CitedProposition, Label
from propcite.attribution.citing.alternatives import Alternative
from propcite.attribution.formats.wording import SIGNS
from propcite.retrieval.text import Granularity
from propcite.ui import session
from propcite.ui.clickable import show_passages
from propcite.ui.people.turns import in_turns
from propcite.ui.render import NO_VIEWS, passage_html, title_html
from propcite.ui.sources import Views, open_html
from propcite.ui.words import Sources, place_line

NUM_NEAR = 9
GROUPS = (
    ("Supports it", (Label.SUPPORTED,)),
    ("Near it", (Label.PARTLY, Label.UNSUPPORTED)),
    ("Contradicts it", (Label.CONTRADICTED,)),
)


def show(answer: CitedAnswer, fact: CitedProposition) -> None:
    """Show a switch; when on, a control for the granularity and the ranked alternatives."""
    if not answer.collection or not st.toggle("More evidence: other sources, near misses", key=f"near-{answer.id}"):
        return
    with session.showing_errors():
        collection = session.parts().library.collection(answer.collection)
        level = session.granularity("Ranked by its nearest", f"near-level-{answer.id}")
        show_passages(_html(collection, answer, fact, level), key=f"near-shown-{answer.id}")


def _html(collection: CollectionInfo, answer: CitedAnswer, fact: CitedProposition, level: Granularity) -> str:
    with in_turns(Kind.EVIDENCE):
        near = session.pipeline(collection).alternatives(answer, fact.id, level, NUM_NEAR)
    sources = session.parts().library.sources({one.hit.passage.document_id for one in near})
    return near_html(near, sources, session.views(sources))


def near_html(near: Sequence[Alternative], sources: Sources, views: Views = NO_VIEWS) -> str:
    """Return the alternatives in groups side by side, best first; ranks count over all groups."""
    ranked = list(enumerate(near, 1))
    groups = [(name, [(rank, one) for rank, one in ranked if one.label in labels]) for name, labels in GROUPS]
    columns = [_group(name, ranked_group, sources, views) for name, ranked_group in groups if ranked_group]
    return f'<div class="groups">{"".join(columns)}</div>' if columns else "<p>Nothing is near it.</p>"


def _group(name: str, ranked: Sequence[tuple[int, Alternative]], sources: Sources, views: Views) -> str:
    cards = "".join(_card(rank, one, sources, views) for rank, one in ranked)
    return f'<section class="group"><h2>{name}</h2>{cards}</section>'


def _card(rank: int, one: Alternative, sources: Sources, views: Views) -> str:
    sign, words = SIGNS[one.label]
    cited = f' <span class="number">[{one.number}]</span>' if one.number else ""
    reason = f'<p class="reason">{escape(one.verdict.reason)}</p>' if one.verdict.reason else ""
    passage, spans = one.hit.passage, one.hit.spans
    marked = () if one.hit.granularity is Granularity.PASSAGE else spans
    return (
        f'<article class="source"><p class="place">{rank}. '
        f'<span class="badge {one.label.value}"><span class="sign" aria-hidden="true">{sign}</span> {words}</span> '
        f"{one.verdict.probability:.0%} likely, nearness {one.hit.score:.2f}{cited}</p>"
        f"<h3>{title_html(passage)}</h3>"
        f'<p class="place">{escape(place_line(passage, spans, sources))}</p>'
        f"{reason}{passage_html(passage, marked)}{open_html(passage, spans, views)}</article>"
    )
