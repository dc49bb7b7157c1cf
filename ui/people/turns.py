"""Asking, citing and searching on the page take turns, fair between the people who have it open."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from propcite.app.turns.costs import Costs, Kind, Size
from propcite.app.turns.jobs import Job
from propcite.app.turns.turns import Turns
from propcite.app.turns.workers import Asking, Workers
from propcite.ui import session


@contextmanager
def in_turns(kind: Kind) -> Iterator[None]:
    """Compute in turns; BusyError before the block if they would begin too late."""
    with admitted(kind).pacing():
        yield


def admitted(kind: Kind) -> Job:
    """Return the job of new work, which any thread may do; BusyError if it would begin too late.

    Who did not sign in is known by the open page.
    """
    settings, run = session.parts().settings, get_script_run_ctx()
    workers = _workers(settings.serve_threads, settings.serve_wait_seconds)
    client = session.visitor().name or (run.session_id if run else "")
    workers.check(Asking(client, "page"), kind, Size())
    return workers.writing_job(client)


@st.cache_resource(show_spinner=False)
def _workers(num_turns: int, wait_s: float) -> Workers:
    return Workers(Turns(num_turns, wait_s), Costs(), math.inf)
