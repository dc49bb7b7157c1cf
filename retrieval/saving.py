"""Write model files to disk atomically, with errors in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from propcite.retrieval.errors import PropCiteError, RetrievalError

RUST_OS_ERROR = "(os error "  # in messages of safetensors and tokenizers, whose own errors are no OSError


@contextmanager
def write_errors(path: Path, error: type[PropCiteError] = RetrievalError) -> Iterator[None]:
    """Turn a full disk or a read-only folder into one line: each library that writes has its own error for it."""
    try:
        yield
    except Exception as cause:
        if not isinstance(cause, OSError) and RUST_OS_ERROR not in str(cause):
            raise
        reason = getattr(cause, "strerror", None) or " ".join(str(cause).split())
        raise error(
            f"{path} cannot be written ({reason}): free space or give another --out; --resume continues a training"
        ) from cause


@contextmanager
def atomic_write(path: Path, error: type[PropCiteError] = RetrievalError) -> Iterator[Path]:
    """Yield a temporary path beside this one; it replaces this one when the block ends without an error."""
    new = path.with_name(f"{path.name}.new")
    with write_errors(path, error):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield new
            new.replace(path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
