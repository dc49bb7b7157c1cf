"""Drafts under review: a long text is cited over a collection, decided on, and taken along with comments."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from propcite.app.library.store import ReviewInfo, ReviewState
from propcite.ui import choosing, session
from propcite.ui.markdown import plain
from propcite.ui.reviewing import drafts, following, reading
from propcite.ui.reviewing.words import state_line


def show_draft(info: ReviewInfo) -> None:
    """Show an open draft: its progress while it is cited, else its statements."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("All drafts", key="all-drafts", type="tertiary", icon=":material/arrow_back:", on_click=drafts.close)
        st.markdown(f"**{plain(info.name)}** over {plain(info.collection)}", width="content")
    if info.state is ReviewState.CITING:
        following.follow(info.id)
        return
    if line := state_line(info) or (reading.unchecked(info) if info.answer_id else ""):
        st.warning(plain(line), icon=":material/warning:")
        if drafts.may_change(info):
            st.button(
                "Cite it again", key="cite-again", icon=":material/refresh:", on_click=drafts.cite_again, args=(info,)
            )
    if info.answer_id:
        st.html(Path(reading.__file__).with_name("reviewing.css"))
        reading.show(info)
    drafts.show_removing(info)


def show() -> None:
    st.title("Review a draft", anchor=False)
    collection = choosing.choose_collection()
    if info := drafts.opened():
        show_draft(info)
        return
    if collection and session.filled(collection):
        drafts.show_sending(collection)
    drafts.show_list(session.parts().reviews.all(session.visitor().collections()))


if __name__ == "__main__":
    with session.showing_errors():
        show()
