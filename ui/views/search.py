"""Search a collection for passages, sentences or propositions."""

from __future__ import annotations

import streamlit as st

from propcite.app.turns.costs import SEARCHES
from propcite.ui import session
from propcite.ui.clickable import show_passages
from propcite.ui.people.turns import in_turns
from propcite.ui.render import hits_html

NUM_HITS = 10


def show() -> None:
    st.title("Search", anchor=False)
    collection = session.filled(session.choose_collection())
    if collection is None:
        return
    documents = session.choose_documents(collection)
    text = st.text_input("Words, a question or a claim", key="search-text")
    granularity = session.granularity("Find", "granularity")
    if not text.strip():
        return
    with in_turns(SEARCHES[granularity]):
        hits = session.pipeline(collection, documents).search(text, granularity, NUM_HITS)
    st.caption(f"The {len(hits)} nearest, best first" if hits else "Nothing found")
    if missing := session.parts().encoder.missing_marker_note(granularity):
        st.caption(missing)
    sources = session.parts().library.sources(hit.passage.document_id for hit in hits)
    show_passages(hits_html(hits, sources, session.views(sources)), key="hits")


if __name__ == "__main__":
    with session.showing_errors():
        show()
