"""A document in short: its most telling sentences and its headings, each with a link to its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from propcite.app.library.store import CollectionInfo, DocumentInfo
from propcite.app.overview.records import Line
from propcite.app.overview.suggester import document_overview
from propcite.retrieval.text import Passage
from propcite.ui import session
from propcite.ui.markdown import plain
from propcite.ui.sources import Views, address_of

MAX_LEVEL = 6  # of a heading in the list; deeper ones are indented as far


def show(collection: CollectionInfo, info: DocumentInfo) -> None:
    made = document_overview(session.parts().library, collection, info.id)
    lines = (*made.summary, *made.outline)
    if not lines:
        st.caption("It has neither headings nor sentences that stand alone.")
        return
    passages = session.parts().library.passages(line.passage_id for line in lines)
    views = session.views([info.id])
    if made.summary:
        st.subheader("Summary", anchor=False)
        st.caption("The sentences of the document that tell most of it, as they stand there.")
        st.markdown(lines_markdown(made.summary, passages, views))
    if made.outline:
        st.subheader("Outline", anchor=False)
        st.markdown(lines_markdown(made.outline, passages, views))


def lines_markdown(lines: Sequence[Line], passages: Mapping[str, Passage], views: Views) -> str:
    """Return lines as a list, headings indented by their level, each with a link to its place if it can be shown."""
    return "\n".join(
        f"{'    ' * (min(line.level or 1, MAX_LEVEL) - 1)}- {_shown(line, passages, views)}" for line in lines
    )


def _shown(line: Line, passages: Mapping[str, Passage], views: Views) -> str:
    passage = passages.get(line.passage_id)
    address = address_of(passage, [line.span.shifted(-passage.start)], views) if passage else ""
    words, place = plain(line.text), plain(line.place or "in the document")
    return f"{words} [{place}]({address})" if address else f"{words} {plain(line.place)}".rstrip()
