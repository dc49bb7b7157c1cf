"""Begin a comparison, and follow it while it runs; its address brings it back when the page is loaded again."""

from __future__ import annotations

import streamlit as st

from propcite.app.comparing import check_sides
from propcite.app.library.store import CollectionInfo, Scope
from propcite.app.turns.costs import Kind
from propcite.attribution.citing.comparing import Comparison
from propcite.ui import session
from propcite.ui.comparing import answers, texts
from propcite.ui.comparing.running import Order, RunningComparison, RunningComparisons
from propcite.ui.markdown import plain
from propcite.ui.people.turns import admitted

LOOK_S = 1.0
COMPARISON = "comparison"  # in the address, and in the session: the comparison that is shown
CHOSEN = ("left-documents", "right-documents", "left-documents-where", "right-documents-where", "compared-question")
GONE = "The comparison that was shown here is gone: the page's server was started again. Compare once more."


@st.cache_resource(show_spinner=False)
def running_comparisons() -> RunningComparisons:
    return RunningComparisons()


def begin(collection: CollectionInfo, question: str, left: list[str], right: list[str]) -> None:
    """Begin to ask both sides, or to compare them whole, in place of what is shown; the page need not wait."""
    visitor = session.visitor()
    visitor.require(Scope.READ, collection.name)
    check_sides(session.parts().library, collection, left, right)
    session.load_model()  # a page that looks every second would make it slow
    names = session.names_of(collection, left), session.names_of(collection, right)
    chosen = {key: st.session_state[key] for key in CHOSEN if key in st.session_state}
    work = answers.work(collection, question, left, right) if question.strip() else texts.work(collection, left, right)
    job = admitted(Kind.ANSWER)
    if before := running_comparisons().find(st.session_state.get(COMPARISON, ""), visitor.name):
        before.stop()
    one = running_comparisons().begin(Order(visitor.name, collection.name, names, chosen), job, work)
    st.session_state[COMPARISON] = st.query_params[COMPARISON] = one.id


def opened() -> RunningComparison | None:
    """Return the comparison that the address names, or that this page showed last; None if there is none.

    A page that did not show it before gets its collection and what was chosen for it.
    """
    named, last = st.query_params.get(COMPARISON, ""), st.session_state.get(COMPARISON, "")
    if not named and not last:
        return None
    one = running_comparisons().find(named or last, session.visitor().name)
    if one is None or not session.visitor().may(Scope.READ, one.order.collection):
        st.session_state.pop(COMPARISON, None)
        st.query_params.clear()
        if named:
            st.warning(GONE, icon=":material/info:")
        return None
    if one.id != last:
        st.session_state.update({"next-collection": one.order.collection, **one.order.chosen})
    st.session_state[COMPARISON] = st.query_params[COMPARISON] = one.id
    return one


def show(running: RunningComparison) -> None:
    """Show how far it is, and then what was found, or why nothing was."""
    if not running.ended:
        st.fragment(_follow, run_every=LOOK_S)(running)
    elif running.found is None:
        st.error(plain(running.error), icon=":material/error:")
    elif isinstance(running.found, Comparison):
        answers.show(running.found, running.order.names)
    else:
        texts.show(running.found, running.order.names)


def _follow(running: RunningComparison) -> None:
    if running.ended:
        st.rerun()
    st.progress(running.share, text=plain(f"{running.step}…"))
    st.button("Stop", key="stop-comparison", icon=":material/stop_circle:", on_click=running.stop)
