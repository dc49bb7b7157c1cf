"""What the machines of a cluster must have in common, and the line that names what differs."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from importlib.metadata import version

from pydantic import BaseModel
from sqlalchemy import func, select

from propcite.app.errors import AppError
from propcite.app.parts import Parts
from propcite.app.settings import Settings
from propcite.retrieval.remote.objects import ObjectStore

MARK = "cluster.mark"  # a file that every machine sees
APART_S = 5.0  # by which a clock may differ from the database's


class Member(BaseModel):
    """A machine of a cluster: PropCite's version, the encoder, and the mark in the storage or the data directory."""

    version: str
    encoder: str
    mark: str


def member_of(parts: Parts, *, first: bool = False) -> Member:
    """Return what this machine has; the first one of a cluster leaves the mark."""
    return Member(version=version("propcite"), encoder=parts.encoder.name, mark=_mark(parts.settings, leave=first))


def check_same(own: Member, first: Member) -> None:
    """Raise AppError if this machine differs from the first one of its cluster."""
    check_version(own.version, first)
    if own.encoder != first.encoder:
        raise AppError(
            f"the encoder of this machine is {own.encoder}, that of the cluster {first.encoder}: set PROPCITE_ENCODER"
        )
    if own.mark != first.mark:
        raise AppError(
            "this machine does not see the files of the cluster's first one: give both the same PROPCITE_STORAGE, or a "
            "PROPCITE_DATA_DIR that all machines reach"
        )


def check_version(own: str, first: Member) -> None:
    if own != first.version:
        raise AppError(f"this machine has PropCite {own}, the cluster {first.version}: install that version here")


def check_shared(settings: Settings) -> None:
    """Raise AppError if the library is a file, which only the processes of one machine can share."""
    if settings.database_url.startswith("sqlite"):
        raise AppError(
            "several machines need one database: set PROPCITE_DATABASE to a PostgreSQL URL, and PROPCITE_STORAGE, or "
            "PROPCITE_DATA_DIR to a folder that all machines reach"
        )


def check_clock(parts: Parts) -> None:
    """Raise AppError if this machine's clock differs from that of PostgreSQL by more than a few seconds."""
    if parts.settings.database_url.startswith("sqlite"):
        return
    with parts.library.session() as session:
        theirs = session.scalar(select(func.clock_timestamp()))
    apart = (datetime.now(UTC) - theirs).total_seconds() if theirs else 0.0
    if abs(apart) > APART_S:
        when = "ahead of" if apart > 0 else "behind"
        raise AppError(
            f"this machine's clock is {abs(apart):.0f} seconds {when} the database's: set both by the same time server"
        )


def _mark(settings: Settings, *, leave: bool) -> str:
    """Return the mark, which the first machine leaves; empty where there is none."""
    shared = ObjectStore(settings.storage or f"file://{settings.data_dir.resolve()}")
    if leave:
        shared.create(MARK, uuid.uuid4().hex.encode())
    return shared.read(MARK).decode() if shared.has(MARK) else ""
