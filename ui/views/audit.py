"""The audit log: who did what in the collections of which the person is an admin."""

from __future__ import annotations

import streamlit as st

from propcite.app.library.store import Action, Scope
from propcite.ui import session
from propcite.ui.asking.words import page_line

AT_ONCE = 50


def show() -> None:
    st.title("Audit log", anchor=False)
    asking = session.visitor()
    if not asking.rights.allow_somewhere(Scope.ADMIN):
        st.info("You are an admin of no collection.", icon=":material/lock:")
        return
    everything = asking.rights.allow_everywhere(Scope.ADMIN)
    left, right = st.columns(2)
    who = left.text_input("Who", key="audit-who", on_change=_go, args=(0,))
    action = right.selectbox(
        "Did what", ["", *Action], key="audit-action", format_func=_words, on_change=_go, args=(0,)
    )
    first = st.session_state.get("audit-first", 0)
    page = session.parts().audit.find(
        None if everything else asking.collections(Scope.ADMIN),
        who=who.strip(),
        action=action or "",
        first=first,
        limit=AT_ONCE,
    )
    if not page.items:
        st.caption("Nothing of that kind" if who or action or first else "Nothing was done yet")
    else:
        st.dataframe(
            [
                {
                    "When": one.at,
                    "Who": one.who,
                    "By": one.via,
                    "Did": one.action,
                    "Collection": one.collection,
                    "What": one.subject,
                }
                for one in page.items
            ],
            hide_index=True,
            height="content",
            key="audit",
            column_config={"When": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm:ss")},
        )
    if page.total > AT_ONCE or first:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button("Newer", key="newer", disabled=not first, on_click=_go, args=(first - AT_ONCE,))
            st.caption(page_line(first, len(page.items), page.total), width="content")
            st.button(
                "Older", key="older", disabled=first + AT_ONCE >= page.total, on_click=_go, args=(first + AT_ONCE,)
            )


def _words(action: str) -> str:
    return action or "Anything"


def _go(first: int) -> None:
    st.session_state["audit-first"] = max(0, first)


if __name__ == "__main__":
    with session.showing_errors():
        show()
