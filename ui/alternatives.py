"""Show what else is near the chosen fact, at any granularity: support, near misses, contradictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

import streamlit as st

from propcite.app.library.store import CollectionInfo
from propcite.app.turns.costs import Kind
from propcite.attribution.citations import CitedAnswer, CitedProposition, Label
from propcite.attribution.citing.alternatives import Alternative
from propcite.attribution.formats.wording import reason_of
from propcite.retrieval.text import Granularity
from propcite.ui import session
from propcite.ui.clickable import show_passages
from propcite.ui.people.turns import in_turns
from propcite.ui.render import NO_VIEWS, badge, passage_html, title_html
from propcite.ui.sources import Views, open_html
from propcite.ui.words import Sources, place_line, sentence, sure_line

TOGGLE = "Other places that support, contradict or come near it"
NUM_NEAR = 12  # sentences; those of one passage are shown together
GROUPS = (
    ("Supports it", (Label.SUPPORTED,)),
    ("Contradicts it", (Label.CONTRADICTED,)),
    ("Comes near it", (Label.PARTLY, Label.UNSUPPORTED, Label.UNCHECKED)),
)
WEIGHT = (Label.CONTRADICTED, Label.SUPPORTED, Label.PARTLY, Label.UNSUPPORTED, Label.UNCHECKED)


def show(answer: CitedAnswer, fact: CitedProposition) -> None:
    """Show a switch; when on, a control for the granularity and the ranked alternatives."""
    if not answer.collection or not st.toggle(TOGGLE, key=f"near-{answer.id}"):
        return
    with session.showing_errors():
        collection = session.parts().library.collection(answer.collection)
        level = session.granularity("Compare it with", f"near-level-{answer.id}")
        show_passages(_html(collection, answer, fact, level), key=f"near-shown-{answer.id}")


def _html(collection: CollectionInfo, answer: CitedAnswer, fact: CitedProposition, level: Granularity) -> str:
    with in_turns(Kind.EVIDENCE):
        near = session.pipeline(collection).alternatives(answer, fact.id, level, NUM_NEAR)
    sources = session.parts().library.sources({one.hit.passage.document_id for one in near})
    if not answer.question:  # a text that was given: nobody answered anything
        near = [replace(one, verdict=replace(one.verdict, reason=reason_of(one.verdict, of_text=True))) for one in near]
    return near_html(near, sources, session.views(sources))


def near_html(near: Sequence[Alternative], sources: Sources, views: Views = NO_VIEWS) -> str:
    """Return the passages near a fact as a list in groups, best first; each unfolds and has all its sentences."""
    by_passage: dict[str, list[Alternative]] = {}
    for one in near:
        by_passage.setdefault(one.hit.passage.id, []).append(one)
    cards = list(by_passage.values())
    groups = [(name, [card for card in cards if label_of_card(card) in labels]) for name, labels in GROUPS]
    lists = [_group(name, own, sources, views) for name, own in groups if own]
    return f'<div class="groups">{"".join(lists)}</div>' if lists else "<p>Nothing comes near it.</p>"


def label_of_card(card: Sequence[Alternative]) -> Label:
    """Return the verdict that a passage is listed under: the weightiest of its sentences'."""
    return min((one.label for one in card), key=WEIGHT.index)


def _group(name: str, cards: Sequence[Sequence[Alternative]], sources: Sources, views: Views) -> str:
    items = "".join(_card(card, sources, views) for card in cards)
    return f'<section class="group"><h2>{name} <span class="count">{len(cards)}</span></h2>{items}</section>'


def _card(card: Sequence[Alternative], sources: Sources, views: Views) -> str:
    """Return a passage folded to its verdict, its title and the sentence that its verdict is on."""
    label = label_of_card(card)
    first = next(one for one in card if one.label is label)
    passage = first.hit.passage
    spans = sorted({span for one in card for span in one.hit.spans})
    is_whole = all(one.hit.granularity is Granularity.PASSAGE for one in card)
    sentences = "" if is_whole else f'<ul class="sentences">{"".join(map(_sentence, card))}</ul>'
    reason = f'<p class="reason">{escape(first.verdict.reason)}</p>' if is_whole and first.verdict.reason else ""
    return (
        f'<details class="nearby" name="near"><summary>{badge(label)} <span class="what">{title_html(passage)}</span>'
        f'{_marker(first)}<span class="quote">{escape(" ".join(first.hit.text.split()))}</span></summary>'
        f'<div class="source"><p class="place">{escape(place_line(passage, spans, sources))}</p>{sentences}{reason}'
        f"{passage_html(passage, () if is_whole else spans)}"
        f'<p class="deeds">{open_html(passage, first.hit.spans, views)}</p></div></details>'
    )


def _sentence(one: Alternative) -> str:
    lines = " ".join(sentence(line) for line in (sure_line(one.verdict), one.verdict.reason) if line)
    words = escape(" ".join(one.hit.text.split()))
    why = f'<span class="why">{escape(lines)}</span>'
    return f"<li>{badge(one.label)}{_marker(one)} “{words}” {why}</li>"


def _marker(one: Alternative) -> str:
    return f' <span class="number">[{one.number}]</span>' if one.number else ""
