"""Choose the collection that a view is about, and notice when it is gone."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from propcite.app.library.store import Action, CollectionInfo
from propcite.ui import session
from propcite.ui.markdown import plain

SHOWN_OF = "shown-of"  # of the session: the collection of the run before
GONE = "collection-gone"  # of the session: that collection, if it is gone in this run


def choose_collection() -> CollectionInfo | None:
    """Return the collection, chosen in the sidebar if there are several; None if there is none."""
    by_name = {c.name: c for c in session.visitor().collections()}
    chosen = _chosen_among(by_name)
    before, st.session_state[SHOWN_OF] = st.session_state.get(SHOWN_OF, ""), chosen.name if chosen else ""
    st.session_state[GONE] = gone = "" if before in by_name else before
    # A line that comes and goes would make new boxes of those below, without their text: its place is always there.
    place = st.empty()
    if gone:
        now = f" What you do now is done over “{chosen.name}”." if chosen else ""
        place.warning(plain(f"“{gone}” is no longer here.{now}"), icon=":material/info:")
    return chosen


def gone_collection() -> str:
    """Return the collection that this page showed before this run, if it is gone: what was pressed was meant for it."""
    return str(st.session_state.get(GONE, ""))


def _chosen_among(by_name: dict[str, CollectionInfo]) -> CollectionInfo | None:
    if name := st.session_state.pop("next-collection", None):
        st.session_state["collection"] = name
    if len(by_name) < 2:
        return next(iter(by_name.values()), None)
    if st.session_state.get("collection") not in by_name:
        st.session_state["collection"] = _default_name(by_name)
    return by_name[st.sidebar.selectbox("Collection", list(by_name), key="collection")]


def _default_name(by_name: dict[str, CollectionInfo]) -> str:
    """Return the collection of the settings, else the one that was asked last, else the largest."""
    default = session.parts().settings.collection
    if default in by_name:
        return default
    with_documents = [one for one in by_name.values() if one.num_documents]
    return _last_asked(with_documents) or max(by_name, key=lambda name: by_name[name].num_documents)


def _last_asked(collections: Sequence[CollectionInfo]) -> str:
    """Return the name of the collection that was asked last, with sign-in by this person; empty if there is none."""
    if who := session.visitor().name:
        entries = session.parts().audit.find(collections, who=who, action=Action.ASKED, limit=1).items
        return entries[0].collection if entries else ""
    answers = session.parts().library.find_answers(collections, limit=1).items
    return answers[0].collection if answers else ""
