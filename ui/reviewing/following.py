"""Show a draft while it is cited; leaving the page or loading it again stops nothing."""

from __future__ import annotations

import streamlit as st

from propcite.app.errors import NotFoundError
from propcite.app.library.store import ReviewInfo, ReviewState
from propcite.ui import session
from propcite.ui.markdown import plain
from propcite.ui.reviewing import drafts
from propcite.ui.words import percent

LOOK_S = 1.0


@st.fragment(run_every=LOOK_S)
def follow(id_: str) -> None:
    """Show how far a draft is, until its citing ends."""
    try:
        info = session.parts().reviews.find(id_)
    except NotFoundError:  # somebody removed it meanwhile
        st.rerun()
    if info.state is not ReviewState.CITING:
        st.rerun()
    session.show_kept_error()
    st.progress(info.share, text=plain(f"Citing {info.name}: {percent(info.share)}. You may leave this page"))
    if drafts.may_change(info):
        st.button("Cancel", key="cancel-review", icon=":material/stop_circle:", on_click=_cancel, args=(info,))


def _cancel(info: ReviewInfo) -> None:
    with session.keeping_errors():
        drafts.require_change(info)
        session.parts().reviews.cancel(info.id)
