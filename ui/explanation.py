"""Explain on request why the chosen fact has its source; readers who do not ask wait for no model."""

from __future__ import annotations

import streamlit as st

from propcite.attribution.citations import CitedAnswer, CitedProposition
from propcite.attribution.citing.explaining import searched_granularity
from propcite.attribution.formats.explanations.html import explanation_html
from propcite.attribution.formats.explanations.text import explanation_lines
from propcite.ui import session
from propcite.ui.clickable import show_why
from propcite.ui.markdown import plain
from propcite.ui.words import UNITS, evidence_of


def show(answer: CitedAnswer, fact: CitedProposition) -> None:
    """Show a switch; when on, which words matched which, for the chosen citation and granularity."""
    if not evidence_of(fact) or not st.toggle("Why: which words matched", key=f"why-{answer.id}"):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        citation = _citation(answer, fact)
        default = searched_granularity(answer)
        granularity = session.granularity("Compare with its", f"why-level-{answer.id}", default, UNITS.__getitem__)
    with session.showing_errors(), st.spinner("Comparing the words…"):
        session.load_model()
        explained = session.parts().propcite.explain(answer, fact.id, citation, granularity=granularity)
        first, *others = explanation_lines(explained)
        st.markdown(f"**{plain(first)}**")
        st.markdown(plain(" ".join(others)))
        show_why(explanation_html(explained), key=f"why-shown-{answer.id}")


def _citation(answer: CitedAnswer, fact: CitedProposition) -> str:
    """Return the id of the chosen citation if the fact has several; else empty."""
    ids = {c.id: c.number for c in fact.citations}
    if len(ids) < 2:
        return ""
    numbers = {i: f"\\[{number}\\]" for i, number in ids.items()}
    chosen = st.segmented_control(
        "Source",
        list(ids),
        default=next(iter(ids)),
        format_func=numbers.__getitem__,
        key=f"why-citation-{answer.id}-{fact.id}",
        required=True,
    )
    return chosen or ""
