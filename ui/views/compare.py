"""Ask two documents, or two versions of one, the same question, or compare them whole, side by side."""

from __future__ import annotations

import streamlit as st

from propcite.app.library.selection import selected_documents
from propcite.app.library.store import CollectionInfo
from propcite.ui import session
from propcite.ui.comparing import answers, texts
from propcite.ui.comparing.running import RunningComparison

SIDES = ("left", "right")
CONDITION = "Documents that match, such as source~2023"
QUESTION = "What do you want to know of both? Leave it empty to compare them whole"
LAST = "comparison"  # of the session: the collection, the names of both sides, and what is shown


def choose_sides(collection: CollectionInfo) -> list[list[str]]:
    """Show the two choices of documents and return their ids; empty where nothing is chosen."""
    titles = session.document_titles(collection)
    chosen = []
    for column, side in zip(st.columns(2), SIDES, strict=True):
        key, label = f"{side}-documents", f"Documents on the {side}"
        if titles:
            column.multiselect(
                label, list(titles), key=key, format_func=lambda i: titles.get(i, i), placeholder="Choose documents"
            )
            chosen.append([i for i in st.session_state[key] if i in titles])
        else:
            where = column.text_input(label, key=f"{key}-where", placeholder=CONDITION).strip()
            chosen.append(selected_documents(session.parts().library, collection, (), [where]) if where else [])
    return chosen


def begin(collection: CollectionInfo, question: str, left: list[str], right: list[str]) -> None:
    """Ask both sides, or begin to compare them whole, in place of what is shown."""
    _stop_last()
    names = session.names_of(collection, left), session.names_of(collection, right)
    is_asked = bool(question.strip())
    found = answers.ask_both(collection, question, left, right) if is_asked else texts.begin(collection, left, right)
    st.session_state[LAST] = (collection.name, names, found)


def _stop_last() -> None:
    kept = st.session_state.pop(LAST, None)
    if kept and isinstance(kept[2], RunningComparison):
        kept[2].stop()


def show() -> None:
    st.title("Compare", anchor=False)
    collection = session.filled(session.choose_collection())
    if collection is None:
        return
    st.markdown("Two documents, or two versions of one: what both say, where they differ, what only one says.")
    left, right = choose_sides(collection)
    question = st.text_input("Question", key="compared-question", placeholder=QUESTION)
    if st.button("Compare", key="compare", type="primary", icon=":material/compare_arrows:"):
        with session.showing_errors():
            begin(collection, question, left, right)
    if (kept := st.session_state.get(LAST)) and kept[0] == collection.name:
        if isinstance(kept[2], RunningComparison):
            texts.show(kept[2], kept[1])
        else:
            answers.show(kept[2], kept[1])


if __name__ == "__main__":
    with session.showing_errors():
        show()
