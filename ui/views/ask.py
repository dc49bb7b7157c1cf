"""A chat over a collection: the newest answer open beside its evidence, what was asked before in short above it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from propcite.app.library.store import CollectionInfo
from propcite.attribution.citations import CitedAnswer
from propcite.retrieval.errors import PropCiteError
from propcite.ui import reader, session
from propcite.ui.asking import asking, failing, history, live, turns
from propcite.ui.asking.asking import Asked
from propcite.ui.asking.drawn import show_meter
from propcite.ui.asking.welcome import welcome
from propcite.ui.render import plain


def ask(collection: CollectionInfo, asked: Asked, documents: Sequence[str]) -> None:
    """The answer is opened; a question that failed is given back with the reason."""
    try:
        turns.show_before(session.parts().library.conversation(asked.after) if asked.after else [])
        turns.show_question(asked.question)
        if kept := live.answer_shown(session.pipeline(collection, documents), asked.question, asked.after):
            reader.open_answer(kept)
    except PropCiteError as error:
        failing.give_back(asked.question, str(error))
    st.rerun()


def show_answer(answer: CitedAnswer) -> None:
    """The turn that is open, below those before it."""
    turns.show_before(session.parts().library.conversation(answer.id)[:-1])
    turns.show_question(answer.question or "A text, cited")
    turns.show_understood(answer)
    live.show_steps(answer)
    if answer.abstained:
        show_abstention(answer)
    else:
        show_meter(answer)
        reader.show(answer)
    turns.show_actions(answer)


def show_abstention(answer: CitedAnswer) -> None:
    st.info(plain(answer.text), icon=":material/search_off:")
    reader.tell_how(answer)
    st.markdown("No passage speaks of what was asked. Other words may help; Search shows what comes nearest.")
    if st.button("Search the passages", key="search-instead", icon=":material/search:"):
        st.session_state["search-text"] = answer.understood or answer.question
        st.switch_page("views/search.py")


def show() -> None:
    st.html(Path(asking.__file__).with_name("asking.css"))
    answer = reader.opened()
    lost = failing.lost(answer)
    collection, stays = failing.collection_for(answer)
    if answer and not stays:
        turns.begin_anew()
        answer = None
    failing.tell()
    page, asked = asking.place(answer, collection)
    documents, trouble = failing.documents_of(collection)
    history.show(collection, answer.id if answer else "")
    with page:
        if asked is None and answer:
            show_answer(answer)
        elif asked is None:
            welcome(collection)
        elif reason := trouble or lost or failing.why_not(collection):
            failing.give_back(asked.question, reason)
            st.rerun()
        elif collection:
            ask(collection, asked, documents)
    failing.on_page(collection)


if __name__ == "__main__":
    with session.told():
        show()
