"""The page's own elements: an answer whose facts and markers can be clicked, and passages with marked words."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from ui.render import AnswerPayload

HERE = Path(__file__).parent
ANSWER = """
<div class="propcite">
  <div class="columns">
    <div class="answer" role="group" aria-label="Answer"></div>
    <aside class="evidence" role="region" aria-label="Evidence" aria-live="polite"></aside>
  </div>
</div>
"""
PASSAGES = '<div class="propcite passages"></div>'


@cache
def _component(name: str, html: str, script: str) -> ComponentRenderer:
    css, js = ((HERE / file).read_text("utf-8") for file in ("clickable.css", script))
    return st.components.v2.component(name, html=html, css=css, js=js)


def show_answer(payload: AnswerPayload, *, key: str, on_select: Callable[[], None]) -> None:
    """An answer with its evidence beside it.  `st.session_state[key]["fact"]`: the one clicked last."""
    _component("propcite_answer", ANSWER, "clickable.js")(key=key, data=payload, on_fact_change=on_select)


def show_passages(html: str, *, key: str) -> None:
    _component("propcite_passages", PASSAGES, "passages.js")(key=key, data={"html": html})
