"""Say on the page of questions which documents are still being read, and take them in as soon as they are there."""

from __future__ import annotations

import streamlit as st

from propcite.app.library.store import CollectionInfo
from propcite.ui import session
from propcite.ui.library import jobs
from propcite.ui.library.words import arriving_line

EVERY_S = 2.0  # between two looks at the jobs


def show(collection: CollectionInfo | None, *, is_answer_open: bool, is_waited_for: bool) -> None:
    """Show it while documents are being read, unless the open answer waits for them.

    When all are, the whole page is drawn again and says what became of them.
    """
    if collection is None:
        return
    jobs.show_followed(collection, is_answer_open=is_answer_open)
    if not is_waited_for and jobs.num_left(collection):
        st.fragment(_show, run_every=EVERY_S)(collection)


def _show(collection: CollectionInfo) -> None:
    left = jobs.num_left(collection)
    if not left:
        st.rerun()
    with session.showing_errors():
        here = session.parts().library.collection(collection.name).num_documents
        st.info(arriving_line(here, left), icon=":material/hourglass_top:")
