"""Weights on their way to disk: what hinders them is one line, and nothing half written stays under their name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from propcite.retrieval.errors import PropCiteError, RetrievalError

OF_RUST = "(os error "  # what safetensors and tokenizers say in errors of their own, the latter in a plain Exception


@contextmanager
def telling(place: Path, error: type[PropCiteError] = RetrievalError) -> Iterator[None]:
    """A full disk, a folder that may not be written: each library that writes here has its own word for it."""
    try:
        yield
    except Exception as why:
        if not isinstance(why, OSError) and OF_RUST not in str(why):
            raise
        reason = getattr(why, "strerror", None) or " ".join(str(why).split())
        raise error(
            f"{place} cannot be written ({reason}): free space or give another --out; a training goes on with --resume"
        ) from why


@contextmanager
def written(path: Path, error: type[PropCiteError] = RetrievalError) -> Iterator[Path]:
    """A name beside this one to write to, which becomes it when all is there."""
    new = path.with_name(f"{path.name}.new")
    with telling(path, error):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield new
            new.replace(path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
