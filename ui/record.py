"""Offer a kept answer as a page to print: with its facts, verdicts and versions, and who asked for it and when."""

from __future__ import annotations

from html import escape

import streamlit as st

from propcite.app.errors import without_commands
from propcite.app.library.answer_records import record_page
from propcite.app.library.store import Scope
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats.text import utf8
from propcite.retrieval.errors import PropCiteError
from propcite.ui import session

HELP = (
    "A file with the answer, its quotes and verdicts, the models and versions, who asked and when. Open it to print it."
)


def offer(answer: CitedAnswer) -> None:
    """Show a button that makes the page when it is pressed; others' names are in it for admins alone.

    Of an answer that was deleted meanwhile the file says that, and this page too, which is drawn again after it.
    """
    asking, parts = session.visitor(), session.parts()
    sees_all = asking.may(Scope.ADMIN, answer.collection)

    def write() -> bytes:
        try:
            return utf8(record_page(parts, answer, lambda who: sees_all or who == asking.name))
        except PropCiteError as error:
            return utf8(f"<!doctype html><title>PropCite</title><p>{escape(without_commands(error))}</p>")

    st.download_button(
        "Save a page to print",
        write,
        f"propcite-record-{answer.id}.html",
        "text/html",
        key="record",
        type="tertiary",
        icon=":material/print:",
        help=HELP,
    )
