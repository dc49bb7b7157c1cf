"""What was measured: runs found and opened, compared, looked at item by item; new ones started and watched."""

from __future__ import annotations

import streamlit as st

from propcite.ui import session
from propcite.ui.evaluating import comparing, item, kept, measuring, reading, words
from propcite.ui.render import plain
from propcite.ui.words import counted

NUM_RUNS = 20


def back(to: str, **place: str) -> None:
    st.button(to, key="back", type="tertiary", icon=":material/arrow_back:", on_click=lambda: kept.go(**place))


def show_list() -> None:
    """All runs, the newest first, by kind and by words."""
    st.title("Evaluate", anchor=False)
    measuring.watch()
    measuring.form()
    runs = kept.all_runs()
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
    found = words.matching(runs, kind, text)
    st.caption(
        counted(len(found), "run") if found else "No run has these words: take some away, or choose another kind."
    )
    num_shown = st.session_state.get("num-runs", NUM_RUNS)
    with st.container(gap="small"):
        for run in found[:num_shown]:
            title, process = words.title(run), session.parts().runs.measuring_process(run.id)
            with st.container(gap=None):
                st.button(plain(title), key=f"run-{run.id}", type="tertiary", on_click=kept.go, kwargs={"run": run.id})
                st.caption(plain(words.details(run, process)))
    if len(found) > num_shown:
        st.button("Show more", key="more-runs", on_click=lambda: st.session_state.update({"num-runs": 3 * num_shown}))


def show() -> None:
    place = {name: st.query_params.get(name, "") for name in ("run", "beside", "item")}
    if place["item"]:
        back("Back to the comparison" if place["beside"] else "Back to the run", **{**place, "item": ""})
        item.show(place["item"], place["run"], place["beside"])
    elif place["beside"]:
        back("Back to the run", run=place["run"].partition(":")[0])
        comparing.show(place["run"], place["beside"])
    elif place["run"]:
        back("All runs")
        measuring.watch()
        reading.show(session.parts().runs.run(place["run"]))
    else:
        show_list()


if __name__ == "__main__":
    with session.told():
        show()
