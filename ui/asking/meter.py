"""Draw the meter of support in the page's colours."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from propcite.attribution.citations import CitedAnswer, Label
from propcite.ui.asking.words import covered_line, shares

HERE = Path(__file__).parent


def meter_html(shares_by_label: Mapping[Label, float]) -> str:
    """Return a bar whose parts also differ in pattern, and the same in words."""
    line = escape(covered_line(shares_by_label))
    parts = "".join(
        f'<i class="{label.value}" style="flex-grow:{share:.4f}"></i>' for label, share in shares_by_label.items()
    )
    bar = f'<span class="bar" aria-hidden="true">{parts}</span>' if parts else ""
    return f'<p class="meter">{bar}<span class="words">{line}</span></p>'


@cache
def _component() -> ComponentRenderer:
    css, script = HERE / "meter.css", HERE.parent / "passages.js"
    return st.components.v2.component(
        "propcite_meter",
        html='<div class="passages"></div>',
        css=css.read_text("utf-8"),
        js=script.read_text("utf-8"),
    )


def show_meter(answer: CitedAnswer) -> None:
    _component()(key=f"meter-{answer.id}", data={"html": meter_html(shares(answer))})
