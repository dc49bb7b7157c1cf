"""The entry of the page: its settings, its style, and its views."""

from pathlib import Path

import streamlit as st

from propcite.ui import session

HERE = Path(__file__).parent
st.set_page_config(page_title="PropCite", page_icon=str(HERE / "icon.svg"), layout="wide")
st.html(HERE / "page.css")
session.keep_what_was_typed()
st.logo(str(HERE / "logo.svg"), size="large")
st.navigation(
    [
        st.Page("views/ask.py", title="Ask", icon=":material/forum:", url_path="ask", default=True),
        st.Page("views/cite.py", title="Cite a text", icon=":material/format_quote:", url_path="cite"),
        st.Page("views/search.py", title="Search", icon=":material/search:", url_path="search"),
        st.Page("views/evaluate.py", title="Evaluate", icon=":material/monitoring:", url_path="evaluate"),
        st.Page("views/library.py", title="Library", icon=":material/folder_open:", url_path="library"),
    ]
).run()
