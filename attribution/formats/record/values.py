"""What is known of a kept answer beside the answer itself: who asked and when, with which version, over which files."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Asking:
    """One time that an answer was asked for; `via` is the page, HTTP or the command line."""

    at: datetime
    who: str
    via: str


@dataclass(frozen=True, slots=True)
class SourceVersion:
    """A document that the answer cites or nearly cites, as it was: `digest` is that of its file (SHA-256)."""

    title: str
    source: str
    digest: str
    read_at: datetime | None = None
    status: str = ""


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """`made_by` is the program with its version that wrote the record; `askings` are those that the reader may see."""

    kept_at: datetime | None = None
    made_by: str = ""
    askings: tuple[Asking, ...] = ()
    num_hidden: int = 0
    sources: tuple[SourceVersion, ...] = ()
    written_at: datetime | None = None
