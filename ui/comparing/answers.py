"""One question to both sides: their answers, and the facts of both side by side."""

from __future__ import annotations

import streamlit as st

from propcite.app.comparing import compare
from propcite.app.library.store import Action, CollectionInfo
from propcite.attribution.citing.comparing import Comparison
from propcite.attribution.formats.comparison import counts_line, no_answer_line, to_html, to_markdown
from propcite.retrieval.index import ProgressReport
from propcite.ui import session
from propcite.ui.clickable import show_passages
from propcite.ui.comparing.answers_html import comparison_html
from propcite.ui.comparing.running import Work
from propcite.ui.comparing.saving import offer
from propcite.ui.markdown import plain


def work(collection: CollectionInfo, question: str, left: list[str], right: list[str]) -> Work:
    """Return what asks both sides in a thread; both answers are stored."""
    asking, parts = session.visitor(), session.parts()

    def ask_both(report: ProgressReport) -> Comparison:
        one, other = (session.pipeline_of(parts, collection, documents) for documents in (left, right))
        found = compare(one, other, question, report)
        for answer in (found.left, found.right):
            asking.record(Action.ASKED, collection.name, answer.id)
        return found

    return ask_both


def show(comparison: Comparison, names: tuple[str, str]) -> None:
    st.subheader(plain(comparison.question), anchor=False)
    if line := no_answer_line(comparison, names):
        st.info(plain(line), icon=":material/search_off:")
    if not comparison.rows:
        return
    offer(counts_line(comparison), comparison, names, to_markdown, to_html)
    rows = [side for row in comparison.rows for side in (row.left, row.right) if side]
    cited = [citation.evidence for side in rows for citation in side.fact.citations]
    ids = {evidence.passage.document_id for evidence in [*cited, *(e for side in rows for e in side.evidence)]}
    sources = session.parts().library.sources(ids)
    show_passages(comparison_html(comparison, names, sources, session.views(sources)), key="compared")
