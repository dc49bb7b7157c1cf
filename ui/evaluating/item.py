"""Show one item: its question, each way's output, the judge's verdicts, the cost."""

from __future__ import annotations

import streamlit as st

from propcite.app.library.store import RunItem
from propcite.retrieval.errors import PropCiteError
from propcite.ui import session
from propcite.ui.evaluating import words
from propcite.ui.evaluating.stored_runs import show_run
from propcite.ui.markdown import plain


def show(key: str, *sides: str) -> None:
    """Show an item; `sides` name a run, or two ways as RUN:way."""
    from propcite.app.lab.runs.aggregates import is_way
    from propcite.ui.evaluating.render import items_html

    outputs = {
        name: item for side in sides if side for name, item in _of(side, key, named=len(sides) > 1 and sides[1] != "")
    }
    if not outputs:
        raise PropCiteError(f"the run has no item {key[:60]!r}: choose one in the run's list")
    question = next(filter(None, map(words.question, outputs.values())), key)
    st.title(plain(question), anchor=False)
    st.caption(plain(key))
    measured = {name: item for name, item in outputs.items() if is_way(item.way)}
    show_run(items_html(measured or outputs), key=f"items-{key}")


def _of(side: str, key: str, *, named: bool) -> list[tuple[str, RunItem]]:
    """Return the item by each way of a side, under the way's name, with the run's name if there are two."""
    name, _, way = side.partition(":")
    runs = session.parts().runs
    run = runs.run(name)
    items = [item for item in runs.item(run.id, key) if way in ("", item.way)]
    return [(f"{item.way} · run {run.id}" if named else item.way, item) for item in items]
