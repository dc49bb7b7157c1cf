"""Add documents: files, archives, folders, and web addresses."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from propcite.app.errors import AppError
from propcite.app.ingest.readers import SUFFIXES
from propcite.app.library.store import CollectionInfo, Scope
from propcite.ui import choosing, session
from propcite.ui.library import jobs, receiving
from propcite.ui.library.addresses import addresses_in

ADDRESS_HEIGHT = 68  # pixels: two lines, and more by pulling


def show(name: str, *, is_open: bool, anywhere: bool = False) -> None:
    """Show a form that adds to the named collection, which is created if it does not exist.

    It takes what is dropped anywhere on the page if so wanted.  Once the work has begun it is closed and empty again.
    """
    number = session.times_added()
    with st.container(key="adding"):
        receiving.show("adding", anywhere=anywhere)
        with (
            st.expander("Add documents", icon=":material/add:", expanded=is_open, key=f"adding-{number}"),
            st.form(f"upload-{number}", border=False),
        ):
            most = session.parts().settings.max_file_mb
            help_ = f"Up to {most} MB each. An archive (zip) adds each document in it. {', '.join(SUFFIXES)}"
            left, right = st.columns(2)
            files = left.file_uploader(
                "Files and archives",
                list(SUFFIXES),
                accept_multiple_files=True,
                max_upload_size=most,
                key=f"files-{number}",
                help=help_,
            )
            folder = right.file_uploader(
                "A folder",
                list(SUFFIXES),
                accept_multiple_files="directory",
                max_upload_size=most,
                key=f"folder-{number}",
                help="With its sub-folders. Chosen again, it adds what is new and replaces what changed.",
            )
            typed = st.text_area(
                "Web addresses", key=f"addresses-{number}", placeholder="https://", height=ADDRESS_HEIGHT
            )
            pressed = st.form_submit_button("Add", key="add", type="primary", icon=":material/add:")
        with session.showing_errors():
            if pressed and not choosing.gone_collection():
                _begin(name, [*files, *folder], typed)


def may_add_to(collection: CollectionInfo | None) -> bool:
    """Return whether who has the page open may add to a collection, or create the first one."""
    visitor = session.visitor()
    return visitor.may(Scope.WRITE, collection.name) if collection else visitor.may_create


def _begin(name: str, files: list[UploadedFile], typed: str) -> None:
    """Begin to read what was given; AppError if something is wrong, and everything stays as it was typed."""
    addresses = addresses_in(typed)
    if not files and not addresses:
        raise AppError("Nothing was chosen: choose files or a folder, or type a web address")
    jobs.begin(name, files, addresses)
    _let_go(files)
    st.rerun()


def _let_go(files: list[UploadedFile]) -> None:
    """Free the memory of files that are stored for reading: Streamlit would keep them until the page closes."""
    run = get_script_run_ctx()
    if run and isinstance(run.uploaded_file_mgr, MemoryUploadedFileManager):
        for file in files:
            run.uploaded_file_mgr.remove_file(run.session_id, file.file_id)
