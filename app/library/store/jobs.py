"""The queue of jobs that read documents: any process accepts, follows and cancels them, one worker at a time has each.

A worker gives a sign of each of its jobs about once a second, with what is new of it.  A job whose worker fell silent
goes to another, which leaves out the sources that have an outcome.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import delete, func, null, or_, select, update
from sqlalchemy.orm import Session, aliased

from propcite.app.errors import CollidedError, NotFoundError
from propcite.app.ingest.outcomes import Outcome, Progress
from propcite.app.library.jobs import Fetched, Job, News
from propcite.app.library.records import CollectionInfo, ResultPage
from propcite.app.library.store.database import Database
from propcite.app.library.store.tables import CollectionRow, JobOutcomeRow, JobRow, now

SILENT = timedelta(seconds=15)  # after which the worker that has a job is taken for gone
MAX_JOBS = 1000  # that wait or are read, and that are kept after their end
OF_ONE = MAX_JOBS // 4  # that wait or are read, of one sender
KEPT = timedelta(days=7)  # after its end
TRIES = 3  # when another worker takes a job of the same collection at the same moment
CANCELLED = "cancelled: what was read until then stays"
_OUTCOME = TypeAdapter(Outcome)


class Jobs:
    """The jobs of one database.  Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # For whoever asks

    def accept(
        self,
        id_: str,
        collection: CollectionInfo,
        files: Sequence[str],
        sources: Sequence[str] = (),
        *,
        again: bool = False,
        to_fetch: bool = False,
        by: str = "",
        on_page: bool = False,
    ) -> Job:
        """Keep a job, which a worker takes; forget those that ended long ago."""
        about = {"files": list(files), "sources": list(sources), "again": again, "by": by, "on_page": on_page}
        with self._database.session() as session:
            _forget_old(session)
            if session.get(CollectionRow, collection.id) is None:
                raise NotFoundError(f"the collection {collection.name!r} was deleted meanwhile: choose another")
            row = JobRow(id=id_, collection_id=collection.id, fetched=None if to_fetch else [], **about)
            session.add(row)
            session.flush()
            return _job(row, collection.name)

    def find(self, id_: str) -> Job | None:
        with self._database.session() as session:
            found = session.execute(_query().where(JobRow.id == id_)).first()
            return _job(*found) if found else None

    def of_collection(self, name: str) -> list[Job]:
        """Return the jobs of a collection that have not ended or that the page lists still, the oldest first."""
        shown = or_(JobRow.ended_at.is_(None), JobRow.on_page)
        with self._database.session() as session:
            found = session.execute(_query().where(CollectionRow.name == name, shown).order_by(JobRow.id))
            return [_job(*one) for one in found]

    def listed(self, collection: CollectionInfo, first: int, limit: int) -> ResultPage[Job]:
        """Return the jobs of a collection, the newest first, those that ended in the last days too."""
        mine = JobRow.collection_id == collection.id
        with self._database.session() as session:
            found = session.execute(_query().where(mine).order_by(JobRow.id.desc()).offset(first).limit(limit))
            total = session.scalar(select(func.count()).select_from(JobRow).where(mine))
            return ResultPage([_job(*one) for one in found], total or 0)

    def outcomes(self, id_: str) -> list[Outcome]:
        """Return what became of the sources of a job that were read, in their order."""
        query = select(JobOutcomeRow.body).where(JobOutcomeRow.job_id == id_).order_by(JobOutcomeRow.id)
        with self._database.session() as session:
            return [_OUTCOME.validate_python(body) for body in session.scalars(query)]

    def unfinished(self) -> list[str]:
        """Return the ids of the jobs that have not ended."""
        with self._database.session() as session:
            return list(session.scalars(select(JobRow.id).where(JobRow.ended_at.is_(None))))

    def num_unfinished(self, by: str | None = None) -> int:
        """Return how many jobs have not ended: all, or those of one sender."""
        query = select(func.count()).select_from(JobRow).where(JobRow.ended_at.is_(None))
        with self._database.session() as session:
            return session.scalar(query if by is None else query.where(JobRow.by == by)) or 0

    def num_forsaken(self) -> int:
        """Return how many jobs wait while no worker gives a sign."""
        with self._database.session() as session:
            at = _now(session)
            if session.scalar(select(JobRow.id).where(JobRow.ended_at.is_(None), JobRow.seen_at > at - SILENT)):
                return 0
            waiting = JobRow.ended_at.is_(None), JobRow.accepted_at < at - SILENT
            return session.scalar(select(func.count()).select_from(JobRow).where(*waiting)) or 0

    def cancel(self, id_: str) -> bool:
        """End a job after the document in work, and one that waits at once; return whether it has ended."""
        with self._writing() as session:
            row = session.get(JobRow, id_, with_for_update=True)
            if row is not None and row.ended_at is None:
                row.cancelled = True
                if row.state == "waiting":
                    _end(row, CANCELLED)
            return row is not None and row.ended_at is not None

    def put_away(self, id_: str) -> None:
        """List a job on the page no more once it has ended."""
        with self._database.session() as session:
            session.execute(update(JobRow).where(JobRow.id == id_).values(on_page=False))

    # For workers

    def take(self, worker: str, *, to_fetch: bool = False) -> Job | None:
        """Give a worker the next job to fetch the addresses of, or to read; None if there is none."""
        for _ in range(TRIES):
            with self._database.session() as session:
                if session.scalar(self._takeable(_now(session), to_fetch)) is None:
                    return None
            with suppress(CollidedError), self._writing() as session:
                at = _now(session)
                query = self._takeable(at, to_fetch).with_for_update(skip_locked=True, of=JobRow)
                row = session.get(JobRow, session.scalar(query) or "")
                if row is None:
                    return None
                row.worker, row.seen_at = worker, at
                row.state = row.state if to_fetch else "reading"
                session.flush()
                return _job(row, session.get_one(CollectionRow, row.collection_id).name)
        return None

    @staticmethod
    def _takeable(at: datetime, to_fetch: bool) -> Any:
        """Return a query of the next job's id: of the collection of which none was read for the longest time."""
        query = select(JobRow.id).where(
            JobRow.ended_at.is_(None), or_(JobRow.seen_at.is_(None), JobRow.seen_at < at - SILENT)
        )
        if to_fetch:
            return query.where(JobRow.fetched.is_(null())).order_by(JobRow.id).limit(1)
        other = aliased(JobRow)
        same = other.collection_id == JobRow.collection_id
        is_read = select(other.id).where(same, other.state == "reading", other.id != JobRow.id).exists()
        last = select(func.max(other.ended_at)).where(same).scalar_subquery()
        query = query.where(JobRow.fetched.is_not(null()), ~is_read)
        return query.order_by(last.nulls_first(), JobRow.id).limit(1)

    def sign(self, worker: str, news: Mapping[str, News]) -> dict[str, bool]:
        """Say that a worker goes on with its jobs, and store their news; return those it has: if they are cancelled."""
        has = {}
        with self._writing() as session:
            at = _now(session)
            for id_, one in news.items():
                if row := _own(session, worker, id_):
                    _note(session, row, one)
                    row.seen_at, has[id_] = at, row.cancelled
        return has

    def note_fetched(self, worker: str, id_: str, fetched: Sequence[Fetched]) -> None:
        """Keep what became of a job's addresses; any worker may take it then."""
        with self._writing() as session:
            if row := _own(session, worker, id_):
                row.fetched, row.seen_at = [[one.name, one.reason] for one in fetched], None

    def end(self, worker: str, id_: str, reason: str, news: News) -> bool:
        """Keep that a job ended, and why it failed if it did; return whether it was the worker's."""
        with self._writing() as session:
            row = _own(session, worker, id_)
            if row:
                _note(session, row, news)
                _end(row, reason)
            return row is not None

    def let_go(self, worker: str, *, keep: Collection[str] = (), news: Mapping[str, News] | None = None) -> None:
        """Let others take the jobs that have news, or all of the worker's but some, at once."""
        with self._writing() as session:
            mine = JobRow.worker == worker, JobRow.ended_at.is_(None), JobRow.id.not_in(keep)
            for id_ in list(session.scalars(select(JobRow.id).where(*mine))) if news is None else news:
                if row := _own(session, worker, id_):
                    _note(session, row, news[id_] if news else News(before=row.done))
                    row.state, row.seen_at = "waiting", None

    @contextmanager
    def _writing(self) -> Iterator[Session]:
        """Open a transaction whose reads stay true until it writes."""
        with self._database.session() as session:
            if self._database.engine.dialect.name == "sqlite":
                session.connection().exec_driver_sql("BEGIN IMMEDIATE")
            yield session


def _now(session: Session) -> datetime:
    """Return the time by the database's clock: those of workers on several machines may be apart."""
    if session.get_bind().dialect.name == "sqlite":
        return now()
    return session.scalar(select(func.clock_timestamp())) or now()


def _query() -> Any:
    return select(JobRow, CollectionRow.name).join(CollectionRow, CollectionRow.id == JobRow.collection_id)


def _own(session: Session, worker: str, id_: str) -> JobRow | None:
    """Return a job that the worker has; None if it has ended or another has it."""
    row = session.get(JobRow, id_, with_for_update=True)
    return row if row and row.worker == worker and row.seen_at and not row.ended_at else None


def _note(session: Session, row: JobRow, news: News) -> None:
    new = news.outcomes[row.done - news.before :]
    session.add_all(JobOutcomeRow(job_id=row.id, body=_OUTCOME.dump_python(one, mode="json")) for one in new)
    row.done += len(new)
    if news.progress:
        row.progress = asdict(news.progress)


def _end(row: JobRow, reason: str) -> None:
    row.state, row.reason, row.ended_at = "failed" if reason else "done", reason, now()


def _forget_old(session: Session) -> None:
    ended = JobRow.ended_at.is_not(None)
    newest = select(JobRow.id).where(ended).order_by(JobRow.id.desc()).limit(MAX_JOBS)
    session.execute(delete(JobRow).where(ended, or_(JobRow.ended_at < now() - KEPT, JobRow.id.not_in(newest))))


def _job(row: JobRow, collection: str) -> Job:
    state: Any = row.state
    return Job(
        row.id,
        collection,
        tuple(row.files),
        tuple(row.sources),
        row.again,
        state,
        row.reason,
        row.done or 0,
        Progress(**row.progress) if row.progress else None,
        tuple(Fetched(*one) for one in row.fetched) if row.fetched is not None else None,
        row.cancelled,
        row.by,
    )
