"""Check whether everything the library stores fits together, and repair what can be repaired."""

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

from sqlalchemy import inspect, select
from sqlalchemy.orm import selectinload

from propcite.app.errors import InUseError, StoreError
from propcite.app.library.finding import Finding
from propcite.app.library.lost_originals import lost_originals
from propcite.app.library.store import CollectionInfo
from propcite.app.library.store.answers import citation_fields, count_facts, search_text, write_index_columns
from propcite.app.library.store.database import HEAD, version_of
from propcite.app.library.store.tables import AnswerRow, RunRow, Table
from propcite.app.library.workspace import REBUILDING
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats.json import from_json
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.index import ProgressReport, ignore_progress
from propcite.retrieval.sharding.folder import leftover_files
from propcite.retrieval.sharding.resharding import WORK

if TYPE_CHECKING:
    from propcite.app.library.workspace import Workspace
    from propcite.app.parts import Parts

MIN_FREE_BYTES = 1 << 30
HOUR_S = 3600.0
ANSWERS_PER_QUERY = 200


@dataclass(frozen=True, slots=True)
class Doctor:
    """Checks a library and its data directory, or only some collections."""

    parts: Parts
    collections: Sequence[CollectionInfo] = ()
    deep: bool = True  # read every byte of the indexes, and every answer
    progress: ProgressReport = ignore_progress
    backup: Path | None = None  # from which lost files are restored

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
            if (revision := version_of(connection)) != HEAD:
                yield Finding("database", f"its schema is {revision}, not {HEAD}", "update PropCite and open it again")
            missing = set(Table.metadata.tables) - set(inspect(connection).get_table_names())
        if missing:
            yield Finding("database", f"lacks {', '.join(sorted(missing))}", "propcite restore a backup")
        if engine.dialect.name == "sqlite":
            yield from self._sqlite()

    def _sqlite(self) -> Iterator[Finding]:
        check = "PRAGMA integrity_check(20)" if self.deep else "PRAGMA quick_check(20)"
        try:
            faults = [row[0] for row in self._sql(check) if row[0] != "ok"]
            orphans = self._sql("PRAGMA foreign_key_check")
        except StoreError as error:
            yield Finding("database", str(error), "propcite restore a backup")
            return
        only_indexes = all("index" in fault for fault in faults)
        remedy = "--mend rebuilds its indexes" if only_indexes else "propcite backup what can be read, then restore it"
        fix = (lambda: self._sql("REINDEX")) if only_indexes else None
        for fault in faults:
            yield Finding("database", " ".join(fault.split()), remedy, fix)
        for table in sorted({row[0] for row in orphans}):
            ids = [row[1] for row in orphans if row[0] == table]
            what = f"{len(ids)} rows of {table} refer to rows that do not exist"
            yield Finding("database", what, "--mend removes them", self._delete_rows(table, ids))

    def _sql(self, statement: str) -> Sequence[Any]:
        with self.parts.library.session() as session:
            result = session.connection().exec_driver_sql(statement)
            return result.all() if result.returns_rows else ()

    def _delete_rows(self, table: str, rows: Sequence[int]) -> Callable[[], object]:
        def fix() -> None:
            with self.parts.library.session() as session:
                session.connection().exec_driver_sql(f'DELETE FROM "{table}" WHERE rowid = ?', [(row,) for row in rows])

        return fix

    # The indexes

    def _index(self, info: CollectionInfo) -> Iterator[Finding]:
        workspace = self.parts.workspace(info, self.progress)
        if not workspace.folder.exists() and not info.num_passages:
            return
        where, option = f"collection {info.name}", f"-c {shlex.quote(info.name)}"
        try:
            with workspace.write_lock():  # no other process changes it meanwhile
                faults = workspace.faults() if self.deep else workspace.differences()
                leftovers = _leftovers(workspace.folder)
        except InUseError:
            yield Finding(where, "is being changed by another process", "check again when it is done")
            return
        for number, fault in enumerate(faults):
            # The first repair solves all; the others have nothing left to do.
            fix = _nothing if number else lambda: workspace.repair(lambda: self.parts.encoder)
            yield Finding(where, fault, f"propcite index check --repair {option}, or --mend", fix)
        if leftovers:
            size = sum(path.stat().st_size for path in leftovers) / 2**20
            what = f"a stopped writer left {len(leftovers)} files ({size:.1f} MB)"
            yield Finding(where, what, "--mend removes them", lambda: _clean(workspace))

    # The answers

    def _answers(self, collections: Sequence[int]) -> Iterator[Finding]:
        library = self.parts.library
        with library.session() as session:
            ids = list(session.scalars(select(AnswerRow.id).where(AnswerRow.collection_id.in_(collections))))
        for first in range(0, len(ids), ANSWERS_PER_QUERY):
            query = select(AnswerRow).where(AnswerRow.id.in_(ids[first : first + ANSWERS_PER_QUERY]))
            with library.session() as session:
                for row in session.scalars(query.options(selectinload(AnswerRow.citations))):
                    yield from self._answer(row)
            self.progress("reading answers", min(1.0, (first + ANSWERS_PER_QUERY) / len(ids)))

    def _answer(self, row: AnswerRow) -> Iterator[Finding]:
        id_ = row.id
        try:
            answer = from_json(row.body)
        except AttributionError as error:
            what = f"cannot be read ({str(error)[:120]})"
            yield Finding(f"answer {id_}", what, "restore it from a backup")
            return
        stored = sorted((c.passage_id, c.start, c.end, c.document_id) for c in row.citations)
        cited = sorted((c["passage_id"], c["start"], c["end"], c["document_id"]) for c in citation_fields(answer))
        columns = (row.num_facts, row.num_cited, row.num_contradicted, row.after, row.words)
        if stored != cited or columns != (*count_facts(answer), answer.after, search_text(answer)):
            what = "its index columns differ from its content"
            yield Finding(f"answer {id_}", what, "--mend writes them again", lambda: self._write_columns(id_))

    def _write_columns(self, answer_id: str) -> None:
        with self.parts.library.session() as session:
            row = session.get_one(AnswerRow, answer_id)
            write_index_columns(session, row, from_json(row.body))

    # The data directory

    def _folders(self, collections: set[int]) -> Iterator[Finding]:
        data_dir = self.parts.settings.data_dir
        folders = [path for path in data_dir.glob("indexes/*") if path.is_dir()]
        foreign = [path for path in folders if path.name not in {str(id_) for id_ in collections}]
        ours = len(foreign) < len(folders)  # otherwise they are most likely those of another database
        for path in foreign:
            remedy = "--mend removes it" if ours else "remove it by hand if no other database uses it"
            yield Finding(str(path), "is the index of no collection", remedy, _removal(path) if ours else None)
        for path in [*data_dir.glob(".backup-*"), *data_dir.glob(".restore-*")]:
            if _is_old(path):
                yield Finding(str(path), "was left by a stopped backup", "--mend removes it", _removal(path))
        yield from self._uploads()
        yield from self._originals()
        yield from self._locks(data_dir / "runs")

    def _uploads(self) -> Iterator[Finding]:
        files = self.parts.uploaded_files
        for path in filter(files.is_of_former, files.folder.glob("*")):
            yield Finding(str(path), "holds documents that a former version accepted", "propcite serve reads them")
        for path in files.left(self.parts.jobs.unfinished()):
            yield Finding(str(path), "was left by a stopped server", "--mend removes it", _removal(path))
        if waiting := self.parts.jobs.num_forsaken():
            yield Finding("uploads", f"{waiting} jobs wait to be read", "propcite serve or propcite worker reads them")

    def _originals(self) -> Iterator[Finding]:
        originals = self.parts.originals
        if unused := originals.unused(older_than_s=HOUR_S):
            what = f"{len(unused)} stored files of documents that are gone"
            yield Finding(str(originals.folder), what, "--mend removes them", lambda: originals.remove_unused(unused))
        if self.deep:
            yield from lost_originals(originals, self.backup)

    def _locks(self, folder: Path) -> Iterator[Finding]:
        with self.parts.library.session() as session:
            run_ids = set(session.scalars(select(RunRow.id)))
        unused = [p for pattern in ("*.lock", "*.process") for p in folder.glob(pattern) if p.stem not in run_ids]
        if unused:
            what = f"{len(unused)} lock files of runs that were removed"
            yield Finding(str(folder), what, "--mend removes them", lambda: _unlink(unused))

    def _disk(self) -> Iterator[Finding]:
        data_dir = self.parts.settings.data_dir
        free = shutil.disk_usage(data_dir if data_dir.exists() else data_dir.anchor or ".").free
        if free < MIN_FREE_BYTES:
            what = f"{free / 2**20:,.0f} MB are free"
            yield Finding(f"disk of {data_dir}", what, "free space: rebuilding an index needs its size again")

    def _models(self) -> Iterator[Finding]:
        from propcite.app.ingest.ocr.choosing import available, way_to_read
        from propcite.attribution import propositions
        from propcite.attribution.judges import reader_files
        from propcite.attribution.questions.files import QUESTIONS
        from propcite.retrieval.encoding import bundled

        settings = self.parts.settings
        checks: list[Callable[[], object]] = [bundled.bundled_model]  # compares its checksum
        checks += [partial(bundled.check_trained, path) for path in (bundled.QUERIES_FILE, bundled.PASSAGES_FILE)]
        checks.append(partial(reader_files.check_over, propositions.SPLITTER_WEIGHTS))
        checks.append(partial(reader_files.check, reader_files.READER))
        checks.append(partial(reader_files.check_over, QUESTIONS))
        for check in checks:
            try:
                check()
            except (PropCiteError, OSError) as error:
                yield Finding("models", str(error), "install PropCite again")
        if settings.ocr not in ("auto", "off") and not available(settings.ocr):
            yield Finding("settings", f"ocr is {settings.ocr}, which is not installed", way_to_read(settings.ocr))
        for name in ("encoder", "judge_model", "splitter_model", "question_model"):
            model = str(getattr(settings, name))
            if model.startswith(("/", "./", "~")) and not Path(model).expanduser().exists():
                yield Finding("settings", f"{name} is {model}, which does not exist", f"set PROPCITE_{name.upper()}")


def _is_old(path: Path) -> bool:
    """Return whether the file is too old for a running process to be about to use it."""
    return time.time() - path.stat().st_mtime > HOUR_S


def _nothing() -> None:
    """Do nothing."""


def _leftovers(folder: Path) -> list[Path]:
    """Return files that a readable manifest does not name; a damaged manifest is repaired first."""
    half_built = [path for name in (REBUILDING, WORK) for path in (folder / name).rglob("*") if path.is_file()]
    with suppress(PropCiteError):
        return half_built + leftover_files(folder)
    return half_built


def _clean(workspace: Workspace) -> None:
    with workspace.write_lock():
        _unlink(_leftovers(workspace.folder))


def _unlink(paths: Sequence[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _removal(path: Path) -> Callable[[], object]:
    return lambda: shutil.rmtree(path)


def mend(findings: Sequence[Finding]) -> tuple[list[Finding], list[Finding]]:
    """Run every fix; return what was repaired, and what is left with the reason if its fix failed."""
    done, left = [], []
    for finding in findings:
        if finding.fix is None:
            left.append(finding)
            continue
        try:
            finding.fix()
            done.append(finding)
        except (PropCiteError, OSError) as error:
            left.append(Finding(finding.where, finding.what, f"{finding.remedy} (tried: {error})"))
    return done, left
