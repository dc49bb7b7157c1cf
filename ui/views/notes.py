"""The notebook of a collection: what was pinned and written, oldest first, and its export."""

from __future__ import annotations

from functools import partial

import streamlit as st

from propcite.app.library.store import CollectionInfo, Note, Scope
from propcite.app.notes.notebook import notebook_answer
from propcite.app.server.links import Links
from propcite.attribution.formats import FORMATS, Format
from propcite.attribution.formats.links import linked_by
from propcite.ui import choosing, session
from propcite.ui.markdown import plain
from propcite.ui.notes import one_note
from propcite.ui.words import FILES, counted

OFFERED = ("html", "docx", "markdown")
NOTE = "note"  # in the address: the only note that is shown


def show_export(collection: CollectionInfo, notes: list[Note]) -> None:
    """Show the formats; a file is made when its button is pressed."""
    links = Links(session.parts(), expire=True).maker(partial(session.visitor().may, Scope.READ))

    def write(form: Format) -> bytes:
        whole = notebook_answer(collection.name, notes)
        with linked_by(links):
            return form.write(whole, documents=session.parts().library.cited_documents(whole))

    with st.popover("Export", type="tertiary", icon=":material/download:", key="export-notes"), st.container(gap=None):
        for form in (FORMATS[name] for name in OFFERED):
            st.download_button(
                FILES[form.name],
                partial(write, form),
                f"notes-{collection.name}{form.suffix}",
                form.media_type,
                key=f"notes-{form.name}",
                type="tertiary",
                on_click="ignore",
            )


def show_lost(notes: list[Note], *, has_new: bool = True) -> None:
    """Show what was typed for notes that are gone, so that it can be copied."""
    here = {note.id for note in notes}
    for id_, text in list(one_note.drafts().items()):
        is_shown = id_ in here or (id_ == one_note.NEW and has_new)
        if not is_shown and text.strip():
            with st.expander("Words that were typed in a note that is not here"):
                st.code(text, language=None, wrap_lines=True)


def _show_all() -> None:
    st.query_params.clear()


def show() -> None:
    st.title("Notes", anchor=False)
    collection = choosing.choose_collection()
    if said := st.session_state.pop("notes-said", ""):
        st.error(plain(said), icon=":material/error:")
    if collection is None:
        show_lost([], has_new=False)
        st.info("There is no collection yet: notes belong to one.", icon=":material/inbox:")
        return
    notes = session.parts().notes.all(collection)
    show_lost(notes)
    if id_ := st.query_params.get(NOTE):
        st.button("All notes", key="all-notes", type="tertiary", icon=":material/arrow_back:", on_click=_show_all)
        if named := [note for note in notes if note.id == id_]:
            one_note.show(named[0])
        else:
            st.info("This note was removed, or is in another collection.", icon=":material/info:")
        return
    if notes:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(counted(len(notes), "note"), width="content")
            show_export(collection, notes)
    else:
        st.caption("Write here what you want to keep, or pin an answer, a statement or a quote below an answer.")
    for note in notes:
        one_note.show(note)
    one_note.show_new(collection)


if __name__ == "__main__":
    with session.showing_errors():
        show()
