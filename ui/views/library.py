"""What a collection holds: its documents, new ones, and those to be removed."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.ingest import SUFFIXES
from app.ingester import Outcome, Source, Upload, Web
from app.store import CollectionInfo, DocumentInfo
from ui import adapting, session
from ui.render import plain
from ui.words import counted, file_name

SAID = {
    "added": "added",
    "changed": "replaced",
    "moved": "known under its new name",
    "unchanged": "already there",
    "duplicate": "not added again",
    "failed": "not added",
}


def show_table(documents: Sequence[DocumentInfo]) -> None:
    rows = [
        {"Title": d.title, "File": file_name(d.source), "Passages": d.num_passages, "Added": d.added_at}
        for d in documents
    ]
    st.dataframe(rows, hide_index=True, key="documents", column_config={"Added": st.column_config.DateColumn()})


def show_outcomes() -> None:
    """What became of the files added last."""
    for outcome in st.session_state.get("outcomes", []):
        name = plain(file_name(outcome.source))
        if outcome.state == "failed":
            st.error(f"**{name}** {SAID['failed']}: {plain(outcome.reason)}", icon=":material/error:")
        else:
            st.success(f"**{name}** {SAID[outcome.state]}: {plain(about(outcome))}", icon=":material/check:")


def about(outcome: Outcome) -> str:
    """What was read of a file, and which other says the same or nearly so."""
    alike = [f"{one.share:.0%} the same as {file_name(one.source)}" for one in outcome.alike]
    return ", ".join(filter(None, [counted(outcome.num_passages, "passage"), outcome.reason, *alike]))


def upload(name: str) -> None:
    """Documents into the collection of this name, which is made if it is not there."""
    with st.form("upload", clear_on_submit=True, border=False):
        most = session.parts().settings.max_file_mb
        kinds = list(SUFFIXES)
        files = st.file_uploader("Add documents", kinds, accept_multiple_files=True, max_upload_size=most, key="files")
        address = st.text_input("or a page of the web", key="address", placeholder="https://")
        pressed = st.form_submit_button("Add", key="add", type="primary", icon=":material/add:")
    sources: list[Source] = [
        *(Upload(f.name, f.getvalue()) for f in files),
        *([Web(address.strip())] if address.strip() else []),
    ]
    if pressed and sources:
        with session.told():
            collection = session.parts().library.create_collection(name)
            st.session_state["outcomes"] = session.add(collection, sources)
            st.rerun()


def remove(collection: CollectionInfo, documents: Sequence[DocumentInfo]) -> None:
    by_id = {d.id: d for d in documents}
    chosen = st.selectbox("Document", by_id, format_func=lambda i: by_id[i].title or i, index=None, key="remove")
    if chosen is None:
        return
    citing = session.parts().library.answers_citing(chosen)
    cited = counted(citing, "kept answer") if citing else "No kept answer"
    st.markdown(f"{cited} would lose this source; quotes that were kept stay as they are.")
    if st.button("Remove it", key="remove-now", icon=":material/delete:"):
        session.load_model()
        session.parts().ingester(collection).remove(chosen)
        st.session_state["outcomes"] = []
        st.rerun()


def create() -> None:
    name = st.session_state["new-collection"].strip()
    if name:
        with session.told():
            session.parts().library.create_collection(name)
            st.session_state["collection"] = name
            st.session_state["new-collection"] = ""


def show() -> None:
    st.title("Library", anchor=False)
    collection = session.choose_collection()
    with st.sidebar.expander("New collection"):
        st.text_input("Its name", key="new-collection", on_change=create)
    if collection is None:
        session.offer_demo("There are no documents yet: add your own below.")
        name = session.parts().settings.collection
    else:
        name = collection.name
        holds = counted(collection.num_documents, "document"), counted(collection.num_passages, "passage")
        st.markdown(f"**{plain(name)}** holds {', '.join(holds)}.")
    upload(name)
    show_outcomes()
    documents = session.parts().library.documents(collection) if collection else []
    if collection and documents:
        show_table(documents)
        with st.expander("Remove a document"):
            remove(collection, documents)
        adapting.show(collection)


if __name__ == "__main__":
    with session.told():
        show()
