"""Open the database, migrate its tables, and turn its errors into one line that names the next step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import local
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    DisconnectionError,
    IntegrityError,
    NoSuchModuleError,
    OperationalError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import Session

from propcite.app.errors import CollidedError, InUseError, StoreError, UnreachableError
from propcite.retrieval.extras import install_command

HEAD = "0024"  # the newest migration; a test compares it with the scripts
WAIT_MS = 10_000  # how long a writer waits for another before it gives up
POOL_WAIT_S = 15.0  # how long a request waits for one of the connections to a database server
MIGRATION_LOCK = 0x50726F70  # PostgreSQL's advisory lock of this number is held while tables change
IDS_PER_QUERY = 500  # every database accepts this many parameters
# How long a PostgreSQL that does not answer is waited for: seconds for a connection, then for a machine that is gone.
# A URL may name others.
PATIENCE = {
    "connect_timeout": 5,
    "tcp_user_timeout": 15_000,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 2,
}


class Database:
    """An open database, and transactions over it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.engine = open_database(url)
        self._joined = local()

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open one transaction, committed when the block ends; inside `together` it is the same for all."""
        if joined := getattr(self._joined, "session", None):
            yield joined
            return
        with database_errors(self.url), Session(self.engine) as session, session.begin():
            yield session

    @contextmanager
    def together(self) -> Iterator[None]:
        """Let what this thread does in the block be one transaction."""
        with self.session() as self._joined.session:
            try:
                yield
            finally:
                self._joined.session = None


def id_batches(ids: Iterable[str]) -> Iterator[list[str]]:
    """Split ids, without repetitions, into lists that fit into one query."""
    unique = list(dict.fromkeys(ids))
    for first in range(0, len(unique), IDS_PER_QUERY):
        yield unique[first : first + IDS_PER_QUERY]


def open_database(url: str) -> Engine:
    """Return an engine whose tables are those of this version."""
    try:
        parsed = make_url(url)
        if parsed.drivername in ("postgres", "postgresql"):
            parsed = parsed.set(drivername="postgresql+psycopg")  # the driver that the extra installs
        if parsed.get_backend_name() == "sqlite" and parsed.database:
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        # pre_ping: after a restart of the database server, pooled connections are replaced.
        pool = {} if parsed.get_backend_name() == "sqlite" else {"pool_pre_ping": True, "pool_timeout": POOL_WAIT_S}
        patience = PATIENCE if parsed.drivername == "postgresql+psycopg" else {}
        given = {name: value for name, value in patience.items() if name not in parsed.query}
        engine = create_engine(parsed, connect_args=given, **pool)
    except OSError as error:
        raise StoreError(f"cannot create the data directory ({error}): set PROPCITE_DATA_DIR") from error
    except (ArgumentError, NoSuchModuleError) as error:
        raise StoreError(f"{url!r} is not a database URL: set PROPCITE_DATABASE to a SQLAlchemy URL") from error
    except ModuleNotFoundError as error:
        raise StoreError(f"the database driver {error.name} is missing: {install_command('postgres')}") from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _configure_sqlite)
    with database_errors(url):
        _migrate(engine)
    if engine.dialect.name == "sqlite" and (file := engine.url.database):
        engine.dispose()
        _watch_file(engine, Path(file))
    return engine


def aware(time: datetime) -> datetime:
    """Return the time with a time zone.  SQLite drops the zone; all times are written in UTC."""
    return time if time.tzinfo else time.replace(tzinfo=UTC)


@contextmanager
def database_errors(url: str) -> Iterator[None]:
    """Raise the database's errors as a StoreError in one line, and those of values that cannot be read."""
    try:
        yield
    except UnicodeEncodeError:  # of what a user gave
        raise
    except (ValueError, TypeError) as error:  # of a damaged file: text that is not UTF-8, JSON, a date
        reason = f"{type(error).__name__}: {str(error)[:80]}"
        raise StoreError(
            f"the database holds a value that cannot be read ({reason}): run propcite doctor, or restore a backup"
        ) from error
    except PoolTimeoutError as error:
        raise UnreachableError(
            f"the database {_place(url)} is slow or away, all connections to it are in use: try again later"
        ) from error
    except DBAPIError as error:
        reason = str(error.orig).strip().splitlines()[0]
        place = _place(url)
        if "readonly" in reason or "unable to open" in reason:
            raise StoreError(f"cannot write {place}: give it write permission, or set PROPCITE_DATA_DIR") from error
        if "not a database" in reason or "malformed" in reason:
            raise StoreError(
                f"{place} is damaged or not a PropCite database: move it away, or set PROPCITE_DATA_DIR"
            ) from error
        if "locked" in reason:
            raise InUseError(f"{place} is in use by another writer: try again later") from error
        if isinstance(error, IntegrityError) or "deadlock" in reason:
            raise CollidedError(f"another process changed {place} at the same time: try again") from error
        if "full" in reason or "disk I/O" in reason:
            raise StoreError(f"cannot enlarge {place} ({reason}): free space, or set PROPCITE_DATA_DIR") from error
        if isinstance(error, OperationalError) and not place.startswith("/"):
            raise UnreachableError(
                f"cannot reach the database {place} (it failed: {reason}): start it, or set PROPCITE_DATABASE"
            ) from error
        raise StoreError(f"the database {place} failed ({reason}): run propcite doctor") from error


def _place(url: str) -> str:
    """Return where a database is, without its password."""
    return make_url(url).render_as_string(hide_password=True).removeprefix("sqlite:///")


def _configure_sqlite(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={WAIT_MS}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()


def _watch_file(engine: Engine, file: Path) -> None:
    """Check on each use that the database file is still the one that was opened.

    A connection to a file that was removed or replaced would keep reading and writing the deleted one.
    """

    def identity() -> tuple[int, int]:
        try:
            stat = file.stat()
        except OSError as error:
            raise StoreError(f"{file} is gone: bring it back (propcite restore), or set PROPCITE_DATA_DIR") from error
        return stat.st_dev, stat.st_ino

    def before_connect(*_: Any) -> None:
        identity()  # otherwise SQLite would create an empty file

    def after_connect(_: Any, record: Any) -> None:
        record.info["file"] = identity()

    def on_checkout(_: Any, record: Any, __: Any) -> None:
        if identity() != record.info["file"]:
            raise DisconnectionError  # the file was replaced: connect to the new one

    event.listen(engine, "do_connect", before_connect)
    event.listen(engine, "connect", after_connect)
    event.listen(engine, "checkout", on_checkout)


def _migrate(engine: Engine) -> None:
    with engine.connect() as connection:
        revision = version_of(connection)
    if revision == HEAD:
        return
    with engine.begin() as connection:
        _lock_for_migration(connection)
        upgrade(connection)


def _lock_for_migration(connection: Connection) -> None:
    """Let one of several processes create the tables; the others wait and find them there."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # the driver does not begin a transaction for CREATE TABLE
    elif connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")


def version_of(connection: Connection) -> str | None:
    """Return the migration that the tables are at; None for a new database."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def upgrade(connection: Connection, to: str = "head") -> None:
    """Run the missing migrations, or those back to an older revision."""
    from alembic import command, util
    from alembic.script import ScriptDirectory

    config = migration_config()
    config.attributes["connection"] = connection
    script = ScriptDirectory.from_config(config)
    revision = version_of(connection)
    try:
        exists = revision is None or script.get_revision(revision)
    except util.CommandError as error:
        raise StoreError(
            f"the database has schema {revision}, newer than this version knows: update PropCite"
        ) from error
    back = exists and to not in ("head", HEAD) and (to == "base" or (revision or "") > to)
    (command.downgrade if back else command.upgrade)(config, to)


def migration_config() -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config
