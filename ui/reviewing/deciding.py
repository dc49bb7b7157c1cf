"""Decide on a statement of a draft: accept it, change its words, or reject it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from propcite.app.library.store import Action, ReviewInfo, Scope
from propcite.app.reviewing.exports import cited_draft
from propcite.app.reviewing.facts import DraftFact, decide_open, make_decision
from propcite.attribution.formats.reviewed.decisions import Choice, Decision
from propcite.attribution.formats.reviewed.remarks import decision_line
from propcite.ui import session
from propcite.ui.markdown import plain

SIGNS = {Choice.ACCEPTED: ":material/check:", Choice.CHANGED: ":material/edit:", Choice.REJECTED: ":material/close:"}


def show(info: ReviewInfo, one: DraftFact, words: str, go_on: Callable[[], None]) -> None:
    """Show the decision on a statement of these words and the ways to change it; `go_on` is called after a decision."""
    about = f"{info.id}-{one.cited.id}"
    note, new_words = f"review-note-{about}", f"review-words-{about}"
    decided = one.decision or Decision(one.cited.id, Choice.OPEN)
    st.session_state.setdefault(note, decided.note)
    st.session_state.setdefault(new_words, decided.words or words)
    if one.decision:
        st.caption(f"{SIGNS[one.choice]} {plain(decision_line(one.decision))}")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="deciding"):
        for choice, label in ((Choice.ACCEPTED, "Accept"), (Choice.REJECTED, "Reject")):
            st.button(
                label,
                key=f"decide-{choice.value}",
                icon=SIGNS[choice],
                on_click=_keep,
                args=(info, one, choice, note, "", go_on),
            )
        with st.popover("Change", icon=SIGNS[Choice.CHANGED], key=f"change-{about}"):
            st.text_area("New words", key=new_words)
            st.button(
                "Keep the new words",
                key="decide-changed",
                type="primary",
                on_click=_keep,
                args=(info, one, Choice.CHANGED, note, new_words, go_on),
            )
        st.text_input(
            "Note on this statement",
            key=note,
            label_visibility="collapsed",
            placeholder="A note, if you want",
            width=240,
        )
        if one.decision:
            taken_back = (info, one, Choice.OPEN, note, "")
            st.button("Take it back", key="decide-open", type="tertiary", on_click=_keep, args=taken_back)


def show_all(info: ReviewInfo, shown: Sequence[DraftFact]) -> None:
    """Offer one decision on all these statements that have none; nothing for fewer than two."""
    waiting = sum(one.choice is Choice.OPEN for one in shown)
    if waiting < 2:
        return
    with st.popover(f"Decide on all {waiting:,}", icon=":material/done_all:", key="decide-all", type="tertiary"):
        st.caption(f"{waiting:,} of the statements that the filters leave are not decided. Each can be decided again.")
        with st.container(horizontal=True, gap="small"):
            for choice, label in ((Choice.ACCEPTED, "Accept all"), (Choice.REJECTED, "Reject all")):
                key, kept = f"decide-all-{choice.value}", (info, shown, choice)
                st.button(label, key=key, icon=SIGNS[choice], on_click=_keep_all, args=kept)


def _keep_all(info: ReviewInfo, shown: Sequence[DraftFact], choice: Choice) -> None:
    asking = session.visitor()
    with session.keeping_errors():
        asking.require(Scope.READ, info.collection)
        session.parts().reviews.decide_all(info.id, decide_open(shown, choice, by=asking.name))
        asking.record(Action.DECIDED, info.collection, info.id)


def _keep(
    info: ReviewInfo, one: DraftFact, choice: Choice, note: str, words: str, go_on: Callable[[], None] = lambda: None
) -> None:
    """Keep a decision with the note and the words that the boxes of these keys hold, and go on."""
    asking, parts = session.visitor(), session.parts()
    with session.keeping_errors():
        asking.require(Scope.READ, info.collection)
        made = make_decision(
            cited_draft(parts, info),
            one.cited.id,
            choice,
            words=st.session_state.get(words, "") if words else "",
            note=st.session_state.get(note, ""),
            by=asking.name,
        )
        parts.reviews.decide(info.id, made)
        asking.record(Action.DECIDED, info.collection, info.id)
        go_on()
