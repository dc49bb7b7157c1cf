"""Handle a question that cannot be answered: show why, and keep the question typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from propcite.app.library.store import CollectionInfo
from propcite.attribution.citations import CitedAnswer
from propcite.retrieval.errors import PropCiteError
from propcite.ui import choosing, session
from propcite.ui.asking.question_box import Asked, choose
from propcite.ui.asking.running import Question
from propcite.ui.markdown import plain
from propcite.ui.words import sentence

NOT_ANSWERED = "**Your question was not answered.**"
IN_THEIR_WORDS = "Answer in the words of the sources"
NONE_YET = "There are no documents to ask yet: load the demo, or add your own in the Library."


@dataclass(slots=True)
class _Failed:
    """A question that was given back, and what was open when its reason was shown first."""

    question: str
    reason: str
    without_model: Question | None
    shown_at: str = ""


def give_back(question: str, reason: str, without_model: Question | None = None) -> None:
    """Put the question back into its box in the next run, with the reason above it.

    `without_model` is a question that failed because of the language model: a button then asks it without.
    """
    st.session_state["failed"] = _Failed(question, reason, without_model)


def forget() -> None:
    """Leave the reason out from the next run on, because something else was asked."""
    st.session_state.pop("failed", None)


def show(opened: str) -> None:
    """Show the reason of a question that was given back, until something else is asked or opened.

    `opened` names what is open: an answer and a collection.  The question is put into its box once.
    """
    failed: _Failed | None = st.session_state.get("failed")
    if not failed:
        return
    if not failed.shown_at:
        st.session_state["question"] = failed.question
        failed.shown_at = opened
    if failed.shown_at != opened:
        forget()
        return
    reason, without_model = failed.reason, failed.without_model
    beginning = f"{NOT_ANSWERED} " if failed.question else ""
    st.error(f"{beginning}{plain(sentence(reason.rstrip('.')))}", icon=":material/error:")
    if without_model:
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="no-model"):
            st.button(
                IN_THEIR_WORDS,
                key="without-model",
                type="primary",
                icon=":material/format_quote:",
                on_click=_ask_without_model,
                args=(replace(without_model, quoted=True),),
            )
            if session.visitor().may_set:
                st.page_link("views/settings.py", label="Change the language model", icon=":material/settings:")


def _ask_without_model(question: Question) -> None:
    st.session_state["question"] = ""
    choose(question)


def deleted_answer(answer: CitedAnswer | None) -> str:
    """Return why nothing can follow the answer that was open, if somebody deleted it; else empty."""
    before = st.session_state.get("opened-last", "")
    if answer or not before or before != st.query_params.get("answer"):
        return ""
    return "The answer that this question followed was deleted: send it again to ask it by itself."


def collection_for(opened: str, of: str) -> tuple[CollectionInfo | None, bool]:
    """Return the collection, and whether the answer `opened` over `of` stays: not if another collection was chosen."""
    is_new = st.session_state.get("opened-last", "") != opened
    if opened and is_new:
        st.session_state["next-collection"] = of
    collection = choosing.choose_collection()
    name = collection.name if collection else ""
    stays = is_new or st.session_state.get("opened-in") == name
    st.session_state["opened-last"], st.session_state["opened-in"] = opened, name
    return collection, stays


def documents_of(collection: CollectionInfo | None) -> tuple[Sequence[str], str]:
    """Return the ids of the chosen documents, and an error if they cannot be chosen."""
    try:
        return (session.choose_documents(collection) if collection else []), ""
    except PropCiteError as error:
        st.sidebar.error(plain(str(error)), icon=":material/error:")
        return [], str(error)


def reason_not_to_ask(collection: CollectionInfo | None, asked: Asked) -> str:
    """Return why this collection cannot be asked; empty if it can."""
    brings = bool(asked.files or (asked.question and asked.question.reading))
    return reason_against(choosing.gone_collection(), collection, brings=brings)


def reason_against(meant: str, now: CollectionInfo | None, *, brings: bool = False) -> str:
    """Return why a question cannot be asked; empty if it can.  `meant` is the collection it was for, if that is gone.

    One that brings its own documents needs none that are there already.

    >>> reason_against("harbour", None).partition(". ")[0]
    'The collection “harbour” is gone'
    """
    gone = f"The collection “{meant}” is gone. " if meant else ""
    if not brings and (now is None or not now.num_documents):
        return f"{gone}{NONE_YET}"
    where = f"ask “{now.name}”" if now else "begin a new one"
    return f"{gone}Nothing was asked: send it again to {where}." if gone else ""
