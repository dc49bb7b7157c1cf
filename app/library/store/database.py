"""Opens the database, brings its tables up to date, and tells in one line why it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
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

from propcite.app.errors import CollidedError, InUseError, StoreError

HEAD = "0012"  # the newest migration; a test holds it against the scripts
WAIT_MS = 10_000  # how long a writer waits for another before it gives up
MIGRATING = 0x50726F70  # PostgreSQL's lock of this number is held while tables change


def open_database(url: str) -> Engine:
    """An engine whose tables are those of this version."""
    try:
        parsed = make_url(url)
        if parsed.drivername in ("postgres", "postgresql"):
            parsed = parsed.set(drivername="postgresql+psycopg")  # the driver that our extra installs
        if parsed.get_backend_name() == "sqlite" and parsed.database:
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        # Who comes back after the server was started again finds its connections made anew.
        engine = create_engine(parsed, pool_pre_ping=parsed.get_backend_name() != "sqlite")
    except OSError as error:
        raise StoreError(f"the data directory cannot be made ({error}): set PROPCITE_DATA_DIR to another") from error
    except (ArgumentError, NoSuchModuleError) as error:
        raise StoreError(
            f"{url!r} is not a database URL: set PROPCITE_DATABASE to one that SQLAlchemy reads"
        ) from error
    except ModuleNotFoundError as error:
        raise StoreError(f"the database driver {error.name} is missing: pip install 'propcite[postgres]'") from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
    with told(url):
        _migrate(engine)
    if engine.dialect.name == "sqlite" and (file := engine.url.database):
        engine.dispose()
        _watch(engine, Path(file))
    return engine


def aware(time: datetime) -> datetime:
    """SQLite forgets the time zone that was written; it was UTC."""
    return time if time.tzinfo else time.replace(tzinfo=UTC)


@contextmanager
def told(url: str) -> Iterator[None]:
    """What the database refuses, as one line that names the next step."""
    try:
        yield
    except DBAPIError as error:
        reason = str(error.orig).strip().splitlines()[0]
        place = make_url(url).render_as_string(hide_password=True).removeprefix("sqlite:///")
        if "readonly" in reason or "unable to open" in reason:
            raise StoreError(
                f"{place} cannot be written: give it write permission, or set PROPCITE_DATA_DIR"
            ) from error
        if "not a database" in reason or "malformed" in reason:
            raise StoreError(
                f"{place} is damaged or no PropCite database: move it away, or set PROPCITE_DATA_DIR"
            ) from error
        if "locked" in reason:
            raise InUseError(f"{place} is in use by another writer: try again when it is done") from error
        if isinstance(error, IntegrityError) or "deadlock" in reason:
            raise CollidedError(f"{place} was changed by another process at the same time: try again") from error
        if "full" in reason or "disk I/O" in reason:
            raise StoreError(f"{place} cannot grow ({reason}): free space, or set PROPCITE_DATA_DIR") from error
        if isinstance(error, OperationalError) and not place.startswith("/"):
            raise StoreError(
                f"the database {place} cannot be reached (it failed: {reason}): start it, or set PROPCITE_DATABASE"
            ) from error
        raise StoreError(f"the database {place} failed ({reason}): propcite doctor tells more") from error


def _prepare_sqlite(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={WAIT_MS}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()


def _watch(engine: Engine, file: Path) -> None:
    """A connection to a file that was removed or replaced would go on reading and writing what nobody finds again."""

    def there() -> tuple[int, int]:
        try:
            stat = file.stat()
        except OSError as error:
            raise StoreError(f"{file} is gone: bring it back (propcite restore), or set PROPCITE_DATA_DIR") from error
        return stat.st_dev, stat.st_ino

    def opening(*_: Any) -> None:
        there()  # SQLite would make an empty one

    def opened(_: Any, record: Any) -> None:
        record.info["file"] = there()

    def taken(_: Any, record: Any, __: Any) -> None:
        if there() != record.info["file"]:
            raise DisconnectionError  # another database is there now: it is opened anew

    event.listen(engine, "do_connect", opening)
    event.listen(engine, "connect", opened)
    event.listen(engine, "checkout", taken)


def _migrate(engine: Engine) -> None:
    with engine.connect() as connection:
        found = version_of(connection)
    if found == HEAD:
        return
    with engine.begin() as connection:
        _alone(connection)
        upgrade(connection)


def _alone(connection: Connection) -> None:
    """Of processes that open a new database together one makes the tables; the others wait and find them made."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # the driver itself begins none for CREATE TABLE
    elif connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MIGRATING})")


def version_of(connection: Connection) -> str | None:
    """The migration that the tables are at."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def upgrade(connection: Connection, to: str = "head") -> None:
    """Run the migrations that are missing, or back to an older revision."""
    from alembic import command, util
    from alembic.script import ScriptDirectory

    config = migration_config()
    config.attributes["connection"] = connection
    script = ScriptDirectory.from_config(config)
    found = version_of(connection)
    try:
        known = found is None or script.get_revision(found)
    except util.CommandError as error:
        raise StoreError(f"the database has schema {found}, newer than this version knows: update PropCite") from error
    back = known and to not in ("head", HEAD) and (to == "base" or (found or "") > to)
    (command.downgrade if back else command.upgrade)(config, to)


def migration_config() -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config
