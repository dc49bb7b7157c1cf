"""Show what the page is for, and questions to begin with."""

from __future__ import annotations

import json

import streamlit as st

from propcite.app.demo import QUESTIONS
from propcite.app.library.store import CollectionInfo
from propcite.ui import session
from propcite.ui.asking.question_box import offer
from propcite.ui.library import adding, jobs
from propcite.ui.markdown import plain
from propcite.ui.overview import questions

NUM_SUGGESTED = 4


def welcome(collection: CollectionInfo | None) -> None:
    st.title("Ask your documents", anchor=False)
    st.markdown("Every statement in the answer shows the words that support it.")
    if collection and not collection.num_documents and jobs.num_left(collection):
        st.markdown("Its first documents are being read.")
    elif session.filled(collection) and collection and collection.name != session.DEMO:
        questions.show_first(collection)
    elif collection and collection.num_documents:
        st.caption("Questions to begin with")
        for line in QUESTIONS.read_text("utf-8").splitlines()[:NUM_SUGGESTED]:
            question = json.loads(line)["question"]
            offer(plain(question), question, key=f"suggested-{question}", icon=":material/arrow_forward:")
    _offer_adding(collection)


def _offer_adding(collection: CollectionInfo | None) -> None:
    """Take files and addresses here too: what is asked next may be about them."""
    if adding.may_add_to(collection):
        name = collection.name if collection else session.parts().settings.collection
        adding.show(name, is_open=collection is None)
