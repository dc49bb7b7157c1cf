"""Shared by the views of runs: the stored runs, what is computed from them, and the address."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from propcite.app.lab.runs import REPORT_CSS
from propcite.app.lab.runs.jobs import Jobs
from propcite.app.library.store import RunInfo, RunItem
from propcite.app.library.store.runs import DONE
from propcite.ui import clickable, session

if TYPE_CHECKING:
    from propcite.app.lab.runs.aggregates import Aggregate

RUN = '<div class="run passages"></div>'
Made = TypeVar("Made")
NUM_LISTED = 1000


def show_run(html: str, *, key: str) -> None:
    """Show tables, plots and items of evaluation runs as their report has them, in the page's colours."""
    component = clickable.component("propcite_run", RUN, "passages.js", REPORT_CSS, Path(__file__).with_name("run.css"))
    component(key=key, data={"html": html})


def measurements() -> Jobs:
    """Return the measurements started on the page, shared by all sessions."""
    return _measurements(session.parts().settings.data_dir / "runs")


@st.cache_resource(show_spinner=False)
def _measurements(folder: Path) -> Jobs:
    return Jobs(folder)


def all_runs() -> list[RunInfo]:
    """Return the stored runs, newest first."""
    return session.parts().runs.list(NUM_LISTED)


def go(**place: str) -> None:
    """Put this place into the address and on the page, from the next run on."""
    st.query_params.from_dict({name: value for name, value in place.items() if value})


def once(run: RunInfo, make: Callable[[RunInfo], Made]) -> Made:
    """Compute something of a run; once only if the run is finished."""
    if run.state != DONE:
        return make(run)
    made: Made = _once(run, make)
    return made


@st.cache_resource(
    show_spinner=False,
    max_entries=12,
    hash_funcs={RunInfo: lambda run: run.id, FunctionType: lambda make: f"{make.__module__}.{make.__qualname__}"},
)
def _once(run: RunInfo, make: Callable[[RunInfo], Any]) -> Any:
    return make(run)


def items(run: RunInfo) -> Sequence[RunItem]:
    return once(run, _items)


def _items(run: RunInfo) -> Sequence[RunItem]:
    return list(session.parts().runs.items(run.id))


def figures(run: RunInfo) -> list[Aggregate]:
    return once(run, _figures)


def _figures(run: RunInfo) -> list[Aggregate]:
    from propcite.app.lab.runs.aggregates import aggregates

    return aggregates(items(run))
