"""Both sides compared whole: begun, followed while it runs, and shown."""

from __future__ import annotations

import streamlit as st

from propcite.app.comparing import check_sides, compare_whole
from propcite.app.library.store import CollectionInfo, Scope
from propcite.app.turns.costs import Kind
from propcite.attribution.formats.text_comparison import text_counts_line, to_html, to_markdown
from propcite.attribution.versions.records import TextComparison
from propcite.retrieval.index import ProgressReport
from propcite.ui import session
from propcite.ui.clickable import show_passages
from propcite.ui.comparing.running import RunningComparison
from propcite.ui.comparing.saving import offer
from propcite.ui.comparing.texts_html import texts_html
from propcite.ui.people.turns import admitted
from propcite.ui.render import plain

LOOK_S = 1.0


def begin(collection: CollectionInfo, left: list[str], right: list[str]) -> RunningComparison:
    """Begin to compare, once the models are loaded; the page need not wait for the rest."""
    parts = session.parts()
    session.visitor().require(Scope.READ, collection.name)
    check_sides(parts.library, collection, left, right)
    session.load_model()  # a page that looks every second would make it slow

    def work(report: ProgressReport) -> TextComparison:
        one, other = (session.pipeline_of(parts, collection, documents) for documents in (left, right))
        return compare_whole(one, other, report)

    return RunningComparison(admitted(Kind.ANSWER), work)


def show(running: RunningComparison, names: tuple[str, str]) -> None:
    """Show how far it is, and then what was found, or why nothing was."""
    if not running.ended:
        st.fragment(_follow, run_every=LOOK_S)(running)
    elif running.found is None:
        st.error(plain(running.error), icon=":material/error:")
    else:
        _show(running.found, names)


def _follow(running: RunningComparison) -> None:
    if running.ended:
        st.rerun()
    st.progress(running.share, text=plain(f"{running.step}…"))
    st.button("Stop", key="stop-comparison", icon=":material/stop_circle:", on_click=running.stop)


def _show(found: TextComparison, names: tuple[str, str]) -> None:
    st.subheader(plain(f"{names[0]} beside {names[1]}"), anchor=False)
    if not found.pairs:
        st.info("Neither side has a sentence.", icon=":material/search_off:")
        return
    offer(text_counts_line(found, names), found, names, to_markdown, to_html)
    sentences = [side for pair in found.pairs for side in (pair.left, pair.right) if side]
    sources = session.parts().library.sources({sentence.passage.document_id for sentence in sentences})
    show_passages(texts_html(found, names, sources, session.views(sources)), key="compared")
