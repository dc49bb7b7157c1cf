"""A chat over a collection: the open answer beside its evidence, earlier turns in short above it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from propcite.app.library.store import Action, CollectionInfo, Scope
from propcite.app.turns.costs import Kind
from propcite.attribution.citations import CitedAnswer
from propcite.retrieval.errors import PropCiteError
from propcite.ui import reader, session
from propcite.ui.asking import errors, history, progress, question_box, turns
from propcite.ui.asking.meter import show_meter
from propcite.ui.asking.question_box import Question
from propcite.ui.asking.welcome import welcome
from propcite.ui.people.turns import in_turns
from propcite.ui.render import plain


def ask(collection: CollectionInfo, question: Question, documents: Sequence[str]) -> None:
    """Answer a question and open the answer; a question that fails is given back with the reason."""
    try:
        session.visitor().require(Scope.READ, collection.name)
        turns.show_before(session.parts().library.conversation(question.after) if question.after else [])
        turns.show_question(question.text)
        with in_turns(Kind.ANSWER):
            pipeline = session.pipeline(collection, documents)
            answer_id = progress.show_while_written(pipeline, question.text, question.after)
        if answer_id:
            session.visitor().record(Action.ASKED, collection.name, answer_id)
            reader.open_answer(answer_id)
    except PropCiteError as error:
        errors.give_back(question.text, str(error))
    st.rerun()


def show_answer(answer: CitedAnswer) -> None:
    """Show the open turn below the earlier ones."""
    turns.show_before(session.parts().library.conversation(answer.id)[:-1])
    turns.show_question(answer.question or "A text, cited")
    turns.show_understood(answer)
    progress.show_steps(answer)
    if answer.abstained:
        show_abstention(answer)
    else:
        show_meter(answer)
        reader.show(answer)
    turns.show_actions(answer)


def show_abstention(answer: CitedAnswer) -> None:
    st.info(plain(answer.text), icon=":material/search_off:")
    reader.show_summary(answer)
    st.markdown("No passage answers this. Other words may help; Search shows the nearest passages.")
    if st.button("Search the passages", key="search-instead", icon=":material/search:"):
        st.session_state["search-text"] = answer.understood or answer.question
        st.switch_page("views/search.py")


def show() -> None:
    st.html(Path(question_box.__file__).with_name("asking.css"))
    answer = reader.opened()
    deleted = errors.deleted_answer(answer)
    collection, stays = errors.collection_for(answer)
    if answer and not stays:
        turns.start_conversation()
        answer = None
    errors.show()
    page, question = question_box.place(answer, collection)
    documents, problem = errors.documents_of(collection)
    history.show(collection, answer.id if answer else "")
    with page:
        if question is None and answer:
            show_answer(answer)
        elif question is None:
            welcome(collection)
        elif reason := problem or deleted or errors.reason_not_to_ask(collection):
            errors.give_back(question.text, reason)
            st.rerun()
        elif collection:
            ask(collection, question, documents)
    errors.remember(collection)


if __name__ == "__main__":
    with session.showing_errors():
        show()
