"""Offer questions that the collection answers: to begin with, and below an answer."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from propcite.app.errors import BusyError
from propcite.app.library.store import CollectionInfo
from propcite.app.overview.records import SuggestedQuestion
from propcite.app.overview.suggester import Suggester, suggester_of
from propcite.app.turns.costs import Kind
from propcite.attribution.citations import CitedAnswer
from propcite.ui import session
from propcite.ui.asking.question_box import choose
from propcite.ui.asking.running import Question
from propcite.ui.library import jobs
from propcite.ui.markdown import plain
from propcite.ui.overview.making import Making
from propcite.ui.people.turns import admitted

EVERY_S = 1.0  # between two looks whether they are made
FIRST, NEXT = "Questions to begin with", "You may ask next"


@st.cache_resource(show_spinner=False)
def making() -> Making:
    return Making()


def show_first(collection: CollectionInfo) -> None:
    """Offer questions to begin with; while documents are being read, none are made."""
    _show(collection, None)


def show_following(answer: CitedAnswer) -> None:
    """Offer questions on what stands near an answer."""
    if answer.question and answer.citations:
        _show(session.parts().library.collection(answer.collection), answer)


def _show(collection: CollectionInfo, after: CitedAnswer | None) -> None:
    parts = session.parts()
    suggester = suggester_of(parts, collection, lambda: session.pipeline_of(parts, collection))
    kept = suggester.kept(after)
    if kept is not None:
        _offer(kept, after)
    elif not jobs.num_left(collection) and _begun(suggester, after):
        st.fragment(_wait, run_every=EVERY_S)(suggester, after)


def _begun(suggester: Suggester, after: CitedAnswer | None) -> bool:
    """Begin to make the questions, and return whether they are being made: not while others compute too much."""
    if making().may_begin(suggester, after):
        try:
            making().begin(suggester, after, admitted(Kind.SUGGEST))
        except BusyError:
            return False
    return making().is_running(suggester, after)


def _wait(suggester: Suggester, after: CitedAnswer | None) -> None:
    """Say that they are being made, and draw the page again once they are."""
    if not making().is_running(suggester, after):
        st.rerun()
    with st.container(key="suggesting"):
        st.caption(f"{NEXT if after else FIRST}: being looked for…")


def _offer(questions: Sequence[SuggestedQuestion], after: CitedAnswer | None) -> None:
    if not questions:
        return
    with st.container(gap="small", key="suggested"):
        st.caption(NEXT if after else FIRST)
        for one in questions:
            st.button(
                plain(one.question),
                key=f"suggested-{one.question}",
                icon=":material/arrow_forward:",
                type="tertiary" if after else "secondary",
                help=plain(f"Answered in {', '.join(filter(None, [one.title, one.answer.place]))}"),
                on_click=choose,
                args=(Question(one.question, after.id if after else ""),),
            )
