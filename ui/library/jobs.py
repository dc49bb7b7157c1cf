"""Read documents in the background, so that closing or reloading the page loses nothing."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import streamlit as st

from propcite.app.ingest.uploads import Job, Uploads, safe_name
from propcite.app.library.store import Action, CollectionInfo, Scope
from propcite.app.parts import Parts
from propcite.ui import session
from propcite.ui.library.words import OUTCOMES, about
from propcite.ui.render import plain
from propcite.ui.words import file_name

LOOK_S = 0.2  # between two checks of a job's progress
SHOWN = 8  # outcomes of a job that are listed


class Sent(Protocol):
    """A file that the browser sent."""

    name: str

    def getvalue(self) -> bytes: ...


def uploads() -> Uploads:
    """Return the uploads shared by all sessions; jobs of a page that was stopped continue."""
    return _uploads(session.parts())


@st.cache_resource(show_spinner=False, hash_funcs={Parts: id})
def _uploads(parts: Parts) -> Uploads:
    uploads_ = Uploads(parts)
    uploads_.resume()
    return uploads_


def begin(collection: str, files: Sequence[Sent], sources: Sequence[str] = ()) -> None:
    """Accept files and addresses; they are read even if the page closes."""
    session.load_model()
    session.create_collection(collection)
    waiting = uploads()
    job_id = waiting.new_id()
    for number, file in enumerate(files):
        waiting.path_of(job_id, number).write_bytes(file.getvalue())
    waiting.accept(job_id, collection, [safe_name(file.name) for file in files], sources)
    session.visitor().record(Action.ADDED_DOCUMENTS, collection, job_id)


def read_again(collection: str, source: str, kept: Path | None) -> None:
    """Read a document again from its kept file, or from its source."""
    session.visitor().require(Scope.WRITE, collection)
    session.load_model()
    waiting = uploads()
    job_id = waiting.new_id()
    if kept is not None:
        shutil.copyfile(kept, waiting.path_of(job_id, 0))
    waiting.accept(job_id, collection, [source] if kept else [], [] if kept else [source], again=True)


def read_all_again(collection: str) -> None:
    """Read again the documents of a collection that an earlier version of the readers read."""
    session.visitor().require(Scope.WRITE, collection)
    session.load_model()
    waiting = uploads()
    waiting.accept(waiting.new_id(), collection, [], again=True)


def is_reading_all_again(collection: str) -> bool:
    return any(job.is_of_all and not job.ended.is_set() for job in uploads().jobs(collection))


def show(collection: CollectionInfo | None) -> list[tuple[Job, st.delta_generator.DeltaGenerator]]:
    """Show the jobs that have ended; return the others with the place for their progress."""
    if collection is None:
        return []
    going_on = []
    for job in uploads().jobs(collection.name):
        if job.ended.is_set():
            _show_ended(job)
        else:
            going_on.append((job, st.empty()))
    return going_on


def follow(going_on: Sequence[tuple[Job, st.delta_generator.DeltaGenerator]]) -> None:
    """Show their progress until they end; called last, when the rest of the page is drawn."""
    for job, place in going_on:
        while not job.ended.wait(LOOK_S):
            progress = job.progress
            share, line = (progress.share, progress.line) if progress else (0.0, "")
            what = "Waiting for its turn" if job.state == "waiting" else f"Reading {line}".strip()
            place.progress(min(1.0, share), text=f"{what}: you may leave this page")
    if going_on:
        st.rerun()


def _show_ended(job: Job) -> None:
    with st.container(border=True, key=f"job-{job.id}"):
        if job.reason:
            st.error(plain(job.reason), icon=":material/error:")
        failed = [o for o in job.outcomes if o.state == "failed"]
        read = sorted((o for o in job.outcomes if o.state != "failed"), key=lambda o: o.fidelity.is_whole)
        for outcome in [*failed, *read][:SHOWN]:
            name, bad = plain(file_name(outcome.source)), outcome.state == "failed"
            line = f"**{name}** {OUTCOMES[outcome.state]}: {plain(outcome.reason if bad else about(outcome))}"
            if bad:
                st.error(line, icon=":material/error:")
            elif outcome.fidelity.is_whole:
                st.success(line, icon=":material/check:")
            else:
                st.warning(line, icon=":material/warning:")
        if len(job.outcomes) > SHOWN:
            st.caption(f"and {len(job.outcomes) - SHOWN:,} more, of which {max(0, len(failed) - SHOWN):,} failed")
        st.button("Close", key=f"close-{job.id}", type="tertiary", on_click=uploads().forget, args=(job.id,))
