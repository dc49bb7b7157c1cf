"""Compare two runs, or two ways of one: the difference of every figure, and the items that changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from propcite.app.library.store import RunInfo
from propcite.ui import session
from propcite.ui.evaluating import stored_runs, words
from propcite.ui.evaluating.stored_runs import show_run
from propcite.ui.markdown import plain
from propcite.ui.words import counted

if TYPE_CHECKING:
    from propcite.app.lab.runs.comparison import Comparison

NUM_MOVED = 10
EVERY = ""  # every way that both have
NOTHING = "No figure is in both yet: go on with the run that is unfinished, then compare."


def choose(run: RunInfo) -> None:
    """Choose what to compare a run with: another run, or another of its ways."""
    known = {other.id: other for other in words.comparable(run, stored_runs.all_runs())}
    with st.expander("Compare", icon=":material/compare_arrows:"):
        other = st.selectbox("With", list(known), key="compare-run", format_func=lambda id_: _named(run, known[id_]))
        left, right = st.columns(2)
        first, second = _way(left, "First", run, 0, other), _way(right, "Second", known[other], 1, run.id)
        sides = words.side(run.id, first), words.side(other, second)
        st.button("Compare", key="compare", type="primary", on_click=partial(_go, *sides))


def _go(first: str, second: str) -> None:
    stored_runs.go(run=first, beside=second)


def _named(run: RunInfo, other: RunInfo) -> str:
    if other.id == run.id:
        return "This run: two of its ways"
    return f"{words.title(other)} · {words.details(other, None)}"


def _way(column: DeltaGenerator, name: str, run: RunInfo, place: int, other: str) -> str:
    """Choose one way of a run, or all ways of both runs."""
    ways = words.ways_in(stored_runs.items(run))
    options = ways if run.id == other else [EVERY, *ways]
    index = min(place, len(options) - 1) if run.id == other else 0
    key = f"compare-{name}-{run.id}-{other}"
    return column.selectbox(name, options, index, key=key, format_func=lambda way: way or "Every way that both have")


def show(first: str, second: str) -> None:
    """Return the comparisons of two names; raise an error that says what cannot be compared."""
    from propcite.app.lab.runs.comparison import compare

    st.title("Compare", anchor=False)
    with st.spinner("Comparing…"):
        result = compare(session.parts().runs, first, second)
    for number, one in enumerate(result):
        _show(one, number)


def _show(result: Comparison, number: int) -> None:
    from propcite.app.lab.runs.tables import judge_difference, sides_text

    for line in sides_text(result).splitlines():
        st.caption(plain(line))
    if not result.figures:
        line = f"{judge_difference(result)}; no other figure is in both runs" if result.left_out else NOTHING
        st.error(plain(line), icon=":material/error:")
        return
    if result.left_out:
        st.warning(plain(judge_difference(result)), icon=":material/info:")
    show_run(_tables(result), key=f"compared-{number}")
    _other_settings(result)
    _moved(result, number)


def _tables(result: Comparison) -> str:
    from propcite.app.lab.runs.tables import sources_caption
    from propcite.ui.evaluating.render import comparison_html

    caption = "Under each difference the interval in which it lies in 95 of 100 samples; p by paired randomisation."
    words_ = sources_caption(result.sources)
    means = comparison_html(result.over_sources, f"{words_[0].upper()}{words_[1:]}.") if result.over_sources else ""
    return comparison_html(result.figures, caption) + means


def _other_settings(result: Comparison) -> None:
    from propcite.app.lab.runs.runner import differences

    if lines := differences(result.a.run.settings, result.b.run.settings):
        with st.expander("Settings that differ", icon=":material/tune:"):
            for line in lines:
                st.text(line)


def _moved(result: Comparison, number: int) -> None:
    """List the items that changed most in one figure; each opens on both sides."""
    from propcite.app.lab.runs.comparison import item_changes

    measures = [figure.measure for figure in result.figures]
    first = next((at for at, figure in enumerate(result.figures) if figure.changed), 0)
    by = st.selectbox(
        "Items that moved in", measures, first, key=f"moved-by-{number}", format_func=lambda measure: measure.heading
    )
    items = item_changes(result, by)
    most = f", the {NUM_MOVED} that moved most" if len(items) > NUM_MOVED else ""
    st.caption(f"{counted(len(items), 'item')} moved{most}" if items else "No item moved")
    names: Sequence[str] = result.a.name, result.b.name
    with st.container(gap=None):
        for one in items[:NUM_MOVED]:
            st.button(
                plain(words.moved_line(one, by)),
                key=f"moved-{number}-{one.a.key}",
                type="tertiary",
                on_click=partial(stored_runs.go, run=names[0], beside=names[1], item=one.a.key),
            )
