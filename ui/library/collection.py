"""A collection as a whole: made, counted, looked over, its index made anew, deleted."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from propcite.app.library.doctor import Doctor
from propcite.app.library.store import CollectionInfo
from propcite.app.parts import Parts
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.index.manifest import MANIFEST_FILE
from propcite.ui import session
from propcite.ui.library.words import index_rows
from propcite.ui.render import plain
from propcite.ui.words import counted


def create() -> None:
    """Of the name that is typed."""
    name = st.session_state["new-collection"].strip()
    if name:
        with session.told():
            session.parts().library.create_collection(name)
            st.session_state["collection"] = name
            st.session_state["new-collection"] = ""


def show(collection: CollectionInfo) -> None:
    about = st.expander("Statistics and repair", icon=":material/database:", key="about", on_change="rerun")
    if about.open:  # looking a large collection over takes a while
        with about:
            _numbers(collection)
            _look_over(collection)
            if st.button("Make the index anew", key="reindex", icon=":material/refresh:"):
                _reindex(collection)


def show_removal(collection: CollectionInfo) -> None:
    with st.expander("Delete the collection", icon=":material/delete:", key="deleting"):
        _delete(collection)


def _numbers(collection: CollectionInfo) -> None:
    """As `propcite index stats` tells them."""
    rows = {"Documents": f"{collection.num_documents:,}", "Passages": f"{collection.num_passages:,}"}
    workspace = session.parts().workspace(collection)
    try:
        stats = workspace.stats()
    except PropCiteError as error:
        st.error(plain(str(error)), icon=":material/error:")
        stats = None
    if stats:
        built = datetime.fromtimestamp((workspace.folder / MANIFEST_FILE).stat().st_mtime, UTC)
        rows |= {**index_rows(stats), "Changed last": f"{built.astimezone():%d %b %Y, %H:%M}"}
    st.table({"What": list(rows), "How much": [plain(value) for value in rows.values()]}, hide_index=True)


def _look_over(collection: CollectionInfo) -> None:
    """One line of what the doctor finds, with what mends it."""
    findings = looked_over(session.parts(), collection)
    if not findings:
        st.success("Library and index fit together.", icon=":material/check:")
        return
    more = f" And {counted(len(findings) - 1, 'other finding')}: `propcite doctor` tells all." if findings[1:] else ""
    st.warning(f"{plain(findings[0])}{more}", icon=":material/health_and_safety:")


def looked_over(parts: Parts, collection: CollectionInfo) -> list[str]:
    """What is not as it should be, a line each."""
    try:
        return [finding.line for finding in Doctor(parts, [collection], deep=False).findings()]
    except PropCiteError as error:
        return [str(error)]


def _reindex(collection: CollectionInfo) -> None:
    session.load_model()
    bar = st.progress(0.0, text="Reading every passage anew…")

    def report(what: str, share: float) -> None:
        bar.progress(min(1.0, share), text=f"{what.capitalize()}…")

    workspace = session.parts().workspace(collection, progress=report)
    with session.told():
        count = workspace.rebuild(session.parts().encoder)
        bar.empty()
        st.success(f"The index was made anew from {counted(count, 'passage')}.", icon=":material/check:")


def _delete(collection: CollectionInfo) -> None:
    holds = f"{counted(collection.num_documents, 'document')} and every answer given over them"
    st.markdown(f"**{plain(collection.name)}** with {holds} will be gone. Files on your disk stay.")
    typed = st.text_input("Type its name to delete it", key="delete-name")
    st.button(
        "Delete it for good",
        key="delete-collection",
        icon=":material/delete:",
        disabled=typed.strip() != collection.name,
        on_click=_delete_now,
        args=(collection,),
    )


def _delete_now(collection: CollectionInfo) -> None:
    with session.told():
        session.parts().remove_collection(collection)
        st.query_params.clear()
        for key in ("collection", "delete-name", "table-first"):
            st.session_state.pop(key, None)
        st.toast("The collection was deleted", icon=":material/delete:")
