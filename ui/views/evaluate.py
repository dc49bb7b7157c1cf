"""Evaluation runs: list, open, compare, inspect items, start and watch."""

from __future__ import annotations

import streamlit as st

from propcite.app.library.store import Scope
from propcite.ui import session
from propcite.ui.evaluating import comparison, item, jobs, run, stored_runs, words
from propcite.ui.markdown import plain
from propcite.ui.words import counted

NUM_RUNS = 20


def back(to: str, **place: str) -> None:
    st.button(to, key="back", type="tertiary", icon=":material/arrow_back:", on_click=lambda: stored_runs.go(**place))


def show_list() -> None:
    """List all runs, newest first, filtered by kind and words."""
    st.title("Evaluate", anchor=False)
    st.caption("Measures how often answers, citations and verdicts are right, by questions whose answers are known.")
    jobs.watch()
    jobs.form()
    runs = stored_runs.all_runs()
    if not runs:
        st.info(
            "Nothing was measured yet. Give a file above, or measure on the command line: propcite eval --help "
            "shows what there is.",
            icon=":material/inbox:",
        )
        return
    kinds = list(dict.fromkeys(run.kind for run in runs))
    kind = st.pills("Kind", kinds, key="runs-kind") if len(kinds) > 1 else None
    text = st.text_input("Find", key="runs-text", placeholder="A file, a judge, a way, a day, an id")
    matches = words.matching(runs, kind, text)
    st.caption(
        counted(len(matches), "run") if matches else "No run has these words: take some away, or choose another kind."
    )
    num_shown = st.session_state.get("num-runs", NUM_RUNS)
    with st.container(gap="small"):
        for run in matches[:num_shown]:
            title, process = words.title(run), session.parts().runs.measuring_process(run.id)
            with st.container(gap=None):
                st.button(
                    plain(title), key=f"run-{run.id}", type="tertiary", on_click=stored_runs.go, kwargs={"run": run.id}
                )
                st.caption(plain(words.details(run, process)))
    if len(matches) > num_shown:
        st.button("Show more", key="more-runs", on_click=lambda: st.session_state.update({"num-runs": 3 * num_shown}))


def show() -> None:
    session.visitor().require_everywhere(Scope.ADMIN)
    place = {name: st.query_params.get(name, "") for name in ("run", "beside", "item")}
    if place["item"]:
        back("Back to the comparison" if place["beside"] else "Back to the run", **{**place, "item": ""})
        item.show(place["item"], place["run"], place["beside"])
    elif place["beside"]:
        back("Back to the run", run=place["run"].partition(":")[0])
        comparison.show(place["run"], place["beside"])
    elif place["run"]:
        back("All runs")
        jobs.watch()
        run.show(session.parts().runs.run(place["run"]))
    else:
        show_list()


if __name__ == "__main__":
    with session.showing_errors():
        show()
