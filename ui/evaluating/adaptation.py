"""Show a collection's alignment, and adapt it to citations that people marked right."""

from __future__ import annotations

import streamlit as st

from propcite.app.lab.adaptation.adapt import Adaptation, adapt
from propcite.app.lab.adaptation.examples import ENOUGH_EXAMPLES, MIN_EXAMPLES, Example, feedback_examples
from propcite.app.library.store import Action, CollectionInfo, Scope
from propcite.ui import feedback, session
from propcite.ui.markdown import plain
from propcite.ui.words import counted


def show(collection: CollectionInfo) -> None:
    parts = session.parts()
    setting, own = parts.settings.alignment, collection.alignment
    with st.expander("How words are compared"):
        st.markdown(f"Under the alignment **{plain(str(parts.alignment(collection)))}**, {_whose(setting, own)}.")
        if setting:
            return
        if own:
            st.button("Use the usual one again", key="alignment-away", on_click=_keep, args=(collection, ""))
        _offer(collection, feedback_examples(parts, collection))
        feedback.offer(collection)
        name, adaptation = st.session_state.get("adapted", ("", None))
        if adaptation is not None and name == collection.name:
            _show_adaptation(adaptation)


def _whose(setting: str, own: str) -> str:
    if setting:
        return "as the settings say"
    return "the collection's own" if own else "the usual one: each word with the nearest"


def _offer(collection: CollectionInfo, examples: list[Example]) -> None:
    """Offer the adaptation if enough citations are marked; else say how many are missing."""
    there = f"Citations of {counted(len(examples), 'question')} were marked right"
    if len(examples) < MIN_EXAMPLES:
        st.markdown(
            f"{there}; from {MIN_EXAMPLES} on ({ENOUGH_EXAMPLES} are better) the collection can be adapted to them."
        )
        return
    st.markdown(f"{there}." + (f" {ENOUGH_EXAMPLES} are better." if len(examples) < ENOUGH_EXAMPLES else ""))
    if st.button("Adapt to what people marked right", key="adapt", icon=":material/tune:"):
        session.load_model()
        with session.showing_errors(), st.spinner("Ranking the questions in every way…"):
            adaptation = adapt(session.parts(), collection, examples)
            _keep(collection, "" if adaptation.is_default else adaptation.kept)
            st.session_state["adapted"] = (collection.name, adaptation)
            st.rerun()


def _keep(collection: CollectionInfo, name: str) -> None:
    asking = session.visitor()
    asking.require(Scope.WRITE, collection.name)
    session.parts().library.set_alignment(collection, name)
    asking.record(Action.CHANGED_COLLECTION, collection.name, "alignment")
    st.session_state.pop("adapted", None)


def _show_adaptation(adaptation: Adaptation) -> None:
    st.markdown(plain(adaptation.summary))
    st.dataframe(adaptation.rows, hide_index=True, height="content", key="alignments")
    for line in adaptation.left_out:
        st.caption(plain(line))
