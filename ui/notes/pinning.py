"""Pin an answer, its chosen statement or the quote of that to the notebook of its collection."""

from __future__ import annotations

import streamlit as st

from propcite.app.errors import without_commands
from propcite.app.library.store import Action, Scope
from propcite.app.notes.pinning import pinned
from propcite.attribution.citations import CitedAnswer, CitedProposition
from propcite.retrieval.errors import PropCiteError
from propcite.ui import session
from propcite.ui.markdown import plain
from propcite.ui.words import facts

PINNED, THERE = "Pinned to the notes of this collection", "It is pinned already"
LAST = "last-pinned"  # of the session: the id of the note that was made or met by the last press


def show(answer: CitedAnswer) -> None:
    """Show a menu that pins; what is pinned of a statement is of the one chosen when it is pressed."""
    if not answer.collection or not session.visitor().may(Scope.READ, answer.collection):
        return
    with st.popover("Pin to notes", key="pin", icon=":material/push_pin:", type="tertiary"), st.container(gap=None):
        for kind, label in (("answer", "The whole answer"), ("fact", "The chosen statement"), ("quote", "Its quote")):
            disabled = kind != "answer" and not answer.facts
            st.button(label, key=f"pin-{kind}", type="tertiary", disabled=disabled, on_click=_pin, args=(answer, kind))
        last = st.session_state.get(f"{LAST}-{answer.id}", "")
        st.page_link(
            "views/notes.py",
            label="Open the note" if last else "Open the notes",
            icon=":material/sticky_note_2:",
            query_params={"note": last} if last else None,
        )


def _pin(answer: CitedAnswer, kind: str) -> None:
    try:
        asking = session.visitor()
        asking.require(Scope.READ, answer.collection)
        chosen = _chosen(answer)
        taken = pinned(answer, chosen.id if chosen and kind != "answer" else "", *_first(chosen), quote=kind == "quote")
        collection = session.parts().library.collection(answer.collection)
        made, is_new = session.parts().notes.keep(collection, "", taken, asking.name, answer.id)
        if is_new:
            asking.record(Action.WROTE_NOTE, collection.name, made.id)
        st.session_state[f"{LAST}-{answer.id}"] = made.id
        st.toast(PINNED if is_new else THERE, icon=":material/push_pin:")
    except PropCiteError as error:
        st.toast(plain(without_commands(error)), icon=":material/error:")


def _chosen(answer: CitedAnswer) -> CitedProposition | None:
    by_number = dict(facts(answer))
    return by_number.get(st.session_state.get(f"fact-{answer.id}", -1), next(iter(by_number.values()), None))


def _first(chosen: CitedProposition | None) -> list[str]:
    """Return the id of the first citation of a statement, if it has one."""
    return [c.id for c in chosen.citations[:1]] if chosen else []
