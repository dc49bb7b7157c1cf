"""Objects under one address, by fsspec: `s3://bucket/folder`, `gs://bucket/folder`, `file:///folder` and others."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from propcite.retrieval.errors import StorageError
from propcite.retrieval.extras import install_command

LOCAL, S3 = ("file", "local"), ("s3", "s3a")
QUICK_S = 3


class MissingObjectError(StorageError):
    """An object is not there, or not any more."""


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """Reads and writes objects, which are named by paths below the address; S3 must answer within `patience_s`."""

    address: str
    patience_s: int = 30

    def below(self, folder: str) -> ObjectStore:
        return replace(self, address=f"{self.address.rstrip('/')}/{folder}")

    def impatient(self) -> ObjectStore:
        """Return the same store for a call that somebody waits for."""
        return replace(self, patience_s=QUICK_S)

    def read(self, name: str) -> bytes:
        fs, path = self._at(name)
        with self._reported(f"did not give {name}"):
            content: bytes = fs.cat_file(path)
            return content

    def write(self, name: str, content: bytes) -> None:
        fs, path = self._at(name)
        with self._reported(f"did not take {name}"):
            fs.pipe_file(path, content)

    def create(self, name: str, content: bytes) -> bool:
        """Write an object that is not there yet; return False, and change nothing, if it is."""
        fs, path = self._at(name)
        with self._reported(f"did not take {name}"):
            try:
                if self.address.partition(":")[0] in LOCAL:
                    _create_file(Path(path), content)
                else:
                    fs.pipe_file(path, content, mode="create")
            except FileExistsError:
                return False
            return True

    def upload(self, source: Path, name: str) -> None:
        fs, path = self._at(name)
        with self._reported(f"did not take {name}"):
            fs.put_file(str(source), path)

    def download(self, name: str, target: Path) -> None:
        """Write an object to a file, which is replaced once all of it is there."""
        fs, path = self._at(name)
        handle, beside = tempfile.mkstemp(prefix=".", suffix=".part", dir=target.parent)
        os.close(handle)
        try:
            with self._reported(f"did not give {name}"):
                try:
                    fs.get_file(path, beside)
                except OSError as error:
                    if error.errno in (errno.ENOSPC, errno.EDQUOT):
                        raise StorageError(no_space(target.parent, error)) from error
                    raise
            os.replace(beside, target)
        finally:
            with suppress(OSError):
                os.unlink(beside)

    def has(self, name: str) -> bool:
        fs, path = self._at(name)
        with self._reported(f"did not answer for {name}"):
            return bool(fs.isfile(path))

    def written_at(self, name: str) -> float:
        """Return when an object was written, in seconds since 1970."""
        fs, path = self._at(name)
        with self._reported(f"did not answer for {name}"):
            moment: datetime = fs.modified(path)
            return (moment if moment.tzinfo else moment.astimezone()).timestamp()

    def names(self, folder: str = "") -> list[str]:
        """Return the names of all objects in a folder and below, in order; empty if there is none."""
        fs, path = self._at(folder)
        with self._reported(f"did not list {folder or 'its objects'}"):
            inside = [one[len(path) :].lstrip("/") for one in fs.find(path)]
        return sorted(f"{folder}/{name}".lstrip("/") for name in inside if name)

    def remove(self, names: Iterable[str]) -> None:
        """Remove objects; those that are not there are left out."""
        fs, _ = self._at("")
        paths = [self._at(name)[1] for name in names]
        with self._reported("did not remove objects"):
            for path in paths:
                with suppress(FileNotFoundError):
                    fs.rm_file(path)

    def _at(self, name: str) -> tuple[Any, str]:
        with self._reported("cannot be used"):
            fs, root = _filesystem(self.address, self.patience_s)
        return fs, f"{root.rstrip('/')}/{name}" if name else root

    @contextmanager
    def _reported(self, what: str) -> Iterator[None]:
        """Report what an object store refuses in one line; its libraries raise errors of many kinds."""
        try:
            yield
        except StorageError:
            raise
        except FileNotFoundError as error:
            raise MissingObjectError(self._line(what, error)) from error
        except ImportError as error:
            scheme = self.address.partition(":")[0]
            hint = install_command("s3") if scheme in S3 else "install the package that it names"
            raise StorageError(f"the storage {self.address} needs a package ({error}): {hint}") from error
        except Exception as error:
            raise StorageError(self._line(what, error)) from error

    def _line(self, what: str, error: Exception) -> str:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        return f"the storage {self.address} {what} ({reason}): check the setting storage, its keys and the network"


def no_space(folder: Path, error: OSError) -> str:
    return f"cannot write {folder} ({error.strerror or error}): free space on this machine, what was there is whole"


def _create_file(path: Path, content: bytes) -> None:
    """Write a file that is not there yet: fsspec would look first and then write, which lets two writers do so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        except OSError:
            path.unlink(missing_ok=True)
            raise


@lru_cache(maxsize=64)
def _filesystem(address: str, patience_s: int) -> tuple[Any, str]:
    """Return fsspec's filesystem and the path of an address; listings are never remembered: others write too."""
    from fsspec.core import url_to_fs

    scheme = address.partition(":")[0]
    options: dict[str, Any] = {}
    if scheme in LOCAL:
        options = {"auto_mkdir": True}
    elif scheme in S3:
        limits = {"connect_timeout": QUICK_S, "read_timeout": patience_s, "retries": {"max_attempts": 1}}
        options = {"config_kwargs": limits}
    fs, root = url_to_fs(address, use_listings_cache=False, **options)
    if scheme in S3:
        fs.retries = 2  # by s3fs itself, of what botocore has given up
    return fs, str(root)
