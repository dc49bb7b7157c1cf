"""Take a question: typed in the box, or offered on a button."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from propcite.app.library.store import CollectionInfo
from propcite.attribution.citations import CitedAnswer
from propcite.ui.asking.running import Question

NEXT = "next-question"


def place(answer: CitedAnswer | None, collection: CollectionInfo | None) -> tuple[DeltaGenerator, Question | None]:
    """Return the place for the answer, above the box, and the question asked now, if any.

    While a question is answered the place is a new one, so that nothing of the page before shows through.
    """
    above = st.container()
    # In a container the box stays here; by itself Streamlit would pin it below and scroll past the question.
    hint = "Ask a follow-up, or something else" if answer else "Your question"
    typed = st.container(key="asking").chat_input(hint, key="question")
    offered: Question | None = st.session_state.pop(NEXT, None)
    if not typed and not offered:
        return above.container(), None
    follows = typed and answer and collection and answer.collection == collection.name
    above.empty()
    return above.container(), offered or Question(typed or "", answer.id if follows and answer else "")


def offer(label: str, question: str, **button: str) -> None:
    """Show a button that asks this question as the first of a conversation."""
    st.button(label, on_click=choose, args=(Question(question),), **button)  # type: ignore[arg-type]


def choose(question: Question) -> None:
    """Let the next run ask this."""
    st.session_state[NEXT] = question
