"""Show a conversation: its earlier turns, and the actions on the open answer."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

import streamlit as st

from propcite.app.library.store import Action, Scope, Turn
from propcite.attribution.citations import CitedAnswer, Label
from propcite.attribution.formats.wording import EXTRACTIVE, label_of
from propcite.ui import reader, session
from propcite.ui.asking.question_box import choose, offer
from propcite.ui.asking.running import Question
from propcite.ui.asking.words import turn_help, turn_line
from propcite.ui.markdown import plain
from propcite.ui.words import counted

FOR_READERS = "Anyone who may read this collection here can open this answer:"
ONLY_HERE = "This link works on this machine only. To share it with others, set PROPCITE_PUBLIC_ADDRESS:"
LAST_RUNNING = "last-running"  # of the session: the answer in work that this page showed last
LONG = 200  # characters of a question
SHOWN = 3  # earlier turns; a click shows the others


def show_before(turns: Sequence[Turn]) -> None:
    """Show earlier turns in short, oldest first; a click opens one."""
    if not turns:
        return
    hidden, shown = turns[:-SHOWN], turns[-SHOWN:]
    with st.container(key="turns", gap=None):
        if hidden:
            with st.expander(counted(len(hidden), "earlier question"), key="turns-hidden"), st.container(gap=None):
                _show(hidden)
        _show(shown)


def _show(turns: Sequence[Turn]) -> None:
    for turn in turns:
        st.button(
            f"**{plain(turn.question) or 'A text'}** {plain(turn_line(turn))}",
            key=f"turn-{turn.id}",
            type="tertiary",
            wrap=False,
            help=plain(turn_help(turn)),
            on_click=reader.open_answer,
            args=(turn.id,),
        )


def show_question(question: str) -> None:
    """Show the question as the title; a long one in smaller letters."""
    (st.title if len(question) <= LONG else st.subheader)(plain(question), anchor=False)


def show_understood(answer: CitedAnswer) -> None:
    """Show how a follow-up was understood, and a button that asks its original words."""
    if not answer.understood:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"understood as: {plain(answer.understood)}", width="content")
        why = "Asks these words as the first question of a new conversation"
        offer("Ask it as it stands", answer.question, key="as-it-stands", type="tertiary", help=why)


def show_later(answer: CitedAnswer) -> None:
    """Say why it may be worth asking again, such as documents that came after the answer, and offer it."""
    number = session.parts().library.num_documents_after(answer)
    if number:
        why = f"{counted(number, 'document')} came or changed after this answer."
    elif any(label_of(fact) is Label.UNCHECKED for fact in answer.facts):
        why = "Not all of this answer was checked."
    else:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="later"):
        st.caption(why, width="content")
        st.button(
            "Ask again", key="ask-again", icon=":material/refresh:", on_click=choose, args=(_question_of(answer),)
        )


def _question_of(answer: CitedAnswer) -> Question:
    is_quoted = answer.models.get("generator") == EXTRACTIVE and session.parts().settings.generator != EXTRACTIVE
    return Question(answer.question, answer.after, quoted=is_quoted)


def show_actions(answer: CitedAnswer) -> None:
    """Show the actions on the answer: share, delete, start another conversation."""
    with st.container(horizontal=True, gap="small", key="actions"):
        st.button(
            "New conversation",
            key="new-below",
            icon=":material/add_comment:",
            type="tertiary",
            on_click=start_conversation,
        )
        with st.popover("Share", key="share", icon=":material/link:", type="tertiary"):
            address, note = shared_link(st.context.url or "", session.parts().settings.public_page, answer.id)
            st.markdown(note)
            st.code(address, language=None, wrap_lines=True)
        if not session.visitor().may(Scope.WRITE, answer.collection):
            return
        with st.popover("Delete", key="delete", icon=":material/delete:", type="tertiary"):
            following = len(session.parts().library.following(answer.id))
            others = (
                f" and the {counted(following, 'answer')} that follow{'s' * (following == 1)} it" if following else ""
            )
            st.markdown(f"This answer{others} will be deleted, with the feedback on it.")
            st.button("Delete permanently", key="delete-now", type="primary", on_click=_delete, args=(answer,))


def shared_link(page: str, public: str, answer_id: str) -> tuple[str, str]:
    """Return the address of an answer, and who can open it; `public` is where others reach the page, if they do.

    >>> shared_link("http://127.0.0.1:8501/ask", "https://propcite.example", "feedbeef0123")[0]
    'https://propcite.example/ask?answer=feedbeef0123'
    >>> shared_link("http://localhost:8501/ask", "", "feedbeef0123")[1].partition(".")[0]
    'This link works on this machine only'
    """
    parts = urlsplit(page)
    if public:
        return link_to(f"{public.rstrip('/')}{parts.path or '/'}", answer_id), FOR_READERS
    is_local = parts.hostname in ("localhost", "127.0.0.1", "::1", None)
    return link_to(page, answer_id), ONLY_HERE if is_local else FOR_READERS


def link_to(page: str, answer_id: str) -> str:
    """Return the address of an answer on the page.

    >>> link_to("http://localhost:8501/ask?fact=2#x", "feedbeef0123")
    'http://localhost:8501/ask?answer=feedbeef0123'
    """
    return f"{page.partition('#')[0].partition('?')[0]}?answer={answer_id}"


def start_conversation() -> None:
    """Show neither an answer nor one that is being written, from the next run on; what is being written goes on."""
    st.session_state.pop(LAST_RUNNING, None)
    st.query_params.clear()


def _delete(answer: CitedAnswer) -> None:
    with session.showing_errors():
        asking = session.visitor()
        asking.require(Scope.WRITE, answer.collection)
        session.parts().library.remove_answer(answer.id)
        asking.record(Action.REMOVED_ANSWER, answer.collection, answer.id)
        st.toast("The answer was deleted", icon=":material/delete:")
        if answer.after and session.parts().library.has_answer(answer.after):
            reader.open_answer(answer.after)
        else:
            start_conversation()
