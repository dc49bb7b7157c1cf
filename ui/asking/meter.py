"""Draw whether an answer answers its question, and how much of it has support, in the page's colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from propcite.attribution.citations import CitedAnswer, Label
from propcite.attribution.formats.wording import ANSWERED_SIGNS, answered_line
from propcite.attribution.question_parts import Answered, QuestionPart
from propcite.ui.asking.words import covered_line, is_quoted, shares

HERE = Path(__file__).parent
STATES = {Answered.YES: "answered", Answered.PARTLY: "perhaps answered in part", Answered.NO: "not answered"}
QUOTED = "In the words of the sources"


def answered_html(answer: CitedAnswer) -> str:
    """Return whether the question is answered, and each of its parts if it has several; empty where it is not known."""
    if answer.answered is None:
        return ""
    if len(answer.parts) == 1:
        sign, line = ANSWERED_SIGNS[answer.answered], answered_line(answer)
        return f'<p class="answered {answer.answered.value}">{_signed(sign, line)}</p>'
    return f'<ul class="answered {answer.answered.value}">{_items(answer.parts)}</ul>'


def _items(parts: Sequence[QuestionPart]) -> str:
    return "".join(
        f'<li class="{part.answered.value}">{_signed(ANSWERED_SIGNS[part.answered], part.question)} '
        f'<span class="state">{STATES[part.answered]}</span></li>'
        for part in parts
    )


def _signed(sign: str, line: str) -> str:
    return f'<span class="sign" aria-hidden="true">{sign}</span> {escape(line)}'


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
    """Show whether the question is answered; support is no news where every sentence is a quote."""
    support = f'<p class="meter"><span class="words">{QUOTED}</span></p>' if is_quoted(answer) else ""
    html = answered_html(answer) + (support or meter_html(shares(answer)))
    _component()(key=f"meter-{answer.id}", data={"html": html})
