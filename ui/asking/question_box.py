"""Take a question: typed in the box, with files or without, or offered on a button."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from propcite.app.ingest.readers import SUFFIXES
from propcite.app.library.store import CollectionInfo
from propcite.attribution.citations import CitedAnswer
from propcite.ui import session
from propcite.ui.asking.running import Question
from propcite.ui.library import adding, receiving
from propcite.ui.library.jobs import Sent

NEXT = "next-question"


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked now: a question, files that are read before it, or both."""

    question: Question | None = None
    files: Sequence[Sent] = ()


def place(answer: CitedAnswer | None, collection: CollectionInfo | None) -> tuple[DeltaGenerator, Asked | None]:
    """Return the place for the answer, above the box, and what was asked now, if anything was.

    While a question is answered the place is a new one, so that nothing of the page before shows through.
    """
    above = st.container()
    # In a container the box stays here; by itself Streamlit would pin it below and scroll past the question.
    hint = "Ask a follow-up, or something else" if answer else "Your question"
    with st.container(key="asking"):
        text, files = _box(hint, may_add=adding.may_add_to(collection))
    offered: Question | None = st.session_state.pop(NEXT, None)
    if not text and not files and not offered:
        return above.container(), None
    follows = text and answer and collection and answer.collection == collection.name
    above.empty()
    typed = Question(text, answer.id if follows and answer else "") if text else None
    return above.container(), Asked(offered or typed, files)


def _box(hint: str, *, may_add: bool) -> tuple[str, Sequence[Sent]]:
    """Show the box, which takes files too from who may add them; return what was sent by it now."""
    if not may_add:
        return st.chat_input(hint, key="question") or "", ()
    receiving.show("asking", anywhere=True)
    most = session.parts().settings.max_file_mb
    sent = st.chat_input(hint, key="question", accept_file="multiple", file_type=list(SUFFIXES), max_upload_size=most)
    return (sent.text.strip(), sent.files) if sent else ("", ())


def offer(label: str, question: str, **button: str) -> None:
    """Show a button that asks this question as the first of a conversation."""
    st.button(label, on_click=choose, args=(Question(question),), **button)  # type: ignore[arg-type]


def choose(question: Question) -> None:
    """Let the next run ask this."""
    st.session_state[NEXT] = question
