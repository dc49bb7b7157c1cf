"""The documents of a collection, page by page: found by words, conditions, kind and state, in any order."""

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
from propcite.ui.render import plain

AT_ONCE = 25


def show(collection: CollectionInfo) -> None:
    wanted = _wanted(collection)
    if wanted is None:
        return
    found = session.parts().library.find_documents(collection, wanted)
    if not found.items:
        st.info("No document is like that: change the words or take a filter away.", icon=":material/search_off:")
        return
    _list(found.items)
    _turn_pages(wanted.first, len(found.items), found.total)


def _wanted(collection: CollectionInfo) -> DocumentQuery | None:
    """What is asked for; None where a condition cannot be read, which is told."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        words = st.text_input("Words of title or file", key="table-words", on_change=_first_page)
        with st.popover("Filter and order", icon=":material/tune:", key="table-filter"):
            wanted, where = _filters(collection)
    if where:
        st.caption(f"Only documents of which this holds: {plain(where)}")
    try:
        ids = selected_documents(session.parts().library, collection, (), [where]) if where else None
    except PropCiteError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None
    return replace(wanted, words=words, ids=ids)


def _filters(collection: CollectionInfo) -> tuple[DocumentQuery, str]:
    kinds = session.parts().library.kinds(collection)
    kind = st.selectbox("Kind", ["", *kinds], key="table-kind", format_func=_kind, on_change=_first_page)
    states = [None, *DocumentState]
    state = st.selectbox("State", states, key="table-state", format_func=_state, on_change=_first_page)
    order = st.selectbox(
        "Order", list(SortKey), key="table-order", format_func=ORDERS.__getitem__, on_change=_first_page
    )
    down = st.toggle("The last first", key="table-down", on_change=_first_page)
    where = st.text_input("Only documents of which this holds", key="table-where", placeholder=EXAMPLE)
    first = st.session_state.get("table-first", 0)
    return DocumentQuery("", kind or "", state, None, order or SortKey.TITLE, down, first, AT_ONCE), where.strip()


def _kind(kind: str) -> str:
    return kind or "Any"


def _state(state: DocumentState | None) -> str:
    return STATES[state] if state else "Any"


def _list(documents: Sequence[DocumentInfo]) -> None:
    """A table whose rows open a document; the same by name, for who uses no mouse."""
    chosen = st.dataframe(
        [row(info) for info in documents],
        hide_index=True,
        key="table",
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            "Title": st.column_config.TextColumn(width="large"),
            "File": st.column_config.TextColumn(width="medium"),
            "Added": st.column_config.DateColumn(),
        },
        height="auto",
        alt="Documents, one a row",
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
        st.button("Before", key="before", disabled=not first, on_click=_go, args=(first - AT_ONCE,))
        st.caption(page_line(first, shown, total), width="content")
        st.button("After", key="after", disabled=first + shown >= total, on_click=_go, args=(first + AT_ONCE,))


def _go(first: int) -> None:
    st.session_state["table-first"] = max(0, first)


def _first_page() -> None:
    _go(0)
