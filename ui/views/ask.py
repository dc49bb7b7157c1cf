"""A chat over a collection: the open answer beside its evidence, earlier turns in short above it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from propcite.attribution.citations import CitedAnswer
from propcite.ui import reader, session
from propcite.ui.asking import arriving, errors, history, progress, question_box, turns, writing
from propcite.ui.asking.meter import show_meter
from propcite.ui.asking.running import RunningAnswer
from propcite.ui.asking.welcome import welcome
from propcite.ui.markdown import plain
from propcite.ui.notes import pinning
from propcite.ui.overview import questions


def show_answer(answer: CitedAnswer) -> None:
    """Show the open turn below the earlier ones."""
    turns.show_before(session.parts().library.conversation(answer.id)[:-1])
    turns.show_question(answer.question or "A text, cited")
    turns.show_understood(answer)
    turns.show_later(answer)
    progress.show_steps(answer)
    if answer.is_empty:
        show_abstention(answer)
    else:
        show_meter(answer)
        reader.show(answer)
        pinning.show(answer)
        questions.show_following(answer)
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
    running = None if answer else writing.opened()
    deleted = errors.deleted_answer(answer)
    collection, stays = errors.collection_for(*_identity(answer, running))
    if (answer or running) and not stays:
        turns.start_conversation()
        answer = running = None
    errors.show(f"{answer.id if answer else ''} {collection.name if collection else ''}")
    is_waited_for = bool(running and running.order.question.reading)
    arriving.show(collection, is_answer_open=bool(answer or running), is_waited_for=is_waited_for)
    page, asked = question_box.place(answer, collection)
    documents, problem = errors.documents_of(collection)
    beside = st.sidebar if asked or answer or running else page
    writing.show_unfinished(session.visitor().collections(), beside, running.id if running else "")
    history.show(collection, answer.id if answer else running.id if running else "")
    with page:
        if asked is None and answer:
            show_answer(answer)
        elif asked is None and running:
            writing.follow(running)
        elif asked is None:
            welcome(collection)
        elif reason := problem or deleted or errors.reason_not_to_ask(collection, asked):
            errors.give_back(asked.question.text if asked.question else "", reason)
            st.rerun()
        else:
            errors.forget()
            writing.begin(collection, asked, documents)


def _identity(answer: CitedAnswer | None, running: RunningAnswer | None) -> tuple[str, str]:
    """Return the id of what is open, and its collection; empty if nothing is."""
    if answer:
        return answer.id, answer.collection
    return (running.id, running.order.collection) if running else ("", "")


if __name__ == "__main__":
    with session.showing_errors():
        show()
