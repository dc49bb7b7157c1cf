"""Read documents in the background, so that closing or reloading the page loses nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import NamedTuple, Protocol

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from propcite.app.errors import NotFoundError
from propcite.app.ingest.names import safe_path
from propcite.app.ingest.outcomes import Outcome
from propcite.app.ingest.uploads import Job, Uploads
from propcite.app.library.store import Action, CollectionInfo, Scope
from propcite.ui import session
from propcite.ui.library.words import holds_line, job_line, jobs_line, outcome_line
from propcite.ui.markdown import plain

LOOK_S = 0.2  # between two checks of a job's progress
REDRAW_S = 5.0  # after which new documents enter the table while others are still being read
SHOWN = 8  # outcomes of a job that are listed
_current: list[Uploads] = []  # of this process: one at most
_CHANGING = Lock()
FOLLOWED = "jobs-followed"  # of the session: ids of jobs whose end is to be shown even above an open document


class Sent(Protocol):
    """A file that the browser sent."""

    name: str

    def getvalue(self) -> bytes: ...


def uploads() -> Uploads:
    """Return the uploads shared by all sessions, which work on the queue; those for settings before are closed."""
    parts = session.parts()
    with _CHANGING:
        if not _current or _current[0].parts is not parts:
            for former in _current:
                former.close(wait=False)
            _current[:] = [Uploads(parts)]
            _current[0].start()
        return _current[0]


def begin(collection: str, files: Sequence[Sent], sources: Sequence[str] = ()) -> str:
    """Accept files and addresses, which are read even if the page closes; return the id of the job."""
    session.load_model()
    session.create_collection(collection)
    waiting = uploads()
    job_id = waiting.new_id()
    for number, file in enumerate(files):
        waiting.write(job_id, number, BytesIO(file.getvalue()))
    _accept(job_id, collection, [safe_path(file.name) for file in files], sources)
    session.visitor().record(Action.ADDED_DOCUMENTS, collection, job_id)
    _followed().add(job_id)
    session.close_adding()
    return job_id


def read_again(collection: str, source: str, kept: Path | None) -> None:
    """Read a document again from its kept file, or from its source."""
    session.visitor().require(Scope.WRITE, collection)
    session.load_model()
    waiting = uploads()
    job_id = waiting.new_id()
    _followed().add(job_id)
    if kept is not None:
        with kept.open("rb") as content:
            waiting.write(job_id, 0, content)
    _accept(job_id, collection, [source] if kept else [], [] if kept else [source], again=True)


def read_all_again(collection: str) -> None:
    """Read again the documents of a collection that an earlier version of the readers read."""
    session.visitor().require(Scope.WRITE, collection)
    session.load_model()
    _accept(uploads().new_id(), collection, [], again=True)


def _accept(
    job_id: str, collection: str, files: Sequence[str], sources: Sequence[str] = (), *, again: bool = False
) -> None:
    by = session.visitor().name
    uploads().accept(job_id, collection, files, sources, again=again, by=by, on_page=True)


def is_reading_all_again(collection: str) -> bool:
    return any(job.is_of_all and not job.has_ended for job in uploads().jobs(collection))


@dataclass(frozen=True, slots=True)
class Going:
    """A job that is not done, and the place for its progress."""

    job: Job
    place: DeltaGenerator


class _Ended(NamedTuple):
    """A job that has ended, and what became of its files."""

    job: Job
    outcomes: Sequence[Outcome]


def show(collection: CollectionInfo | None, *, is_document_open: bool) -> list[Going]:
    """Show the jobs that have ended, in one line; return the others.

    Above an open document no line stays: the end of a followed job is shown for a moment, once.
    """
    if collection is None:
        return []
    may_change = session.visitor().may(Scope.WRITE, collection.name)
    jobs = uploads().jobs(collection.name)
    _show_how_ended(jobs, briefly=is_document_open)
    _followed().update(job.id for job in jobs if not job.has_ended)
    return [Going(job, _place(job, may_change=may_change)) for job in jobs if not job.has_ended]


def show_followed(collection: CollectionInfo, *, is_answer_open: bool) -> None:
    """Show where one asks how this person's jobs ended; above an open answer for a moment, once."""
    mine, known = session.visitor().name, uploads().jobs(collection.name)
    _followed().update(job.id for job in known if job.by == mine and not job.has_ended)
    jobs = [job for job in known if job.id in _followed()]
    _show_how_ended(jobs, briefly=is_answer_open)


def num_left(collection: CollectionInfo) -> int:
    """Return how many documents of a collection are still being read."""
    return sum(job.num_left for job in uploads().jobs(collection.name))


def _show_how_ended(jobs: Sequence[Job], *, briefly: bool) -> None:
    """Show how those that have ended did, in a line that stays or for a moment."""
    if briefly:
        _show_briefly(jobs)
    elif ended := [_Ended(job, uploads().outcomes(job.id)) for job in jobs if job.has_ended]:
        _show_ended(ended)


def _show_briefly(jobs: Sequence[Job]) -> None:
    """Show for a moment how followed jobs ended, each once."""
    for job in jobs:
        if job.has_ended and job.id in _followed():
            outcomes = uploads().outcomes(job.id)
            reasons = [outcome.reason for outcome in outcomes if outcome.state == "failed" and len(outcomes) > 1]
            line = ". ".join([job_line(job, outcomes), *reasons[:1]])
            st.toast(plain(line), icon=":material/library_books:", duration="long")
            _followed().discard(job.id)


def _followed() -> set[str]:
    followed: set[str] = st.session_state.setdefault(FOLLOWED, set())
    return followed


def _place(job: Job, *, may_change: bool) -> DeltaGenerator:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        place = st.empty()
        if may_change:
            st.button("Cancel", key=f"cancel-{job.id}", on_click=_cancel, args=(job,), disabled=job.is_cancelled)
    return place


def _cancel(job: Job) -> None:
    with session.showing_errors():
        session.visitor().require(Scope.WRITE, job.collection)
        uploads().cancel(job.id)


def follow(collection: CollectionInfo | None, going_on: Sequence[Going], holds: DeltaGenerator | None) -> None:
    """Show their progress, and what the collection holds by now, until they end; called last on the page."""
    if not going_on or collection is None:
        return
    begun = time.monotonic()
    places = {one.job.id: one.place for one in going_on}
    while going := [job for job in uploads().jobs(collection.name) if job.id in places and not job.has_ended]:
        for job in going:
            share, line = _progress(job)
            places[job.id].progress(share, text=plain(line))
        time.sleep(LOOK_S)
        try:
            now = session.parts().library.collection(collection.name)
        except NotFoundError:  # somebody deleted it meanwhile: the page then shows what there is
            break
        if holds:
            holds.markdown(holds_line(now))
        if now.num_documents != collection.num_documents and time.monotonic() - begun > REDRAW_S:
            break
    st.rerun()


def _progress(job: Job) -> tuple[float, str]:
    share, line = (min(1.0, job.progress.share), job.progress.line) if job.progress else (0.0, "")
    what = "Waiting for its turn" if job.state == "waiting" else f"Reading {line}".strip()
    return share, f"{what}: {'it ends after this document' if job.is_cancelled else 'you may leave this page'}"


def _show_ended(ended: Sequence[_Ended]) -> None:
    """Show how jobs ended in one line, which unfolds, with a button that closes it."""
    outcomes = [outcome for one in ended for outcome in one.outcomes]
    failed = any(one.job.reason for one in ended) or any(o.state == "failed" for o in outcomes)
    icon = "error" if failed else "check" if all(o.fidelity.is_whole for o in outcomes) else "warning"
    with st.container(horizontal=True, gap="small", key="ended"):
        with st.expander(plain(jobs_line(ended)), icon=f":material/{icon}:", key=f"job-{ended[-1].job.id}"):
            for one in ended:
                _show_outcomes(one)
        ids = [one.job.id for one in ended]
        st.button("Close", key=f"close-{ids[-1]}", type="tertiary", on_click=_forget, args=(ids,))


def _forget(ids: Sequence[str]) -> None:
    for id_ in ids:
        uploads().forget(id_)


def _show_outcomes(ended: _Ended) -> None:
    """Show what became of each file, those that failed or were read in part first."""
    job, outcomes = ended
    if job.reason:
        st.error(plain(job.reason), icon=":material/error:")
    failed = [o for o in outcomes if o.state == "failed"]
    read = sorted((o for o in outcomes if o.state != "failed"), key=lambda o: o.fidelity.is_whole)
    for outcome in [*failed, *read][:SHOWN]:
        kind = st.error if outcome.state == "failed" else st.success if outcome.fidelity.is_whole else st.warning
        kind(outcome_line(outcome, plain))
    if len(outcomes) > SHOWN:
        st.caption(f"and {len(outcomes) - SHOWN:,} more, of which {max(0, len(failed) - SHOWN):,} failed")
