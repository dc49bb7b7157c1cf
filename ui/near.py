"""What else comes near the chosen fact, as finely ranked as one likes: support, near misses, what says otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from propcite.app.library.store import CollectionInfo
from propcite.attribution.citations import CitedAnswer, CitedProposition, Label
from propcite.attribution.citing.alternatives import Alternative
from propcite.attribution.formats.wording import SIGNS
from propcite.retrieval.text import Granularity
from propcite.ui import session
from propcite.ui.clickable import show_passages
from propcite.ui.render import NO_VIEWS, passage_html, title_html
from propcite.ui.sources import Views, open_html
from propcite.ui.words import Sources, place_line

NUM_NEAR = 9
GROUPS = (
    ("Supports it", (Label.SUPPORTED,)),
    ("Comes near", (Label.PARTLY, Label.UNSUPPORTED)),
    ("Says otherwise", (Label.CONTRADICTED,)),
)


def show(answer: CitedAnswer, fact: CitedProposition) -> None:
    """A switch, and behind it the granularity: a turn of that ranks anew."""
    if not answer.collection or not st.toggle("More evidence: other sources, near misses", key=f"near-{answer.id}"):
        return
    with session.told():
        collection = session.parts().library.collection(answer.collection)
        level = session.granularity("Ranked by its nearest", f"near-level-{answer.id}")
        show_passages(_html(collection, answer, fact, level), key=f"near-shown-{answer.id}")


def _html(collection: CollectionInfo, answer: CitedAnswer, fact: CitedProposition, level: Granularity) -> str:
    near = session.pipeline(collection).alternatives(answer, fact.id, level, NUM_NEAR)
    sources = session.parts().library.sources({one.hit.passage.document_id for one in near})
    return near_html(near, sources, session.views(sources))


def near_html(near: Sequence[Alternative], sources: Sources, views: Views = NO_VIEWS) -> str:
    """Groups beside each other, each with the best first; a rank counts over all."""
    ranked = list(enumerate(near, 1))
    groups = [(name, [(rank, one) for rank, one in ranked if one.label in labels]) for name, labels in GROUPS]
    columns = [_group(name, found, sources, views) for name, found in groups if found]
    return f'<div class="groups">{"".join(columns)}</div>' if columns else "<p>Nothing comes near it.</p>"


def _group(name: str, found: Sequence[tuple[int, Alternative]], sources: Sources, views: Views) -> str:
    cards = "".join(_card(rank, one, sources, views) for rank, one in found)
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
