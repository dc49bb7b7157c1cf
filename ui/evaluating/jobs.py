"""Start a measurement over a file, and watch those that run, each in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from propcite.app.errors import AppError
from propcite.app.lab.runs import jobs
from propcite.app.library.store import RunInfo, Scope
from propcite.app.library.store.runs import DONE
from propcite.ui import session
from propcite.ui.evaluating import stored_runs, words
from propcite.ui.markdown import plain

EVERY_S = 2.0  # between two looks at the store
HELP = "A file that is large, or lies here already, needs no upload: .gz is read too."


def form() -> None:
    """Ask what to measure, over which file, how much of it and in which ways."""
    with st.expander("Measure a file", icon=":material/science:", expanded=not stored_runs.all_runs()):
        kind = st.selectbox(
            "What to measure", jobs.KINDS, key="measure-kind", format_func=lambda kind: words.WHAT[kind]
        )
        most = session.parts().settings.max_file_mb
        file = st.file_uploader("File with what is known to be right", key="measure-file", max_upload_size=most)
        folders = session.parts().settings.page_folders
        path = st.text_input("Or its path on this machine", key="measure-path", help=HELP) if folders else ""
        left, right = st.columns(2)
        limit = left.number_input("Only the first rows of the file; 0: all", 0, step=10, key="measure-limit")
        known = jobs.ways_of(kind)
        ways = right.multiselect("Only these ways", known, key=f"ways-{kind}", placeholder="All") if known else ()
        new = st.checkbox("Begin again, though this file was measured in part", key="measure-new")
        if st.button("Measure", key="measure", type="primary", icon=":material/play_arrow:"):
            with session.showing_errors():
                chosen = _kept(file.name, file.getvalue()) if file else _named(path, folders)
                begin(jobs.eval_command(kind, chosen, limit=int(limit), ways=ways, new=new))
                st.rerun()


def _named(path: str, folders: Sequence[Path]) -> Path:
    if not folders:
        raise AppError("give a file to measure; PROPCITE_PAGE_FOLDERS may name folders whose files need no upload")
    return jobs.existing_file(path, folders)


def _kept(name: str, content: bytes) -> Path:
    return jobs.save_upload(stored_runs.measurements().folder, name, content)


def begin(words_: Sequence[str]) -> None:
    session.visitor().require_everywhere(Scope.ADMIN)
    stored_runs.measurements().start(words_)


def watch() -> None:
    """Refresh while something runs; when it ends, rerun the whole page."""
    st.fragment(_watch, run_every=EVERY_S if _running() else None)()


def _running() -> bool:
    return any(one.exit_code is None for one in stored_runs.measurements()) or bool(_measured())


def _measured() -> list[tuple[RunInfo, int]]:
    """Return the runs that a process of this machine measures, whoever started it."""
    runs = session.parts().runs
    run_ = [(run, runs.measuring_process(run.id)) for run in stored_runs.all_runs() if run.state != DONE]
    return [(run, process) for run, process in run_ if process]


def _watch() -> None:
    measured = _measured()
    for run, _ in measured:
        share = min(1.0, run.num_items / run.num_expected) if run.num_expected else 0.0
        st.progress(share, text=plain(f"{words.title(run)}: {words.progress(run)}"))
        st.button("Stop", key=f"stop-{run.id}", on_click=jobs.stop_run, args=(session.parts().runs, run.id))
    seen = {process for _, process in measured}
    for one in stored_runs.measurements():
        if one.process.pid not in seen:
            _tell(one)
    now = _running(), [run.id for run, _ in measured]
    before = st.session_state.get("measured", now)
    st.session_state["measured"] = now
    if before != now:  # what stands below has changed too
        st.rerun()


def _tell(one: jobs.Job) -> None:
    """Show a process that has no run yet, or has ended."""
    if one.exit_code is None:
        st.info(plain(f"{one.title}: reading the file, loading models…"), icon=":material/hourglass_top:")
        st.button("Stop", key=f"end-{one.id}", on_click=one.stop)
        return
    run = session.parts().runs.last_run_of(one.process.pid)
    if one.exit_code < 0:
        stored_runs.measurements().forget(one.id)  # it was stopped: the run says so itself
        return
    if one.exit_code:
        st.error(plain(f"{one.title}: {one.last_line}"), icon=":material/error:")
    else:
        st.success(plain(f"{one.title} is measured"), icon=":material/check:")
    with st.container(horizontal=True):
        if run and run != st.query_params.get("run"):
            st.button("Open it", key=f"open-{one.id}", on_click=_open, args=(one.id, run))
        forget = stored_runs.measurements().forget
        st.button("Dismiss", key=f"dismiss-{one.id}", type="tertiary", on_click=forget, args=(one.id,))


def _open(id_: str, run_id: str) -> None:
    stored_runs.measurements().forget(id_)
    stored_runs.go(run=run_id)
