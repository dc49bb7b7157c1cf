"""Cites any text: what a person or another chatbot wrote, over the whole collection."""

from __future__ import annotations

import streamlit as st

from ui import reader, session


def show() -> None:
    st.title("Cite a text", anchor=False)
    collection = session.choose_collection()
    answer = reader.opened()
    if answer is None and session.filled(collection) is None:
        return
    st.markdown("Paste what you or a chatbot wrote. Each of its facts is looked up in the whole collection.")
    height = 96 if answer else 220
    text = st.text_area(
        "Text", key="text-to-cite", height=height, label_visibility="collapsed", placeholder="Your text"
    )
    if st.button("Cite", key="cite", type="primary", icon=":material/format_quote:") and collection:
        with session.told():
            pipeline = session.pipeline(collection)
            with st.spinner("Looking for the words that support it…"):
                reader.open_answer(pipeline.cite(text).id)
            st.rerun()
    if answer:
        reader.show(answer)
    if collection:
        reader.show_earlier(collection, asked=False)


if __name__ == "__main__":
    with session.told():
        show()
