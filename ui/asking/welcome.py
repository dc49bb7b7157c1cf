"""Show what the page is for, and questions to begin with."""

from __future__ import annotations

import json

import streamlit as st

from propcite.app.demo import QUESTIONS
from propcite.app.library.store import CollectionInfo
from propcite.ui import session
from propcite.ui.asking.question_box import offer
from propcite.ui.render import plain

NUM_SUGGESTED = 4


def welcome(collection: CollectionInfo | None) -> None:
    st.title("Ask your documents", anchor=False)
    st.markdown("Every statement in the answer shows the words that support it.")
    if session.filled(collection) and collection and collection.name == session.DEMO:
        st.caption("Questions to begin with")
        for line in QUESTIONS.read_text("utf-8").splitlines()[:NUM_SUGGESTED]:
            question = json.loads(line)["question"]
            offer(plain(question), question, key=f"suggested-{question}", icon=":material/arrow_forward:")
