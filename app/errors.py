"""What can go wrong in the application, each told in one line that names the next step."""

from propcite.retrieval.errors import PropCiteError


class AppError(PropCiteError):
    """A command or a page could not do what was asked."""


class ReadError(AppError):
    """A file cannot be read as a document; the others go on.  `source` is its path where there is one."""

    def __init__(self, message: str, source: str = "") -> None:
        super().__init__(message)
        self.source = source


class NotFoundError(AppError):
    """A collection, document or answer of that name does not exist."""


class StoreError(AppError):
    """The data directory or the database cannot be used."""


class InUseError(StoreError):
    """Another writer has it: trying again later helps."""


class CollidedError(InUseError):
    """Another writer did the same at the same moment: a second try finds it done."""


class GeneratorError(AppError):
    """No answer could be written; another question, or the same one later, may be answered."""
