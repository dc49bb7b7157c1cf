"""The entry of the page: its settings, its style, who has it open, and the views for them."""

from collections.abc import Iterator
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from propcite.app.library.store import Scope
from propcite.ui import session
from propcite.ui.markdown import plain
from propcite.ui.people.visitor import Visitor

HERE = Path(__file__).parent


def show() -> None:
    visitor = session.visitor()
    if not visitor.rights:
        st.info("You have no role here: ask whoever runs this page for one.", icon=":material/lock:")
        return
    chosen = st.navigation(list(views(visitor)))
    if visitor.name:
        show_person(visitor)
    chosen.run()


def views(visitor: Visitor) -> Iterator[StreamlitPage]:
    """Return the views that the person may open; all others do not exist for them."""
    yield st.Page("views/ask.py", title="Ask", icon=":material/forum:", url_path="ask", default=True)
    yield st.Page("views/cite.py", title="Cite a text", icon=":material/format_quote:", url_path="cite")
    yield st.Page("views/review.py", title="Review a draft", icon=":material/rate_review:", url_path="review")
    yield st.Page("views/compare.py", title="Compare", icon=":material/compare_arrows:", url_path="compare")
    yield st.Page("views/search.py", title="Search", icon=":material/search:", url_path="search")
    yield st.Page("views/notes.py", title="Notes", icon=":material/sticky_note_2:", url_path="notes")
    if visitor.may_measure:
        yield st.Page("views/evaluate.py", title="Evaluate", icon=":material/monitoring:", url_path="evaluate")
    yield st.Page("views/library.py", title="Library", icon=":material/folder_open:", url_path="library")
    if visitor.name and visitor.rights.allow_somewhere(Scope.ADMIN):
        yield st.Page("views/audit.py", title="Audit log", icon=":material/history:", url_path="audit")
    if visitor.may_set:
        yield st.Page("views/settings.py", title="Settings", icon=":material/settings:", url_path="settings")


def show_person(visitor: Visitor) -> None:
    with st.sidebar.container(horizontal=True, vertical_alignment="center", gap="small", key="person"):
        st.caption(plain(visitor.name), width="content")
        if session.parts().settings.page_sign_in == "openid":
            st.button("Sign out", key="sign-out", type="tertiary", on_click=st.logout)


st.set_page_config(page_title="PropCite", page_icon=str(HERE / "icon.svg"), layout="wide")
st.html(HERE / "page.css")
session.keep_what_was_typed()
st.logo(str(HERE / "logo.svg"), size="large")
with session.showing_errors():
    show()
