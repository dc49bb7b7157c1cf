"""Both sides compared whole, sentence by sentence."""

from __future__ import annotations

import streamlit as st

from propcite.app.comparing import compare_whole
from propcite.app.library.store import CollectionInfo
from propcite.attribution.formats.text_comparison import text_counts_line, to_html, to_markdown
from propcite.attribution.versions.records import TextComparison
from propcite.retrieval.index import ProgressReport
from propcite.ui import session
from propcite.ui.clickable import show_passages
from propcite.ui.comparing.running import Work
from propcite.ui.comparing.saving import offer
from propcite.ui.comparing.texts_html import texts_html
from propcite.ui.markdown import plain


def work(collection: CollectionInfo, left: list[str], right: list[str]) -> Work:
    """Return what compares both sides in a thread."""
    parts = session.parts()

    def compare(report: ProgressReport) -> TextComparison:
        one, other = (session.pipeline_of(parts, collection, documents) for documents in (left, right))
        return compare_whole(one, other, report)

    return compare


def show(found: TextComparison, names: tuple[str, str]) -> None:
    st.subheader(plain(f"{names[0]} beside {names[1]}"), anchor=False)
    if not found.pairs:
        st.info("Neither side has a sentence.", icon=":material/search_off:")
        return
    offer(text_counts_line(found, names), found, names, to_markdown, to_html)
    sentences = [side for pair in found.pairs for side in (pair.left, pair.right) if side]
    sources = session.parts().library.sources({sentence.passage.document_id for sentence in sentences})
    show_passages(texts_html(found, names, sources, session.views(sources)), key="compared")
