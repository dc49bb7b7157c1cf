"""Asks a collection, and shows the answer with the words that support each of its facts."""

from __future__ import annotations

import json
from collections.abc import Sequence

import streamlit as st

from app.demo import QUESTIONS
from app.store import CollectionInfo
from attribution.citations import CitedAnswer
from retrieval.errors import PropCiteError
from ui import reader, session
from ui.render import growing, plain

NUM_SUGGESTED = 4


def ask(collection: CollectionInfo, question: str, documents: Sequence[str] = ()) -> None:
    """The answer is opened; a question that failed is given back with the reason."""
    try:
        pipeline = session.pipeline(collection, documents)
        st.subheader(plain(question), anchor=False)
        with st.spinner("Finding passages, writing, citing…"), pipeline.answer_stream(question) as coming:
            written = st.empty()
            for so_far in growing(coming):
                written.markdown(so_far)
        if coming.kept:
            reader.open_answer(coming.kept.id)
    except PropCiteError as error:
        st.session_state["failed"] = (question, str(error))
    st.rerun()


def tell_failure() -> None:
    if failed := st.session_state.pop("failed", None):
        st.session_state["question"], reason = failed
        st.error(plain(reason), icon=":material/error:")


def suggest(collection: CollectionInfo) -> None:
    """Questions to begin with, over the demo."""
    if collection.name == session.DEMO:
        st.caption("Questions to begin with")
        for line in QUESTIONS.read_text("utf-8").splitlines()[:NUM_SUGGESTED]:
            question = json.loads(line)["question"]
            if st.button(plain(question), key=f"suggested-{question}", icon=":material/arrow_forward:"):
                ask(collection, question)


def show_answer(answer: CitedAnswer) -> None:
    st.title(plain(answer.question or "A text, cited"), anchor=False)
    if not answer.abstained:
        reader.show(answer)
        return
    st.info(plain(answer.text), icon=":material/search_off:")
    reader.tell_how(answer)
    st.markdown("No passage speaks of what was asked. Other words may help; Search shows what comes nearest.")
    if st.button("Search the passages", key="search-instead", icon=":material/search:"):
        st.session_state["search-text"] = answer.question
        st.switch_page("views/search.py")


def show() -> None:
    collection = session.choose_collection()
    tell_failure()
    answer = reader.opened()
    if answer is None:
        st.title("Ask your documents", anchor=False)
        st.markdown("Every fact in the answer shows the words that support it.")
        if session.filled(collection) is None:
            return
    # In a container it stands here; by itself Streamlit would pin it below and scroll past the question.
    documents = session.choose_documents(collection) if collection else []
    question = st.container().chat_input("Your question", key="question")
    if question and collection:
        ask(collection, question, documents)
    if answer:
        show_answer(answer)
    elif collection:
        suggest(collection)
    if collection:
        reader.show_earlier(collection, asked=True)


if __name__ == "__main__":
    with session.told():
        show()
