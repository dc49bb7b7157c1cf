"""Show one run: figures, plots, costs, settings, downloads, and its items."""

from __future__ import annotations

from functools import partial

import streamlit as st

from propcite.app.lab.runs.jobs import resume_command
from propcite.app.library.store import RunInfo
from propcite.app.library.store.runs import DONE
from propcite.ui import session
from propcite.ui.evaluating import comparison, jobs, stored_runs, words
from propcite.ui.evaluating.stored_runs import show_run
from propcite.ui.markdown import plain
from propcite.ui.words import counted

NUM_ITEMS = 10
SUFFIXES = {"csv": "csv", "json": "json", "latex": "tex", "html": "html"}
MEDIA = {"csv": "text/csv", "json": "application/json", "latex": "application/x-tex", "html": "text/html"}
SAID = {
    "csv": "a row an item, for a spreadsheet",
    "json": "all of it; propcite runs import reads it",
    "latex": "a table for a paper",
    "html": "a page that stands alone",
}


def show(run: RunInfo) -> None:
    process = session.parts().runs.measuring_process(run.id)
    st.title(plain(words.title(run)), anchor=False)
    st.caption(plain(words.details(run, process)))
    if run.state != DONE and not process:
        offer_to_go_on(run)
    with st.spinner("Computing its figures…"):
        figures = stored_runs.figures(run)
    if not figures:
        st.info("It has no figures yet: they are here as soon as its first items are done.", icon=":material/info:")
    else:
        show_run(stored_runs.once(run, _measured), key=f"figures-{run.id}")
        _downloads(run)
        comparison.choose(run)
        with (
            st.expander("Plots", icon=":material/monitoring:", expanded=True),
            st.spinner("Drawing…"),
            session.showing_errors(),
        ):
            _plots(run)
        show_items(run)
    with st.expander("Settings, models and machine", icon=":material/tune:"):
        show_run(_made(run), key=f"made-{run.id}")


def offer_to_go_on(run: RunInfo) -> None:
    """Offer to continue an unfinished run, here or by its command."""
    note = f"This run was interrupted at {words.progress(run)}; what was done is kept."
    if again := resume_command(run, [*session.parts().settings.page_folders, stored_runs.measurements().folder]):
        st.warning(note, icon=":material/pause_circle:")
        st.button(
            "Go on",
            key=f"go-on-{run.id}",
            type="primary",
            icon=":material/play_arrow:",
            on_click=jobs.begin,
            args=(again,),
        )
    else:
        st.warning(f"{note} Go on with the command that began it:", icon=":material/pause_circle:")
        st.code(str(run.about.get("command") or "propcite eval"), language=None, wrap_lines=True)


def _measured(run: RunInfo) -> str:
    from propcite.app.lab.runs.report import figures_html

    return figures_html(run, stored_runs.items(run), stored_runs.figures(run))


def _plots(run: RunInfo) -> None:
    if drawn := stored_runs.once(run, _plotted):
        show_run(drawn, key=f"plots-{run.id}")
    else:
        st.caption("Its items tell nothing that could be drawn: no probabilities, one length, one source.")


def _plotted(run: RunInfo) -> str:
    from propcite.app.lab.runs.report import plots_html

    return plots_html(stored_runs.items(run), stored_runs.figures(run))


def _made(run: RunInfo) -> str:
    from propcite.app.lab.runs.report import provenance_html

    return provenance_html(run)


def _downloads(run: RunInfo) -> None:
    """Show a menu of the formats; a file is made when its button is pressed."""
    from propcite.app.lab.runs.exports import EXPORTS

    with st.popover("Download", type="tertiary", icon=":material/download:", key="downloads"), st.container(gap=None):
        for name in EXPORTS:
            st.download_button(
                f"**{name}** · {SAID[name]}",
                partial(_file, run, name),
                f"propcite-run-{run.id}.{SUFFIXES[name]}",
                MEDIA[name],
                key=f"download-{name}",
                type="tertiary",
                on_click="ignore",
            )


def _file(run: RunInfo, name: str) -> bytes:
    from propcite.app.lab.runs.exports import EXPORTS
    from propcite.attribution.formats.text import utf8

    return utf8(EXPORTS[name](run, stored_runs.items(run)))


def show_items(run: RunInfo) -> None:
    """List the items of one way, worst first; each can be opened."""
    from propcite.app.lab.runs.report import main_measure

    st.subheader("Items", anchor=False)
    ways = list(dict.fromkeys(figure.way for figure in stored_runs.figures(run)))
    left, right = st.columns(2)
    way = left.selectbox("Way", ways, key=f"way-{run.id}") if len(ways) > 1 else ways[0]
    text = right.text_input("Find", key=f"find-{run.id}", placeholder="Words of a question, or an id")
    measure = main_measure([figure for figure in stored_runs.figures(run) if figure.way == way])
    items_ = words.ordered(stored_runs.items(run), way, measure, text.strip())
    shown = items_[: st.session_state.get(f"more-{run.id}", NUM_ITEMS)]
    goal = "lowest" if measure.goal >= 0 else "highest"
    st.caption(
        plain(f"{counted(len(items_), 'item')}, the {goal} {measure.heading} first") if items_ else "No such item"
    )
    with st.container(gap=None):
        for item in shown:
            st.button(
                plain(words.item_line(item, measure)),
                key=f"item-{item.key}",
                type="tertiary",
                on_click=partial(stored_runs.go, run=run.id, item=item.key),
            )
    if len(shown) < len(items_):
        st.button("Show more", key="more", on_click=_more, args=(run.id,))


def _more(run_id: str) -> None:
    st.session_state[f"more-{run_id}"] = st.session_state.get(f"more-{run_id}", NUM_ITEMS) + 3 * NUM_ITEMS
