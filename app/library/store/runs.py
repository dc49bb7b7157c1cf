"""Evaluation runs: each is one measurement, stored item by item as soon as an item is measured."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from sqlalchemy import Select, delete, func, insert, select
from sqlalchemy.orm import Session

from propcite.app.errors import NotFoundError, StoreError
from propcite.app.library.store.database import Database, aware
from propcite.app.library.store.run_locks import RunLocks
from propcite.app.library.store.tables import RunItemRow, RunRow, now

UNFINISHED, DONE = "unfinished", "done"
NEWEST = "last"
EXPECTED = "items_expected"  # key in `about`: how many items the finished run has
MAX_WAY_LENGTH, MAX_KEY_LENGTH = 200, 500
PAGE = 200  # items read per query


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run without its items.  `settings` is all that affects a figure, `about` the other circumstances."""

    id: str
    kind: str
    name: str
    state: str
    settings: Mapping[str, Any]
    about: Mapping[str, Any]
    judge: str
    started_at: datetime
    ended_at: datetime | None
    num_items: int

    @property
    def num_expected(self) -> int:
        """Return how many items the finished run has; 0 if that is unknown."""
        number = self.about.get(EXPECTED)
        return number if isinstance(number, int) else 0


@dataclass(frozen=True, slots=True)
class RunItem:
    """One item of a file, measured in one way; a measure is None if it is undefined for this item."""

    key: str
    way: str
    measures: Mapping[str, float | None]
    output: Mapping[str, Any] = field(default_factory=dict)
    cost: Mapping[str, float] = field(default_factory=dict)


class Runs:
    """The runs of one database.  Every method is one transaction.

    In `folder`, processes of this machine lock the runs that they measure; without a folder nothing is locked.
    """

    def __init__(self, database: Database, folder: Path | None = None) -> None:
        self._database = database
        self._locks = RunLocks(folder) if folder else None

    def start(
        self, kind: str, name: str, settings: Mapping[str, Any], about: Mapping[str, Any], judge: str = ""
    ) -> RunInfo:
        id_ = secrets.token_hex(6)
        plain = {"settings": as_json(settings), "about": as_json(about)}
        with self._database.session() as session:
            row = RunRow(id=id_, kind=kind, name=name, state=UNFINISHED, judge=judge, started_at=now(), **plain)
            session.add(row)
            session.flush()
            return _info(row, 0)

    def find(self, kind: str, name: str) -> list[RunInfo]:
        """Return the runs of this kind and name, the newest first."""
        query = _with_counts().where(RunRow.kind == kind, RunRow.name == name)
        with self._database.session() as session:
            return [_info(row, num) for row, num in session.execute(query)]

    def add(self, run_id: str, items: Iterable[RunItem]) -> None:
        """Store items; an item with the same way and key is replaced."""
        rows = {(item.way, item.key): _row(run_id, item) for item in items}
        with self._database.session() as session:
            _existing(session, run_id)
            for way, key in rows:
                same = (RunItemRow.run_id == run_id, RunItemRow.way == way, RunItemRow.key == key)
                session.execute(delete(RunItemRow).where(*same))
            if rows:
                session.execute(insert(RunItemRow), list(rows.values()))

    def item_keys(self, run_id: str) -> set[tuple[str, str]]:
        """Return the way and key of each stored item."""
        query = select(RunItemRow.way, RunItemRow.key).where(RunItemRow.run_id == run_id)
        with self._database.session() as session:
            return {(way, key) for way, key in session.execute(query)}

    def items(self, run_id: str, way: str = "") -> Iterator[RunItem]:
        """Yield all items, or those of one way, in the order in which they were stored."""
        query = select(RunItemRow).where(RunItemRow.run_id == run_id).order_by(RunItemRow.id).limit(PAGE)
        if way:
            query = query.where(RunItemRow.way == way)
        last: int | None = -1
        while last is not None:
            with self._database.session() as session:
                rows = list(session.scalars(query.where(RunItemRow.id > last)))
                items, last = [_item(row) for row in rows], rows[-1].id if rows else None
            yield from items

    def item(self, run_id: str, key: str) -> list[RunItem]:
        """Return one item as each way measured it, in the order in which they were stored."""
        query = select(RunItemRow).where(RunItemRow.run_id == run_id, RunItemRow.key == key).order_by(RunItemRow.id)
        with self._database.session() as session:
            return [_item(row) for row in session.scalars(query)]

    def finish(self, run_id: str) -> RunInfo:
        with self._database.session() as session:
            row = _existing(session, run_id)
            row.state, row.ended_at = DONE, now()
        return self.run(run_id)

    def set_notes(self, run_id: str, notes: Sequence[str]) -> None:
        """Replace the notes that readers of the figures need."""
        self._set_about(run_id, "notes", as_json(notes))

    def set_num_expected(self, run_id: str, num_items: int) -> None:
        """Set how many items the finished run has."""
        self._set_about(run_id, EXPECTED, num_items)

    def _set_about(self, run_id: str, name: str, value: Any) -> None:
        with self._database.session() as session:
            row = _existing(session, run_id)
            others = {key: other for key, other in row.about.items() if key != name}
            row.about = {**others, **({name: value} if value else {})}

    def lock(self, run_id: str) -> AbstractContextManager[None]:
        """Lock a run while the block measures it; raise InUseError if a process of this machine measures it."""
        return self._locks.lock(run_id) if self._locks else nullcontext()

    def measuring_process(self, run_id: str) -> int | None:
        """Return the process of this machine that measures the run now; None if there is none."""
        return self._locks.holder(run_id) if self._locks else None

    def last_run_of(self, process: int) -> str:
        """Return the id of the run that a process of this machine measured last; empty if there is none."""
        return self._locks.last_run_of(process) if self._locks else ""

    def run(self, name: str) -> RunInfo:
        """Return a run by its id or the start of it if only one matches; `last` is the newest."""
        query = _with_counts().limit(2)
        query = query.limit(1) if name == NEWEST else query.where(RunRow.id.startswith(name, autoescape=True))
        with self._database.session() as session:
            runs = [_info(row, num) for row, num in session.execute(query)] if name else []
        if len(runs) == 1:
            return runs[0]
        raise NotFoundError(self._no_single_run(name, runs))

    def list(self, limit: int = 100) -> list[RunInfo]:
        """Return the newest runs first."""
        with self._database.session() as session:
            return [_info(row, num) for row, num in session.execute(_with_counts().limit(limit))]

    def import_run(self, run: RunInfo, items: Iterable[RunItem]) -> None:
        """Store a run that was measured elsewhere, with its items and under its own id."""
        rows = {(item.way, item.key): _row(run.id, item) for item in items}
        plain = {"settings": as_json(run.settings), "about": as_json(run.about), "judge": run.judge}
        times = {"started_at": run.started_at, "ended_at": run.ended_at}
        with self._database.session() as session:
            if session.get(RunRow, run.id) is not None:
                raise StoreError(f"run {run.id} exists already: propcite runs remove {run.id} makes room for it")
            session.add(RunRow(id=run.id, kind=run.kind, name=run.name, state=run.state, **plain, **times))
            session.flush()
            if rows:
                session.execute(insert(RunItemRow), list(rows.values()))

    def remove(self, run_id: str) -> None:
        with self._database.session() as session:
            session.execute(delete(RunRow).where(RunRow.id == run_id))
        if self._locks:
            self._locks.remove(run_id)

    def _no_single_run(self, name: str, matches: Iterable[RunInfo]) -> str:
        several = [run.id for run in matches]
        if several:
            return f"several runs begin with {name!r} ({', '.join(several)}, …): give more of the id"
        ids = [run.id for run in self.list()]
        if not ids:
            return "there is no run yet: propcite eval --help shows what can be measured"
        near = get_close_matches(name, ids, n=3, cutoff=0.4) or ids[:3]
        return f"no run {name[:40]!r}; nearest: {', '.join(near)}: propcite runs list shows all"


def as_json(value: Any) -> Any:
    """Convert a value to what JSON can hold: plain numbers for numpy's, None for NaN and infinity, lists for tuples.

    >>> as_json({"a": (1, float("nan")), 5: None})
    {'a': [1, None], '5': None}
    """
    if isinstance(value, Mapping):
        return {str(name): as_json(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(inner) for inner in value]
    if hasattr(value, "item") and not isinstance(value, str | bytes):
        return as_json(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _existing(session: Session, run_id: str) -> RunRow:
    row = session.get(RunRow, run_id)
    if row is None:
        raise NotFoundError(f"run {run_id} was removed while it was measured: start it again")
    return row


def _row(run_id: str, item: RunItem) -> dict[str, Any]:
    for what, text, limit in (("way", item.way, MAX_WAY_LENGTH), ("id", item.key, MAX_KEY_LENGTH)):
        if not text or len(text) > limit or "\0" in text or not _is_utf8(text):
            raise StoreError(f"an item's {what} cannot be {text[:40]!r}: give 1 to {limit} characters of text")
    values = {name: as_json(getattr(item, name)) for name in ("measures", "output", "cost")}
    values["cost"] = {name: value for name, value in values["cost"].items() if value is not None}
    return {"run_id": run_id, "way": item.way, "key": item.key, **values}


def _item(row: RunItemRow) -> RunItem:
    return RunItem(row.key, row.way, row.measures, row.output, row.cost)


def _is_utf8(text: str) -> bool:
    return text.encode(errors="replace").decode() == text


def _with_counts() -> Select[Any]:
    counts = select(func.count()).where(RunItemRow.run_id == RunRow.id).scalar_subquery()
    return select(RunRow, counts).order_by(RunRow.started_at.desc(), RunRow.id)


def _info(row: RunRow, num_items: int) -> RunInfo:
    ended = aware(row.ended_at) if row.ended_at else None
    about = (row.settings, row.about, row.judge, aware(row.started_at), ended)
    return RunInfo(row.id, row.kind, row.name, row.state, *about, num_items)
