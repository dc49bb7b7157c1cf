"""Add documents: files, archives, and web pages."""

from __future__ import annotations

import streamlit as st

from propcite.app.ingest.readers import SUFFIXES
from propcite.attribution.formats.text import is_address
from propcite.ui import session
from propcite.ui.library import jobs


def show(name: str, *, is_open: bool) -> None:
    """Show a form that adds to the named collection, which is created if it does not exist."""
    with (
        st.expander("Add documents", icon=":material/add:", expanded=is_open, key="adding"),
        st.form("upload", clear_on_submit=True, border=False),
    ):
        most = session.parts().settings.max_file_mb
        kinds = ", ".join(SUFFIXES)
        help_ = f"Up to {most} MB each. An archive (zip) adds each document in it, so it can hold a folder. {kinds}"
        files = st.file_uploader(
            "Files and archives",
            list(SUFFIXES),
            accept_multiple_files=True,
            max_upload_size=most,
            key="files",
            help=help_,
        )
        address = st.text_input("or a web page", key="address", placeholder="https://").strip()
        pressed = st.form_submit_button("Add", key="add", type="primary", icon=":material/add:")
    if not pressed or not (files or address):
        return
    if address and not is_address(address):
        st.error("This is no web address: it must begin with https:// or http://", icon=":material/error:")
        return
    with session.showing_errors():
        jobs.begin(name, files, [address] if address else [])
        st.rerun()
