"""Errors of the application; each message is one line and names the next step."""

import math

from propcite.retrieval.errors import PropCiteError


class AppError(PropCiteError):
    """A command, request or page could not do its work."""


class ReadError(AppError):
    """A file cannot be read as a document; others are not affected.  `source` is its path if it has one."""

    def __init__(self, message: str, source: str = "") -> None:
        super().__init__(message)
        self.source = source


class NotFoundError(AppError):
    """There is no collection, document or answer of that name.

    `in_commands` is what the command line adds: what there is, and the command that shows it.  The page and the server
    leave it out: not all that there is, is for everybody, and nobody there can type a command.
    """

    def __init__(self, what: str, in_commands: str = "") -> None:
        super().__init__(f"{what}{in_commands}")
        self.what = what


class StoreError(AppError):
    """The data directory or the database cannot be used."""


class UnreachableError(StoreError):
    """The server of the database is away; what was stored is safe, and work goes on when it is back."""


class InUseError(StoreError):
    """Another process is writing; trying again later helps."""


class CollidedError(InUseError):
    """Another process wrote the same at the same moment; a second try finds it done."""


class GeneratorError(AppError):
    """No answer could be generated; another question, or the same one later, may succeed."""


class BusyError(AppError):
    """Too much waits already: trying again after `seconds` helps."""

    def __init__(self, seconds: float, why: str = "too much waits already") -> None:
        self.seconds = max(1, math.ceil(seconds))
        super().__init__(f"{why}: try again in {self.seconds} s")


class LeftError(AppError):
    """Work ended early because whoever asked for it is gone."""


class TooLongError(AppError):
    """Work ended because it took longer than one request may."""


def without_commands(error: PropCiteError) -> str:
    """Return the words of an error for those who have no command line.

    >>> without_commands(NotFoundError("no collection 'x'", ": propcite ingest PATH --collection x creates it"))
    "no collection 'x'"
    """
    return error.what if isinstance(error, NotFoundError) else str(error)
