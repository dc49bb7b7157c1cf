"""Whether everything that is kept fits together, what mends it where not, and the mending."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout
from sqlalchemy import inspect, select
from sqlalchemy.orm import selectinload

from propcite.app.errors import InUseError, StoreError
from propcite.app.library.store import CollectionInfo
from propcite.app.library.store.answers import cited_words, counted, words_of, write_facts
from propcite.app.library.store.database import HEAD, version_of
from propcite.app.library.store.tables import AnswerRow, RunRow, Table
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats.json import from_json
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.index import Told, nobody
from propcite.retrieval.index.manifest import FILE
from propcite.retrieval.index.snapshot import unnamed_files

if TYPE_CHECKING:
    from propcite.app.library.workspace import Workspace
    from propcite.app.parts import Parts

LEAST_FREE = 1 << 30
HOUR_S = 3600.0
AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be; `mend` says in words what mends it, `fix` does it where it can be done."""

    where: str
    what: str
    mend: str
    fix: Callable[[], object] | None = None

    @property
    def line(self) -> str:
        return f"{self.where}: {self.what}: {self.mend}"


@dataclass(frozen=True, slots=True)
class Doctor:
    """Looks at a library and at its data directory; at some collections alone where these are given."""

    parts: Parts
    collections: Sequence[CollectionInfo] = ()
    deep: bool = True  # every byte of an index and every answer is read
    told: Told = nobody

    def findings(self) -> Iterator[Finding]:
        chosen = self.collections or self.parts.library.collections()
        if not self.collections:
            yield from self._database()
        for info in chosen:
            yield from self._index(info)
        if self.deep:
            yield from self._answers([info.id for info in chosen])
        if not self.collections:
            yield from self._folders({info.id for info in chosen})
            yield from self._disk()
            yield from self._models()

    # The database

    def _database(self) -> Iterator[Finding]:
        engine = self.parts.library.engine
        with engine.connect() as connection:
            if (found := version_of(connection)) != HEAD:
                yield Finding("database", f"its schema is {found}, not {HEAD}", "update PropCite and open it again")
            missing = set(Table.metadata.tables) - set(inspect(connection).get_table_names())
        if missing:
            yield Finding("database", f"lacks {', '.join(sorted(missing))}", "propcite restore a backup")
        if engine.dialect.name == "sqlite":
            yield from self._sqlite()

    def _sqlite(self) -> Iterator[Finding]:
        whole = "PRAGMA integrity_check(20)" if self.deep else "PRAGMA quick_check(20)"
        try:
            faults = [row[0] for row in self._sql(whole) if row[0] != "ok"]
            orphans = self._sql("PRAGMA foreign_key_check")
        except StoreError as error:
            yield Finding("database", str(error), "propcite restore a backup")
            return
        derived = all("index" in fault for fault in faults)
        for fault in faults:
            mend = "--mend makes its indexes anew" if derived else "propcite backup what can be read, then restore it"
            yield Finding(
                "database", " ".join(fault.split()), mend, (lambda: self._sql("REINDEX")) if derived else None
            )
        for table in sorted({row[0] for row in orphans}):
            ids = [row[1] for row in orphans if row[0] == table]
            what = f"{len(ids)} rows of {table} belong to nothing"
            yield Finding("database", what, "--mend removes them", self._drop(table, ids))

    def _sql(self, statement: str) -> Sequence[Any]:
        with self.parts.library.session() as session:
            found = session.connection().exec_driver_sql(statement)
            return found.all() if found.returns_rows else ()

    def _drop(self, table: str, rows: Sequence[int]) -> Callable[[], object]:
        def fix() -> None:
            with self.parts.library.session() as session:
                session.connection().exec_driver_sql(f'DELETE FROM "{table}" WHERE rowid = ?', [(row,) for row in rows])

        return fix

    # The indexes

    def _index(self, info: CollectionInfo) -> Iterator[Finding]:
        workspace = self.parts.workspace(info)
        if not workspace.folder.exists() and not info.num_passages:
            return
        workspace.told = self.told
        where, option = f"collection {info.name}", f"-c {shlex.quote(info.name)}"
        try:
            with workspace.writing():  # nobody changes it meanwhile
                faults = workspace.faults() if self.deep else workspace.differences()
                left = _left_in(workspace.folder)
        except InUseError:
            yield Finding(where, "is being changed by another process", "look again when it is done")
            return
        for number, fault in enumerate(faults):
            fix = None if number else lambda: workspace.repair(lambda: self.parts.encoder)  # the first mends all
            yield Finding(where, fault, f"propcite index check --repair {option}, or --mend", fix or _nothing)
        if left:
            size = sum(path.stat().st_size for path in left) / 2**20
            yield Finding(
                where,
                f"{len(left)} files of a stopped writer ({size:.1f} MB)",
                "--mend removes them",
                lambda: _clean(workspace),
            )

    # The answers

    def _answers(self, collections: Sequence[int]) -> Iterator[Finding]:
        library = self.parts.library
        with library.session() as session:
            ids = list(session.scalars(select(AnswerRow.id).where(AnswerRow.collection_id.in_(collections))))
        for first in range(0, len(ids), AT_ONCE):
            some = select(AnswerRow).where(AnswerRow.id.in_(ids[first : first + AT_ONCE]))
            with library.session() as session:
                for row in session.scalars(some.options(selectinload(AnswerRow.citations))):
                    yield from self._answer(row)
            self.told("reading answers", min(1.0, (first + AT_ONCE) / len(ids)))

    def _answer(self, row: AnswerRow) -> Iterator[Finding]:
        id_ = row.id
        try:
            answer = from_json(row.body)
        except AttributionError as error:
            what = f"cannot be read ({str(error)[:120]})"
            yield Finding(f"answer {id_}", what, "restore it from a backup")
            return
        kept = sorted((c.passage_id, c.start, c.end, c.document_id) for c in row.citations)
        cited = sorted((c["passage_id"], c["start"], c["end"], c["document_id"]) for c in cited_words(answer))
        noted = (row.num_facts, row.num_cited, row.num_contradicted)
        if kept != cited or counted(answer) != noted or (answer.after, words_of(answer)) != (row.after, row.words):
            what = "what is noted of it differs from what it says"
            yield Finding(f"answer {id_}", what, "--mend notes it anew", lambda: self._note(id_))

    def _note(self, answer_id: str) -> None:
        with self.parts.library.session() as session:
            row = session.get_one(AnswerRow, answer_id)
            write_facts(session, row, from_json(row.body))

    # The data directory

    def _folders(self, known: set[int]) -> Iterator[Finding]:
        data_dir = self.parts.settings.data_dir
        places = [path for path in data_dir.glob("indexes/*") if path.is_dir()]
        strange = [path for path in places if path.name not in {str(id_) for id_ in known}]
        ours = len(strange) < len(places)  # else they are most likely those of another database
        for path in strange:
            mend = "--mend removes it" if ours else "remove it by hand if no other database has it"
            yield Finding(str(path), "is the index of no collection", mend, _removing(path) if ours else None)
        for path in [*data_dir.glob(".backup-*"), *data_dir.glob(".restore-*")]:
            if _is_old(path):
                yield Finding(str(path), "was left by a stopped backup", "--mend removes it", _removing(path))
        yield from self._uploads(data_dir / "uploads")
        yield from self._originals()
        yield from self._locks(data_dir / "runs")

    def _uploads(self, folder: Path) -> Iterator[Finding]:
        for path in folder.glob("*"):
            with suppress(Timeout, OSError), FileLock(path / "server.lock", timeout=0):
                if list(path.glob("*/job.json")):
                    yield Finding(
                        str(path), "holds documents that a stopped server accepted", "propcite serve reads them"
                    )
                else:
                    yield Finding(str(path), "was left by a stopped server", "--mend removes it", _removing(path))

    def _originals(self) -> Iterator[Finding]:
        originals = self.parts.originals
        unused = {sha256 for sha256 in originals.unused() if _is_old(originals.path(sha256))}
        if unused:
            what = f"{len(unused)} kept files of documents that are gone"
            yield Finding(str(originals.folder), what, "--mend removes them", lambda: originals.forget(unused))

    def _locks(self, folder: Path) -> Iterator[Finding]:
        with self.parts.library.session() as session:
            known = set(session.scalars(select(RunRow.id)))
        left = [p for kind in ("*.lock", "*.process") for p in folder.glob(kind) if p.stem not in known]
        if left:
            what = f"{len(left)} files of runs that are no longer kept"
            yield Finding(str(folder), what, "--mend removes them", lambda: _unlink(left))

    def _disk(self) -> Iterator[Finding]:
        data_dir = self.parts.settings.data_dir
        free = shutil.disk_usage(data_dir if data_dir.exists() else data_dir.anchor or ".").free
        if free < LEAST_FREE:
            what = f"{free / 2**20:,.0f} MB are free"
            yield Finding(f"disk of {data_dir}", what, "free space: an index that is made anew needs its size again")

    def _models(self) -> Iterator[Finding]:
        from propcite.retrieval.encoding import checkpoints

        settings = self.parts.settings
        checks: list[Callable[[], object]] = [checkpoints.bundled_model]  # compares its checksum
        checks += [partial(checkpoints.check_trained, path) for path in _weights()]
        for check in checks:
            try:
                check()
            except (PropCiteError, OSError) as error:
                yield Finding("models", str(error), "install PropCite anew")
        for name in ("encoder", "judge_model", "splitter_model"):
            told = str(getattr(settings, name))
            if told.startswith(("/", "./", "~")) and not Path(told).expanduser().exists():
                yield Finding("settings", f"{name} names {told}, which is not there", f"set PROPCITE_{name.upper()}")


def _weights() -> tuple[Path, ...]:
    from propcite.attribution.judges.weights import JUDGE
    from propcite.attribution.propositions import WEIGHTS
    from propcite.retrieval.encoding.checkpoints import PASSAGES, QUERIES

    return QUERIES, PASSAGES, WEIGHTS, JUDGE


def _is_old(path: Path) -> bool:
    """Whether nobody can be about to need it: it was not made just now."""
    return time.time() - path.stat().st_mtime > HOUR_S


def _nothing() -> None:
    """What another finding's mending has done."""


def _left_in(folder: Path) -> list[Path]:
    """Only what stands beside a readable manifest: a damaged one is mended first."""
    with suppress(PropCiteError):
        return unnamed_files(folder) if (folder / FILE).exists() else []
    return []


def _clean(workspace: Workspace) -> None:
    with workspace.writing():
        _unlink(_left_in(workspace.folder))


def _unlink(paths: Sequence[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _removing(path: Path) -> Callable[[], object]:
    return lambda: shutil.rmtree(path)


def mend(findings: Sequence[Finding]) -> tuple[list[Finding], list[Finding]]:
    """Mend what can be mended.  -> what was, and what is left, with the reason where its mending failed"""
    done, left = [], []
    for finding in findings:
        if finding.fix is None:
            left.append(finding)
            continue
        try:
            finding.fix()
            done.append(finding)
        except (PropCiteError, OSError) as error:
            left.append(Finding(finding.where, finding.what, f"{finding.mend} (tried: {error})"))
    return done, left
