"""List earlier answers in the sidebar: searched by words, newest first, page by page."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from propcite.app.library.store import CollectionInfo
from propcite.ui import reader, session
from propcite.ui.asking.turns import start_conversation
from propcite.ui.asking.words import history_help, history_label, page_line
from propcite.ui.markdown import plain

PAGE_SIZE = 10
HERE, ALL = "Here", "All collections"


def show(collection: CollectionInfo | None, opened: str = "") -> None:
    library, seen = session.parts().library, session.visitor().collections()
    if not library.find_answers(seen, questions=True, limit=1).total:
        return
    listed = st.sidebar.container(gap="small")
    if opened:
        listed.button("New conversation", key="new", icon=":material/add_comment:", on_click=start_conversation)
    listed.caption("Earlier answers")
    words = listed.text_input(
        "Search in earlier answers",
        key="history-words",
        placeholder="Words of a question or an answer",
        label_visibility="collapsed",
        on_change=_from_the_newest,
    )
    within = _within(listed, collection, seen)
    first = st.session_state.get("history-first", 0)
    answers = library.find_answers(within, words or "", questions=True, first=first, limit=PAGE_SIZE)
    if not answers.items:
        listed.caption(f"None {'has these words' if words else 'here yet'}")
    with listed.container(gap=None, key="history"):
        for info in answers.items:
            st.button(
                f"**{plain(history_label(info))}**" if info.id == opened else plain(history_label(info)),
                key=f"earlier-{info.id}",
                type="tertiary",
                wrap=False,
                help=plain(history_help(info)),
                on_click=reader.open_answer,
                args=(info.id,),
            )
    _turn_pages(listed, first, len(answers.items), answers.total)


def _within(
    listed: st.delta_generator.DeltaGenerator, collection: CollectionInfo | None, seen: Sequence[CollectionInfo]
) -> Sequence[CollectionInfo]:
    """Return the collections to search."""
    if collection is None or len(seen) < 2:
        return seen
    chosen = listed.segmented_control(
        "Which answers",
        [HERE, ALL],
        default=HERE,
        key="history-within",
        required=True,
        label_visibility="collapsed",
        on_change=_from_the_newest,
    )
    return seen if chosen == ALL else [collection]


def _turn_pages(listed: st.delta_generator.DeltaGenerator, first: int, shown: int, total: int) -> None:
    if total <= PAGE_SIZE and not first:
        return
    with listed.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("Newer", key="newer", type="tertiary", disabled=not first, on_click=_go, args=(first - PAGE_SIZE,))
        st.caption(page_line(first, shown, total) if shown else f"{total:,} in all")
        last = first + shown >= total
        st.button("Older", key="older", type="tertiary", disabled=last, on_click=_go, args=(first + PAGE_SIZE,))


def _go(first: int) -> None:
    st.session_state["history-first"] = max(0, first)


def _from_the_newest() -> None:
    _go(0)
