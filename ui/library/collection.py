"""Manage a collection: create, count, check, build its index again, delete."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from propcite.app.library.doctor import Doctor
from propcite.app.library.store import Action, CollectionInfo, Scope
from propcite.app.parts import Parts
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.sharding.folder import index_files
from propcite.ui import choosing, session
from propcite.ui.library.words import index_rows
from propcite.ui.markdown import plain
from propcite.ui.words import counted


def create() -> None:
    """Create a collection with the typed name."""
    name = st.session_state["new-collection"].strip()
    if name:
        with session.showing_errors():
            session.create_collection(name)
            st.session_state["collection"] = name
            st.session_state["new-collection"] = ""


def show(collection: CollectionInfo) -> None:
    about = st.expander("Statistics and repair", icon=":material/database:", key="about", on_change="rerun")
    if about.open:  # checking a large collection takes a while
        with about:
            _numbers(collection)
            _look_over(collection)
            if st.button("Build the index again", key="reindex", icon=":material/refresh:"):
                _reindex(collection)


def show_removal(collection: CollectionInfo) -> None:
    with st.expander("Delete the collection", icon=":material/delete:", key="deleting"):
        _delete(collection)


def _numbers(collection: CollectionInfo) -> None:
    """Show the figures of `propcite index stats`."""
    rows = {"Documents": f"{collection.num_documents:,}", "Passages": f"{collection.num_passages:,}"}
    workspace = session.parts().workspace(collection)
    try:
        stats = workspace.stats()
    except PropCiteError as error:
        st.error(plain(str(error)), icon=":material/error:")
        stats = None
    if stats:
        built = datetime.fromtimestamp(max(path.stat().st_mtime for path in index_files(workspace.folder)), UTC)
        rows |= {**index_rows(stats), "Changed last": f"{built.astimezone():%d %b %Y, %H:%M}"}
    st.table({"What": list(rows), "How much": [plain(value) for value in rows.values()]}, hide_index=True)


def _look_over(collection: CollectionInfo) -> None:
    """Show the first finding of the doctor, with its remedy."""
    findings = looked_over(session.parts(), collection)
    if not findings:
        st.success("Library and index agree.", icon=":material/check:")
        return
    more = f" And {counted(len(findings) - 1, 'other finding')}: `propcite doctor` lists all." if findings[1:] else ""
    st.warning(f"{plain(findings[0])}{more}", icon=":material/health_and_safety:")


def looked_over(parts: Parts, collection: CollectionInfo) -> list[str]:
    """Return the doctor's findings, one line each."""
    try:
        return [finding.line for finding in Doctor(parts, [collection], deep=False).findings()]
    except PropCiteError as error:
        return [str(error)]


def _reindex(collection: CollectionInfo) -> None:
    session.load_model()
    bar = st.progress(0.0, text="Encoding every passage again…")

    def report(what: str, share: float) -> None:
        bar.progress(min(1.0, share), text=f"{what.capitalize()}…")

    workspace = session.parts().workspace(collection, progress=report)
    with session.showing_errors():
        session.visitor().require(Scope.WRITE, collection.name)
        count = workspace.rebuild(session.parts().encoder)
        bar.empty()
        st.success(f"The index was built again from {counted(count, 'passage')}.", icon=":material/check:")


def _delete(collection: CollectionInfo) -> None:
    holds = f"{counted(collection.num_documents, 'document')} and every answer given over them"
    st.markdown(f"**{plain(collection.name)}** with {holds} will be deleted. Files on your disk stay.")
    typed = st.text_input("Type its name to delete it", key="delete-name")
    st.button(
        "Delete permanently",
        key="delete-collection",
        icon=":material/delete:",
        disabled=typed.strip() != collection.name,
        on_click=_delete_now,
        args=(collection,),
    )


def _delete_now(collection: CollectionInfo) -> None:
    with session.showing_errors():
        asking = session.visitor()
        asking.require(Scope.ADMIN, collection.name)
        session.parts().remove_collection(collection)
        asking.record(Action.REMOVED_COLLECTION, collection.name)
        st.query_params.clear()
        for key in ("collection", choosing.SHOWN_OF, "delete-name", "table-first"):
            st.session_state.pop(key, None)
        st.toast("The collection was deleted", icon=":material/delete:")
