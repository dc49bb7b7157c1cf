"""List the documents of a collection page by page: filtered by words, conditions, kind and state, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from propcite.app.library.conditions import EXAMPLE
from propcite.app.library.selection import selected_documents
from propcite.app.library.store import CollectionInfo, DocumentInfo, DocumentQuery, DocumentState, SortKey
from propcite.retrieval.errors import PropCiteError
from propcite.ui import session
from propcite.ui.asking.words import page_line
from propcite.ui.library.words import ORDERS, STATES, row
from propcite.ui.markdown import plain

AT_ONCE = 25


def show(collection: CollectionInfo) -> None:
    query = _query(collection)
    if query is None:
        return
    page = session.parts().library.find_documents(collection, query)
    if not page.items:
        st.info("No document matches: change the words or remove a filter.", icon=":material/search_off:")
        return
    _list(page.items)
    _turn_pages(query.first, len(page.items), page.total)


def _query(collection: CollectionInfo) -> DocumentQuery | None:
    """Return the query; None if a condition cannot be parsed, which is shown."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        words = st.text_input("Search by title or file name", key="table-words", on_change=_first_page)
        with st.popover("Filter and order", icon=":material/tune:", key="table-filter"):
            query, where = _filters(collection)
    if where:
        st.caption(f"Only documents that match: {plain(where)}")
    try:
        ids = selected_documents(session.parts().library, collection, (), [where]) if where else None
    except PropCiteError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None
    return replace(query, words=words, ids=ids)


def _filters(collection: CollectionInfo) -> tuple[DocumentQuery, str]:
    kinds = session.parts().library.kinds(collection)
    kind = st.selectbox("Kind", ["", *kinds], key="table-kind", format_func=_kind, on_change=_first_page)
    states = [None, *DocumentState]
    state = st.selectbox("State", states, key="table-state", format_func=_state, on_change=_first_page)
    order = st.selectbox(
        "Order", list(SortKey), key="table-order", format_func=ORDERS.__getitem__, on_change=_first_page
    )
    down = st.toggle("Descending", key="table-down", on_change=_first_page)
    where = st.text_input("Only documents that match", key="table-where", placeholder=EXAMPLE)
    first = st.session_state.get("table-first", 0)
    return DocumentQuery("", kind or "", state, None, order or SortKey.TITLE, down, first, AT_ONCE), where.strip()


def _kind(kind: str) -> str:
    return kind or "Any"


def _state(state: DocumentState | None) -> str:
    return STATES[state] if state else "Any"


def _list(documents: Sequence[DocumentInfo]) -> None:
    """Show a table whose rows open a document, and a list that does the same by keyboard."""
    chosen = st.dataframe(
        [row(info) for info in documents],
        hide_index=True,
        key="table",
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            "Title": st.column_config.TextColumn(width=285),
            "File": st.column_config.TextColumn(width=165),
            "Kind": st.column_config.TextColumn(width=80),
            "Passages": st.column_config.NumberColumn(width=75),
            "Not read": st.column_config.TextColumn(
                width=165, help="What its text lacks: open the document to see more"
            ),
            "Added": st.column_config.DateColumn(width=95),
        },
        height="auto",
        alt="Documents, one per row",
    )
    if chosen.selection.rows:
        open_document(documents[chosen.selection.rows[0]].id)
    names = {info.id: info.title or info.source for info in documents}
    opened = st.selectbox("Open a document", names, key="open", format_func=names.__getitem__, index=None)
    if opened:
        open_document(opened)


def open_document(document_id: str) -> None:
    st.query_params.from_dict({"document": document_id})
    st.rerun()


def _turn_pages(first: int, shown: int, total: int) -> None:
    if total <= AT_ONCE and not first:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("Previous", key="before", disabled=not first, on_click=_go, args=(first - AT_ONCE,))
        st.caption(page_line(first, shown, total), width="content")
        st.button("Next", key="after", disabled=first + shown >= total, on_click=_go, args=(first + AT_ONCE,))


def _go(first: int) -> None:
    st.session_state["table-first"] = max(0, first)


def _first_page() -> None:
    _go(0)
