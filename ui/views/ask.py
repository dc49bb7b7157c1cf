"""A chat over a collection: the newest answer open beside its evidence, what was asked before in short above it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

import ui.asking
from app.store import CollectionInfo
from attribution.citations import CitedAnswer
from retrieval.errors import PropCiteError
from ui import reader, session
from ui.asking import failing, history, live, turns
from ui.asking.drawn import show_meter
from ui.asking.welcome import welcome
from ui.render import plain


def ask(collection: CollectionInfo, question: str, documents: Sequence[str] = (), after: str = "") -> None:
    """The answer is opened; a question that failed is given back with the reason."""
    try:
        pipeline = session.pipeline(collection, documents)
        st.subheader(plain(question), anchor=False)
        if kept := live.answer_shown(pipeline, question, after):
            reader.open_answer(kept)
    except PropCiteError as error:
        failing.give_back(question, str(error))
    st.rerun()


def show_answer(answer: CitedAnswer) -> bool:
    """The turn that is open.  -> whether its question is to be asked by its very words"""
    turns.show_before(session.parts().library.conversation(answer.id)[:-1])
    st.header(plain(answer.question or "A text, cited"), anchor=False)
    anew = turns.show_understood(answer)
    live.show_steps(answer)
    if answer.abstained:
        show_abstention(answer)
    else:
        show_meter(answer)
        reader.show(answer)
    turns.show_actions(answer)
    return anew


def show_abstention(answer: CitedAnswer) -> None:
    st.info(plain(answer.text), icon=":material/search_off:")
    reader.tell_how(answer)
    st.markdown("No passage speaks of what was asked. Other words may help; Search shows what comes nearest.")
    if st.button("Search the passages", key="search-instead", icon=":material/search:"):
        st.session_state["search-text"] = answer.understood or answer.question
        st.switch_page("views/search.py")


def show() -> None:
    st.html(Path(ui.asking.__file__).with_name("asking.css"))
    answer = reader.opened()
    collection, stays = failing.collection_for(answer)
    if answer and not stays:
        turns.begin_anew()
        answer = None
    failing.tell()
    wanted, anew, page = "", False, st.empty()
    with page.container():
        if answer:
            anew = show_answer(answer)
        else:
            wanted = welcome(collection)
    documents, trouble = failing.documents_of(collection)
    # In a container it stands here; by itself Streamlit would pin it below and scroll past the question.
    hint = "Ask a follow-up, or something else" if answer else "Your question"
    typed = st.container(key="asking").chat_input(hint, key="question")
    history.show(collection, answer.id if answer else "")
    if question := typed or wanted or (answer.question if answer and anew else ""):
        if trouble := trouble or failing.why_not(collection):
            failing.give_back(question, trouble)
            st.rerun()
        assert collection is not None, "a question without a collection is given back"
        follows = answer.id if answer and typed and answer.collection == collection.name else ""
        with page.container():
            ask(collection, question, documents, follows)
    failing.on_page(collection)


if __name__ == "__main__":
    with session.told():
        show()
