"""Ask two documents, or two versions of one, the same question, and see what they say side by side."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from propcite.app.comparing import check_sides, compare
from propcite.app.library.selection import selected_documents
from propcite.app.library.store import Action, CollectionInfo, Scope
from propcite.app.turns.costs import Kind
from propcite.attribution.citing.comparing import Comparison
from propcite.attribution.formats.comparison import counts_line, no_answer_line, to_html, to_markdown
from propcite.ui import session
from propcite.ui.clickable import show_passages
from propcite.ui.compared import comparison_html
from propcite.ui.people.turns import in_turns
from propcite.ui.render import plain

SIDES = ("left", "right")
CONDITION = "Documents that match, such as source~2023"
OFFERED: tuple[tuple[str, str, str, Callable[[Comparison, tuple[str, str]], str]], ...] = (
    ("Markdown", "comparison.md", "text/markdown", to_markdown),
    ("HTML", "comparison.html", "text/html", to_html),
)


def choose_sides(collection: CollectionInfo) -> list[list[str]]:
    """Show the two choices of documents and return their ids; empty where nothing is chosen."""
    titles = session.document_titles(collection)
    chosen = []
    for column, side in zip(st.columns(2), SIDES, strict=True):
        key, label = f"{side}-documents", f"Documents on the {side}"
        if titles:
            column.multiselect(
                label, list(titles), key=key, format_func=lambda i: titles.get(i, i), placeholder="Choose documents"
            )
            chosen.append([i for i in st.session_state[key] if i in titles])
        else:
            where = column.text_input(label, key=f"{key}-where", placeholder=CONDITION).strip()
            chosen.append(selected_documents(session.parts().library, collection, (), [where]) if where else [])
    return chosen


def compare_sides(collection: CollectionInfo, question: str, left: list[str], right: list[str]) -> Comparison:
    asking, library = session.visitor(), session.parts().library
    asking.require(Scope.READ, collection.name)
    check_sides(library, collection, left, right)
    one, other = (session.pipeline(collection, documents) for documents in (left, right))
    with in_turns(Kind.ANSWER), st.spinner("Both sides are asked…"):
        found = compare(one, other, question)
    for answer in (found.left, found.right):
        asking.record(Action.ASKED, collection.name, answer.id)
    return found


def show_comparison(comparison: Comparison, names: tuple[str, str]) -> None:
    st.subheader(plain(comparison.question), anchor=False)
    if line := no_answer_line(comparison, names):
        st.info(plain(line), icon=":material/search_off:")
    if not comparison.rows:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(plain(counts_line(comparison)), width="content")
        for name, file, kind, write in OFFERED:
            data = partial(write, comparison, names)
            st.download_button(name, data, file, kind, key=f"save-{file}", type="tertiary", on_click="ignore")
    rows = [side for row in comparison.rows for side in (row.left, row.right) if side]
    cited = [citation.evidence for side in rows for citation in side.fact.citations]
    ids = {evidence.passage.document_id for evidence in [*cited, *(e for side in rows for e in side.evidence)]}
    sources = session.parts().library.sources(ids)
    show_passages(comparison_html(comparison, names, sources, session.views(sources)), key="compared")


def show() -> None:
    st.title("Compare", anchor=False)
    collection = session.filled(session.choose_collection())
    if collection is None:
        return
    st.markdown("Ask two documents, or two versions of one, the same: what both say, where they differ.")
    left, right = choose_sides(collection)
    question = st.text_input("Question", key="compared-question", placeholder="What do you want to know of both?")
    if st.button(
        "Compare", key="compare", type="primary", icon=":material/compare_arrows:", disabled=not question.strip()
    ):
        with session.showing_errors():
            found = compare_sides(collection, question, left, right)
            names = session.names_of(collection, left), session.names_of(collection, right)
            st.session_state["comparison"] = (collection.name, names, found)
    if (kept := st.session_state.get("comparison")) and kept[0] == collection.name:
        show_comparison(kept[2], kept[1])


if __name__ == "__main__":
    with session.showing_errors():
        show()
