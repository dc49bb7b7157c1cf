"""Ask two documents, or two versions of one, the same question, or compare them whole, side by side."""

from __future__ import annotations

import streamlit as st

from propcite.app.library.selection import selected_documents
from propcite.app.library.store import CollectionInfo
from propcite.ui import choosing, session
from propcite.ui.comparing import following

SIDES = ("left", "right")
CONDITION = "Documents that match, such as source~2023"
QUESTION = "What do you want to know of both? Leave it empty to compare them whole"


def choose_sides(collection: CollectionInfo) -> list[list[str]]:
    """Show the two choices of documents and return their ids; empty where nothing is chosen."""
    titles = session.document_titles(collection)
    chosen = []
    for column, side in zip(st.columns(2), SIDES, strict=True):
        key, label = f"{side}-documents", f"Documents on the {side}"
        if titles:
            known = [i for i in st.session_state.get(key, ()) if i in titles]
            if st.session_state.get(key, known) != known:
                st.session_state[key] = known  # drop documents of another collection and removed ones
            chosen.append(
                column.multiselect(
                    label,
                    list(titles),
                    key=key,
                    format_func=titles.__getitem__,
                    placeholder="Choose documents",
                    select_all=False,  # Enter would choose both versions whose names begin as what is typed
                )
            )
        else:
            where = column.text_input(label, key=f"{key}-where", placeholder=CONDITION).strip()
            chosen.append(selected_documents(session.parts().library, collection, (), [where]) if where else [])
    return chosen


def show() -> None:
    st.title("Compare", anchor=False)
    running = following.opened()
    collection = session.filled(choosing.choose_collection())
    if collection is None:
        return
    st.markdown("Two documents, or two versions of one: what both say, where they differ, what only one says.")
    left, right = choose_sides(collection)
    question = st.text_input("Question", key="compared-question", placeholder=QUESTION)
    is_pressed = st.button("Compare", key="compare", type="primary", icon=":material/compare_arrows:")
    if is_pressed and not choosing.gone_collection():
        with session.showing_errors():
            following.begin(collection, question, left, right)
            running = following.opened()
    if running and running.order.collection == collection.name:
        following.show(running)


if __name__ == "__main__":
    with session.showing_errors():
        show()
