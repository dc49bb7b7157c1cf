"""Read again the documents that an earlier version of the readers read."""

from __future__ import annotations

import streamlit as st

from propcite.app.ingest.readers.kinds import READING_VERSIONS
from propcite.app.library.store import CollectionInfo
from propcite.ui import session
from propcite.ui.library import jobs
from propcite.ui.words import counted


def show(collection: CollectionInfo) -> None:
    """Offer it if there are such documents, and no job of the page reads them now."""
    earlier = session.parts().library.read_before(collection, READING_VERSIONS)
    if not earlier or jobs.is_reading_all_again(collection.name):
        return
    were = "was" if len(earlier) == 1 else "were"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            f"{counted(len(earlier), 'document')} {were} read by an earlier version, which read less.", width="content"
        )
        st.button("Read again", key="read-all-again", icon=":material/refresh:", on_click=_begin, args=(collection,))


def _begin(collection: CollectionInfo) -> None:
    with session.showing_errors():
        jobs.read_all_again(collection.name)
