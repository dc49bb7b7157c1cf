"""Which words are compared when a collection is searched, and adapting that to what people marked right."""

from __future__ import annotations

import streamlit as st

from propcite.app.lab.adaptation.adapt import Adaptation, adapt
from propcite.app.lab.adaptation.examples import ENOUGH_EXAMPLES, MIN_EXAMPLES, Example, feedback_examples
from propcite.app.library.store import CollectionInfo
from propcite.ui import opinions, session
from propcite.ui.render import plain
from propcite.ui.words import counted


def show(collection: CollectionInfo) -> None:
    parts = session.parts()
    setting, own = parts.settings.alignment, collection.alignment
    with st.expander("How words are compared"):
        st.markdown(f"Under the alignment **{plain(str(parts.alignment(collection)))}**, {_whose(setting, own)}.")
        if setting:
            return
        if own:
            st.button("Take it away", key="alignment-away", on_click=_keep, args=(collection, ""))
        _offer(collection, feedback_examples(parts, collection))
        opinions.offer(collection)
        name, found = st.session_state.get("adapted", ("", None))
        if found is not None and name == collection.name:
            _show_found(found)


def _whose(setting: str, own: str) -> str:
    if setting:
        return "as the settings say"
    return "the collection's own" if own else "the usual one: each word with the nearest"


def _offer(collection: CollectionInfo, examples: list[Example]) -> None:
    """A button where enough was marked, else how much more is needed."""
    there = f"Citations of {counted(len(examples), 'question')} were marked right"
    if len(examples) < MIN_EXAMPLES:
        st.markdown(
            f"{there}; from {MIN_EXAMPLES} on ({ENOUGH_EXAMPLES} are better) the collection can be adapted to them."
        )
        return
    st.markdown(f"{there}." + (f" {ENOUGH_EXAMPLES} are better." if len(examples) < ENOUGH_EXAMPLES else ""))
    if st.button("Adapt to what people marked right", key="adapt", icon=":material/tune:"):
        session.load_model()
        with session.told(), st.spinner("Ranking the questions in every way…"):
            found = adapt(session.parts(), collection, examples)
            _keep(collection, "" if found.is_default else found.kept)
            st.session_state["adapted"] = (collection.name, found)
            st.rerun()


def _keep(collection: CollectionInfo, name: str) -> None:
    session.parts().library.set_alignment(collection, name)
    st.session_state.pop("adapted", None)


def _show_found(found: Adaptation) -> None:
    st.markdown(plain(found.summary))
    st.dataframe(found.rows, hide_index=True, height="content", key="alignments")
    for line in found.left_out:
        st.caption(plain(line))
