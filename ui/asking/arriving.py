"""Say on the page of questions which documents are still being read, and take them in as soon as they are there."""

from __future__ import annotations

import streamlit as st

from propcite.app.library.store import CollectionInfo
from propcite.ui import session
from propcite.ui.library import jobs
from propcite.ui.library.words import arriving_line

EVERY_S = 2.0  # between two looks at the jobs


def show(collection: CollectionInfo | None) -> None:
    """Show it while documents are being read; when all are, the whole page is drawn again."""
    if collection and num_left(collection):
        st.fragment(_show, run_every=EVERY_S)(collection)


def num_left(collection: CollectionInfo) -> int:
    """Return how many documents of a collection are still being read."""
    return sum(job.num_left for job in jobs.uploads().jobs(collection.name))


def _show(collection: CollectionInfo) -> None:
    left = num_left(collection)
    if not left:
        st.rerun()
    with session.showing_errors():
        here = session.parts().library.collection(collection.name).num_documents
        st.info(arriving_line(here, left), icon=":material/hourglass_top:")
