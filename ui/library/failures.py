"""List files that could not be read, and why, until they are read or dismissed."""

from __future__ import annotations

import streamlit as st

from propcite.app.ingest.names import file_name
from propcite.app.ingest.sources import file_of
from propcite.app.library.store import CollectionInfo, FailureInfo, Scope
from propcite.ui import session
from propcite.ui.library import jobs
from propcite.ui.library.words import can_be_tried
from propcite.ui.markdown import plain
from propcite.ui.words import counted

SHOWN = 20


def show(collection: CollectionInfo) -> None:
    failures = session.parts().library.failures(collection)
    if not failures:
        return
    title = f"{counted(len(failures), 'file')} could not be read"
    with st.expander(title, icon=":material/error:", key="failed", expanded=len(failures) <= 3):
        for number, failure in enumerate(failures[:SHOWN]):
            _show(collection, failure, number)
        if len(failures) > SHOWN:
            st.caption(f"and {len(failures) - SHOWN:,} more: `propcite list --failed` shows all")
        sources = [failure.source for failure in failures]
        if len(failures) > 1 and session.visitor().may(Scope.WRITE, collection.name):
            st.button("Dismiss all", key="dismiss-all", type="tertiary", on_click=_dismiss, args=(collection, sources))


def _show(collection: CollectionInfo, failure: FailureInfo, number: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{plain(file_name(failure.source))}**: {plain(failure.reason)}", width="content")
        if not session.visitor().may(Scope.WRITE, collection.name):
            return
        if can_be_tried(failure):
            st.button("Try again", key=f"again-{number}", type="tertiary", on_click=_again, args=(collection, failure))
        else:
            st.caption("Add it again once it is repaired", width="content")
        dismissed = (collection, [failure.source])
        st.button("Dismiss", key=f"dismiss-{number}", type="tertiary", on_click=_dismiss, args=dismissed)


def _again(collection: CollectionInfo, failure: FailureInfo) -> None:
    with session.showing_errors():
        jobs.begin(collection.name, [], [file_of(failure.source)])


def _dismiss(collection: CollectionInfo, sources: list[str]) -> None:
    with session.showing_errors():
        session.visitor().require(Scope.WRITE, collection.name)
        session.parts().library.note_failures(collection, {}, sources)
