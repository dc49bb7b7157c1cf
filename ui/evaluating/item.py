"""One item: its question, what each way made of it, what the judge said, and what it cost."""

from __future__ import annotations

import streamlit as st

from propcite.app.library.store import RunItem
from propcite.retrieval.errors import PropCiteError
from propcite.ui import session
from propcite.ui.evaluating import words
from propcite.ui.evaluating.kept import show_run
from propcite.ui.render import plain


def show(key: str, *sides: str) -> None:
    """`sides` are a run, or two ways beside each other as RUN:way."""
    from propcite.app.lab.runs.aggregates import is_way
    from propcite.ui.evaluating.render import items_html

    found = {
        name: item for side in sides if side for name, item in _of(side, key, named=len(sides) > 1 and sides[1] != "")
    }
    if not found:
        raise PropCiteError(f"the run has no item {key[:60]!r}: choose one in the run's list")
    asked = next(filter(None, map(words.question, found.values())), key)
    st.title(plain(asked), anchor=False)
    st.caption(plain(key))
    measured = {name: item for name, item in found.items() if is_way(item.way)}
    show_run(items_html(measured or found), key=f"items-{key}")


def _of(side: str, key: str, *, named: bool) -> list[tuple[str, RunItem]]:
    """The item by each way of a side, under the way's name; of two runs each is named."""
    name, _, way = side.partition(":")
    runs = session.parts().runs
    run = runs.run(name)
    items = [item for item in runs.item(run.id, key) if way in ("", item.way)]
    return [(f"{item.way} · run {run.id}" if named else item.way, item) for item in items]
