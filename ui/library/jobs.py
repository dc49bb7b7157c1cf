"""Documents on their way in: read beside the page, so that a page which is closed or loaded anew loses nothing."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import streamlit as st

from propcite.app.ingest.uploads import Job, Uploads, safe_name
from propcite.app.library.store import CollectionInfo
from propcite.app.parts import Parts
from propcite.ui import session
from propcite.ui.library.words import SAID, about
from propcite.ui.render import plain
from propcite.ui.words import file_name

LOOK_S = 0.2  # between two looks at how far a job is
SHOWN = 8  # outcomes of a job that stand open


class Sent(Protocol):
    """A file that the browser sent."""

    name: str

    def getvalue(self) -> bytes: ...


def uploads() -> Uploads:
    """Known to all who use the page; what a page that was stopped had accepted is read now."""
    return _uploads(session.parts())


@st.cache_resource(show_spinner=False, hash_funcs={Parts: id})
def _uploads(parts: Parts) -> Uploads:
    found = Uploads(parts)
    found.resume()
    return found


def begin(collection: str, files: Sequence[Sent], sources: Sequence[str] = ()) -> None:
    """These files and addresses will be read, whatever becomes of the page."""
    session.load_model()
    session.parts().library.create_collection(collection)
    waiting = uploads()
    job_id = waiting.new_id()
    for number, file in enumerate(files):
        waiting.path_of(job_id, number).write_bytes(file.getvalue())
    waiting.accept(job_id, collection, [safe_name(file.name) for file in files], sources)


def read_again(collection: str, source: str, kept: Path | None) -> None:
    """A document from its kept file, or from where it came."""
    session.load_model()
    waiting = uploads()
    job_id = waiting.new_id()
    if kept is not None:
        shutil.copyfile(kept, waiting.path_of(job_id, 0))
    waiting.accept(job_id, collection, [source] if kept else [], [] if kept else [source], again=True)


def show(collection: CollectionInfo | None) -> list[tuple[Job, st.delta_generator.DeltaGenerator]]:
    """What came of the jobs that have ended.  -> those that have not, with the place where they are told"""
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
    """Tell how far they are until they end; called last, when all of the page stands."""
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
        read = [o for o in job.outcomes if o.state != "failed"]
        for outcome in [*failed, *read][:SHOWN]:
            name, bad = plain(file_name(outcome.source)), outcome.state == "failed"
            told = f"**{name}** {SAID[outcome.state]}: {plain(outcome.reason if bad else about(outcome))}"
            (st.error if bad else st.success)(told, icon=":material/error:" if bad else ":material/check:")
        if len(job.outcomes) > SHOWN:
            st.caption(f"and {len(job.outcomes) - SHOWN:,} more, of which {max(0, len(failed) - SHOWN):,} failed")
        st.button("Close", key=f"close-{job.id}", type="tertiary", on_click=uploads().forget, args=(job.id,))
