"""Cite any text over the collection, and over the passages it was written from."""

from __future__ import annotations

import streamlit as st

from propcite.app.library.store import Action, CollectionInfo, Scope
from propcite.app.turns.costs import Kind
from propcite.attribution.citing.repaired import MarkerState
from propcite.attribution.prose.markers import extract_markers
from propcite.ui import choosing, reader, session
from propcite.ui.asking.meter import show_meter
from propcite.ui.pasted_passages import passages_of
from propcite.ui.people.turns import in_turns
from propcite.ui.words import check_line, counted

QUESTION_HELP = "The answer then also says whether it answers this."
HELP = "A blank line between two. Markers in the text, like [1], count them."


def cite(collection: CollectionInfo, text: str, question: str, given: str) -> None:
    """Cite the text and open it; with passages and markers, check the markers."""
    asking = session.visitor()
    asking.require(Scope.READ, collection.name)
    pipeline, passages = session.pipeline(collection), passages_of(given)
    with in_turns(Kind.CITE), st.spinner("Looking for the words that support it…"):
        if passages and extract_markers(text).markers:
            repaired = pipeline.repair(text, passages, question=question)
            st.session_state[f"checks-{repaired.answer.id}"] = repaired
            answer_id = repaired.answer.id
        else:
            answer_id = pipeline.cite(text, passages, question=question).id
    asking.record(Action.CITED, collection.name, answer_id)
    reader.open_answer(answer_id)
    st.rerun()


def show_checks(answer_id: str) -> None:
    """Show what happened to the markers of the text."""
    repaired = st.session_state.get(f"checks-{answer_id}")
    if repaired is None:
        return
    unchecked = len(repaired.numbers(MarkerState.UNCHECKED))
    changed = len(repaired.checks) - len(repaired.numbers(MarkerState.KEPT)) - unchecked
    counts = ((changed, "changed"), (unchecked, "could not be checked"))
    said = [f"{counted(number, 'marker')} {what}" for number, what in counts if number]
    summary = " · ".join(said) or "All markers of the text are right"
    with st.expander(summary, icon=":material/rule:", expanded=bool(said)):
        for check in repaired.checks:
            st.text(check_line(check, repaired.answer.text))
        st.code(repaired.text, language=None, wrap_lines=True)


def show() -> None:
    st.title("Cite a text", anchor=False)
    collection = choosing.choose_collection()
    answer = reader.opened()
    if answer is None and session.filled(collection) is None:
        return
    st.markdown("Paste what you or a chatbot wrote. Each of its statements is looked up in the whole collection.")
    height = 96 if answer else 220
    text = st.text_area(
        "Text", key="text-to-cite", height=height, label_visibility="collapsed", placeholder="Your text"
    )
    with st.expander("The question and the passages that it was written from", icon=":material/attach_file:"):
        question = st.text_input("Question", key="question-of-text", help=QUESTION_HELP, placeholder="What was asked")
        given = st.text_area("Passages", key="given-passages", height=height, help=HELP, placeholder="[1] …")
    is_pressed = st.button("Cite", key="cite", type="primary", icon=":material/format_quote:")
    if is_pressed and collection and not choosing.gone_collection():
        with session.showing_errors():
            cite(collection, text, question, given)
    if answer:
        show_checks(answer.id)
        if answer.parts:
            show_meter(answer)
        reader.show(answer)
    if collection:
        reader.show_earlier_texts(collection)


if __name__ == "__main__":
    with session.showing_errors():
        show()
