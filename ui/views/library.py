"""The library: a collection's documents, new ones, failures, and the collection itself."""

from __future__ import annotations

import streamlit as st

from propcite.app.library.store import CollectionInfo, Scope
from propcite.ui import session
from propcite.ui.evaluating import adaptation
from propcite.ui.library import adding, collection, document, failures, jobs, rereading, table
from propcite.ui.people import sharing
from propcite.ui.render import plain
from propcite.ui.words import counted


def show_collection(chosen: CollectionInfo | None) -> None:
    """Show the collection, or what to do if there is none."""
    st.title("Library", anchor=False)
    asking = session.visitor()
    if chosen is None and not asking.may_create:
        st.info("No collection is shared with you.", icon=":material/inbox:")
        return
    if chosen is None:
        session.offer_demo("There are no documents yet: add your own below.")
        adding.show(session.parts().settings.collection, is_open=True)
        return
    holds = counted(chosen.num_documents, "document"), counted(chosen.num_passages, "passage")
    st.markdown(f"**{plain(chosen.name)}** holds {', '.join(holds)}.")
    may_change = asking.may(Scope.WRITE, chosen.name)
    if may_change:
        adding.show(chosen.name, is_open=not chosen.num_documents)
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


def show() -> None:
    chosen = session.choose_collection()
    if session.visitor().may_create:
        with st.sidebar.expander("New collection", key="creating"):
            st.text_input("Its name", key="new-collection", on_change=collection.create)
    if told := st.session_state.pop("library-told", ""):
        st.error(plain(told), icon=":material/error:")
    going_on = jobs.show(chosen)
    opened = st.query_params.get("document", "")
    if opened and chosen:
        document.show(chosen, opened)
    else:
        show_collection(chosen)
    jobs.follow(going_on)


if __name__ == "__main__":
    with session.showing_errors():
        show()
