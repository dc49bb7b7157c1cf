"""Evaluation runs: each is one measurement, kept item by item as soon as an item is done."""

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

from sqlalchemy import Engine, Select, delete, func, insert, select
from sqlalchemy.orm import Session

from propcite.app.errors import NotFoundError, StoreError
from propcite.app.library.store.database import aware, told
from propcite.app.library.store.holding import Holding
from propcite.app.library.store.tables import RunItemRow, RunRow, now

UNFINISHED, DONE = "unfinished", "done"
NEWEST = "last"
EXPECTED = "items_expected"  # in `about`: how many items the run has once it is done
LONGEST_WAY, LONGEST_KEY = 200, 500
PAGE = 200  # items read at once


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What is known of a run.  `settings` is all that changes a figure, `about` what else was so when it ran."""

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
        """How many items it has once it is done; 0 where that is not known."""
        found = self.about.get(EXPECTED)
        return found if isinstance(found, int) else 0


@dataclass(frozen=True, slots=True)
class RunItem:
    """One item of a file, measured by one way; a measure is None where this item does not allow it."""

    key: str
    way: str
    measures: Mapping[str, float | None]
    output: Mapping[str, Any] = field(default_factory=dict)
    cost: Mapping[str, float] = field(default_factory=dict)


class Runs:
    """The runs of one database.  Every method is one transaction.

    `folder` is where processes of this machine tell which run they measure; without it nobody is told.
    """

    def __init__(self, engine: Engine, url: str, folder: Path | None = None) -> None:
        self._engine = engine
        self._url = url
        self._holding = Holding(folder) if folder else None

    def start(
        self, kind: str, name: str, settings: Mapping[str, Any], about: Mapping[str, Any], judge: str = ""
    ) -> RunInfo:
        id_ = secrets.token_hex(6)
        plain = {"settings": as_json(settings), "about": as_json(about)}
        with told(self._url), Session(self._engine) as session, session.begin():
            row = RunRow(id=id_, kind=kind, name=name, state=UNFINISHED, judge=judge, started_at=now(), **plain)
            session.add(row)
            session.flush()
            return _info(row, 0)

    def of(self, kind: str, name: str) -> list[RunInfo]:
        """The runs of one kind over what has this name, the newest first."""
        query = _with_counts().where(RunRow.kind == kind, RunRow.name == name)
        with told(self._url), Session(self._engine) as session:
            return [_info(row, num) for row, num in session.execute(query)]

    def add(self, run_id: str, items: Iterable[RunItem]) -> None:
        """Keep items; an item that the run has already from the same way is replaced."""
        rows = {(item.way, item.key): _row(run_id, item) for item in items}
        with told(self._url), Session(self._engine) as session, session.begin():
            _there(session, run_id)
            for way, key in rows:
                same = (RunItemRow.run_id == run_id, RunItemRow.way == way, RunItemRow.key == key)
                session.execute(delete(RunItemRow).where(*same))
            if rows:
                session.execute(insert(RunItemRow), list(rows.values()))

    def known(self, run_id: str) -> set[tuple[str, str]]:
        """The way and key of each item that is done."""
        query = select(RunItemRow.way, RunItemRow.key).where(RunItemRow.run_id == run_id)
        with told(self._url), Session(self._engine) as session:
            return {(way, key) for way, key in session.execute(query)}

    def items(self, run_id: str, way: str = "") -> Iterator[RunItem]:
        """All items in the order in which they were done, or those of one way."""
        query = select(RunItemRow).where(RunItemRow.run_id == run_id).order_by(RunItemRow.id).limit(PAGE)
        if way:
            query = query.where(RunItemRow.way == way)
        last: int | None = -1
        while last is not None:
            with told(self._url), Session(self._engine) as session:
                rows = list(session.scalars(query.where(RunItemRow.id > last)))
            yield from map(_item, rows)
            last = rows[-1].id if rows else None

    def item(self, run_id: str, key: str) -> list[RunItem]:
        """What every way made of one item, in the order in which they did."""
        query = select(RunItemRow).where(RunItemRow.run_id == run_id, RunItemRow.key == key).order_by(RunItemRow.id)
        with told(self._url), Session(self._engine) as session:
            return [_item(row) for row in session.scalars(query)]

    def finish(self, run_id: str) -> RunInfo:
        with told(self._url), Session(self._engine) as session, session.begin():
            row = _there(session, run_id)
            row.state, row.ended_at = DONE, now()
        return self.run(run_id)

    def note(self, run_id: str, notes: Sequence[str]) -> None:
        """What a reader of the figures must know, in place of what stood there."""
        self._tell(run_id, "notes", as_json(notes))

    def expect(self, run_id: str, num_items: int) -> None:
        """How many items the run has once it is done."""
        self._tell(run_id, EXPECTED, num_items)

    def _tell(self, run_id: str, name: str, value: Any) -> None:
        with told(self._url), Session(self._engine) as session, session.begin():
            row = _there(session, run_id)
            others = {known: told for known, told in row.about.items() if known != name}
            row.about = {**others, **({name: value} if value else {})}

    def measuring(self, run_id: str) -> AbstractContextManager[None]:
        """While the block runs this process measures the run; a second one on this machine is refused."""
        return self._holding.held(run_id) if self._holding else nullcontext()

    def measured_by(self, run_id: str) -> int | None:
        """The process of this machine that measures the run now; None where nobody does."""
        return self._holding.holder(run_id) if self._holding else None

    def begun_by(self, process: int) -> str:
        """The id of the run that a process of this machine measured last; empty where there is none."""
        return self._holding.begun_by(process) if self._holding else ""

    def run(self, name: str) -> RunInfo:
        """A run by its id or a beginning of it that only one has; `last` is the newest."""
        query = _with_counts().limit(2)
        query = query.limit(1) if name == NEWEST else query.where(RunRow.id.startswith(name, autoescape=True))
        with told(self._url), Session(self._engine) as session:
            found = [_info(row, num) for row, num in session.execute(query)] if name else []
        if len(found) == 1:
            return found[0]
        raise NotFoundError(self._not_one(name, found))

    def list(self, limit: int = 100) -> list[RunInfo]:
        """The newest first."""
        with told(self._url), Session(self._engine) as session:
            return [_info(row, num) for row, num in session.execute(_with_counts().limit(limit))]

    def keep(self, run: RunInfo, items: Iterable[RunItem]) -> None:
        """A run that was measured elsewhere, whole and under its own id."""
        rows = {(item.way, item.key): _row(run.id, item) for item in items}
        plain = {"settings": as_json(run.settings), "about": as_json(run.about), "judge": run.judge}
        times = {"started_at": run.started_at, "ended_at": run.ended_at}
        with told(self._url), Session(self._engine) as session, session.begin():
            if session.get(RunRow, run.id) is not None:
                raise StoreError(f"run {run.id} is here already: propcite runs remove {run.id} makes room for it")
            session.add(RunRow(id=run.id, kind=run.kind, name=run.name, state=run.state, **plain, **times))
            session.flush()
            if rows:
                session.execute(insert(RunItemRow), list(rows.values()))

    def remove(self, run_id: str) -> None:
        with told(self._url), Session(self._engine) as session, session.begin():
            session.execute(delete(RunRow).where(RunRow.id == run_id))
        if self._holding:
            self._holding.forget(run_id)

    def _not_one(self, name: str, found: Iterable[RunInfo]) -> str:
        several = [run.id for run in found]
        if several:
            return f"several runs begin with {name!r} ({', '.join(several)}, …): give more of the id"
        ids = [run.id for run in self.list()]
        if not ids:
            return "there is no run yet: propcite eval --help shows what can be measured"
        near = get_close_matches(name, ids, n=3, cutoff=0.4) or ids[:3]
        return f"no run {name[:40]!r}; nearest: {', '.join(near)}: propcite runs list shows all"


def as_json(value: Any) -> Any:
    """A value as JSON keeps it: numpy's numbers plain, no NaN and no infinity, lists for tuples.

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


def _there(session: Session, run_id: str) -> RunRow:
    row = session.get(RunRow, run_id)
    if row is None:
        raise NotFoundError(f"run {run_id} was removed while it was measured: start it again")
    return row


def _row(run_id: str, item: RunItem) -> dict[str, Any]:
    for what, text, longest in (("way", item.way, LONGEST_WAY), ("id", item.key, LONGEST_KEY)):
        if not text or len(text) > longest or "\0" in text or not _is_utf8(text):
            raise StoreError(f"an item's {what} cannot be {text[:40]!r}: give 1 to {longest} characters of text")
    kept = {name: as_json(getattr(item, name)) for name in ("measures", "output", "cost")}
    kept["cost"] = {name: value for name, value in kept["cost"].items() if value is not None}
    return {"run_id": run_id, "way": item.way, "key": item.key, **kept}


def _item(row: RunItemRow) -> RunItem:
    return RunItem(row.key, row.way, row.measures, row.output, row.cost)


def _is_utf8(text: str) -> bool:
    return text.encode(errors="replace").decode() == text


def _with_counts() -> Select[Any]:
    counted = select(func.count()).where(RunItemRow.run_id == RunRow.id).scalar_subquery()
    return select(RunRow, counted).order_by(RunRow.started_at.desc(), RunRow.id)


def _info(row: RunRow, num_items: int) -> RunInfo:
    ended = aware(row.ended_at) if row.ended_at else None
    about = (row.settings, row.about, row.judge, aware(row.started_at), ended)
    return RunInfo(row.id, row.kind, row.name, row.state, *about, num_items)
