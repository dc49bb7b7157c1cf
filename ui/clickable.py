"""Components of the page: an answer with clickable facts and markers, and passages with marked words."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from propcite.attribution.formats.explanations.html import STYLE as WHY_STYLE
from propcite.ui.render import AnswerPayload

HERE = Path(__file__).parent
ANSWER = """
<div class="propcite">
  <div class="columns">
    <div class="answer" role="group" aria-label="Answer"></div>
    <h2 class="unseen">Source of the chosen statement</h2>
    <aside class="evidence" role="region" aria-label="Source of the chosen statement" aria-live="polite"></aside>
  </div>
</div>
"""
PASSAGES = '<div class="propcite"><h2 class="unseen">Found</h2><div class="passages"></div></div>'
WHY = '<div class="passages"></div>'


@cache
def component(name: str, html: str, script: str, *styles: Path) -> ComponentRenderer:
    css = "\n".join(path.read_text("utf-8") for path in styles or (HERE / "clickable.css",))
    return st.components.v2.component(name, html=html, css=css, js=(HERE / script).read_text("utf-8"))


def show_answer(payload: AnswerPayload, *, key: str, on_select: Callable[[], None]) -> None:
    """Show an answer beside its evidence; `st.session_state[key]["fact"]` is the fact clicked last."""
    component("propcite_answer", ANSWER, "clickable.js")(key=key, data=payload, on_fact_change=on_select)


def show_passages(html: str, *, key: str) -> None:
    component("propcite_passages", PASSAGES, "passages.js")(key=key, data={"html": html})


def show_why(html: str, *, key: str) -> None:
    """Show two texts with matching words marked, and the heat map of all pairs."""
    component("propcite_why", WHY, "passages.js", WHY_STYLE)(key=key, data={"html": html})
