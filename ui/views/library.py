"""The library: a collection's documents, new ones, failures, and the collection itself."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from propcite.app.library.store import CollectionInfo, Scope
from propcite.ui import choosing, session
from propcite.ui.evaluating import adaptation
from propcite.ui.library import adding, collection, document, failures, jobs, rereading, table, words
from propcite.ui.markdown import plain
from propcite.ui.people import sharing


def show_collection(chosen: CollectionInfo | None) -> DeltaGenerator | None:
    """Show the collection, or what to do if there is none; return the place of what it holds."""
    st.title("Library", anchor=False)
    asking = session.visitor()
    if chosen is None and not asking.may_create:
        st.info("No collection is shared with you.", icon=":material/inbox:")
        return None
    if chosen is None:
        session.offer_demo("There are no documents yet: add your own below.")
        adding.show(session.parts().settings.collection, is_open=True, anywhere=True)
        return None
    holds = st.empty()
    holds.markdown(words.holds_line(chosen))
    may_change = asking.may(Scope.WRITE, chosen.name)
    if may_change:
        is_empty = not chosen.num_documents and not jobs.num_left(chosen)
        adding.show(chosen.name, is_open=is_empty, anywhere=True)
    failures.show(chosen)
    if may_change:
        rereading.show(chosen)
    if chosen.num_documents:
        table.show(chosen)
    if may_change:
        collection.show(chosen)
        adaptation.show(chosen)
    if asking.may(Scope.ADMIN, chosen.name):
        sharing.show(chosen)
        collection.show_removal(chosen)
    return holds


def show() -> None:
    chosen = choosing.choose_collection()
    if session.visitor().may_create:
        with st.sidebar.expander("New collection", key="creating"):
            st.text_input("Its name", key="new-collection", on_change=collection.create)
    if notice := st.session_state.pop("library-notice", ""):
        st.error(plain(notice), icon=":material/error:")
    opened = st.query_params.get("document", "")
    going_on = jobs.show(chosen, is_document_open=bool(opened and chosen))
    holds = None
    if opened and chosen:
        document.show(chosen, opened)
    else:
        holds = show_collection(chosen)
    jobs.follow(chosen, going_on, holds)


if __name__ == "__main__":
    with session.showing_errors():
        show()
