"""What may go wrong with a question on the page: it is told, and the question stays typed."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import streamlit as st

from propcite.app.library.store import CollectionInfo
from propcite.attribution.citations import CitedAnswer
from propcite.retrieval.errors import PropCiteError
from propcite.ui import session
from propcite.ui.render import plain

NONE_YET = "There are no documents to ask yet: load the demo, or add your own in the Library."


def give_back(question: str, reason: str) -> None:
    """From the next run on the question stands in its box again, with the reason above it."""
    st.session_state["failed"] = (question, reason)


def tell() -> None:
    if failed := st.session_state.pop("failed", None):
        st.session_state["question"], reason = failed
        st.error(plain(reason), icon=":material/error:")


def lost(answer: CitedAnswer | None) -> str:
    """Why nothing can follow the answer that was on the page until now: somebody deleted it."""
    before = st.session_state.get("opened-last", "")
    if answer or not before or before != st.query_params.get("answer"):
        return ""
    return "The answer that this was to follow was deleted: send it again to ask it by itself."


def collection_for(answer: CitedAnswer | None) -> tuple[CollectionInfo | None, bool]:
    """The collection that is asked, and whether the answer stays open: not when another collection is chosen."""
    opened = answer.id if answer else ""
    is_new = st.session_state.get("opened-last", "") != opened
    if answer and is_new:
        st.session_state["next-collection"] = answer.collection
    collection = session.choose_collection()
    name = collection.name if collection else ""
    stays = is_new or st.session_state.get("opened-in") == name
    st.session_state["opened-last"], st.session_state["opened-in"] = opened, name
    return collection, stays


def documents_of(collection: CollectionInfo | None) -> tuple[Sequence[str], str]:
    """Ids of the documents that are asked, or why none can be."""
    try:
        return (session.choose_documents(collection) if collection else []), ""
    except PropCiteError as error:
        st.sidebar.error(plain(str(error)), icon=":material/error:")
        return [], str(error)


def on_page(collection: CollectionInfo | None) -> None:
    """Remember what a question that is typed now is meant for."""
    st.session_state["asking-of"] = collection.name if collection else ""


def why_not(collection: CollectionInfo | None) -> str:
    """Why a question cannot go to this collection, empty where it can."""
    known = {c.name for c in session.parts().library.collections()}
    return reason_against(st.session_state.get("asking-of", ""), collection, known)


def reason_against(meant: str, now: CollectionInfo | None, known: Collection[str]) -> str:
    """
    >>> reason_against("harbour", None, []).partition(". ")[0]
    'The collection “harbour” is gone'
    """
    gone = f"The collection “{meant}” is gone. " if meant and meant not in known else ""
    if now is None or not now.num_documents:
        return f"{gone}{NONE_YET}"
    return f"{gone}Nothing was asked: send it again to ask “{now.name}”." if gone else ""
