"""Search a collection for passages, sentences or propositions."""

from __future__ import annotations

import streamlit as st

from propcite.app.turns.costs import SEARCHES
from propcite.retrieval.words.query import Way
from propcite.retrieval.words.shares import quoted_phrases
from propcite.ui import choosing, session
from propcite.ui.clickable import show_passages
from propcite.ui.people.turns import in_turns
from propcite.ui.render import hits_html

NUM_HITS = 10
WAY_NAMES: dict[Way, str] = {"both": "meaning and words", "vectors": "meaning", "words": "exact words"}


def show() -> None:
    st.title("Search", anchor=False)
    collection = session.filled(choosing.choose_collection())
    if collection is None:
        return
    documents = session.choose_documents(collection)
    text = st.text_input(
        "Words, a question or a claim",
        key="search-text",
        help="“Words in double quotes” must all be there, in this order.",
    )
    with st.container(horizontal=True):
        granularity = session.granularity("Find", "granularity")
        way = _way()
    if not text.strip():
        return
    with in_turns(SEARCHES[granularity]):
        hits = session.pipeline(collection, documents).search(text, granularity, NUM_HITS, way=way)
    st.caption(f"The {len(hits)} nearest, best first" if hits else _nothing(text, way))
    if missing := session.parts().encoder.missing_marker_note(granularity):
        st.caption(missing)
    ids = (place.passage.document_id for hit in hits for place in hit.everywhere)
    sources = session.parts().library.sources(ids)
    show_passages(hits_html(hits, sources, session.views(sources)), key="hits")


def _way() -> Way:
    """Show a control for what ranks and return the choice, at first that of the settings."""
    first = session.parts().settings.search_way
    chosen = st.segmented_control(
        "By", list(WAY_NAMES), default=first, format_func=lambda way: WAY_NAMES[way], key="search-way", required=True
    )
    return chosen or first


def _nothing(text: str, way: Way) -> str:
    if quoted_phrases(text):
        return "Nothing has the words in quotes: search without quotes for what is near"
    return "Nothing has these words: search by meaning for what is near" if way == "words" else "Nothing found"


if __name__ == "__main__":
    with session.showing_errors():
        show()
