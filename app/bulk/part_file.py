"""The file of a bulk command while it is written; a command that was interrupted goes on with it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from propcite.app.bulk.filters import ERROR
from propcite.app.errors import AppError


class PartFile:
    """Lines beside `out`, in a file that becomes `out` at the end.

    Its first line names the task, so that no other task goes on with it.  `done` is the number of lines that are there.
    """

    def __init__(self, out: Path, task: str) -> None:
        self.out, self.path = out, out.with_name(f"{out.name}.part")
        if out.exists():
            raise AppError(f"{out} exists already: give another --out, or remove it")
        try:
            self._file = self.path.open("r+b" if self.path.exists() else "x+b")
            self.done = self._begin(task)
        except OSError as error:
            raise AppError(f"{self.path} cannot be written ({error.strerror}): give another --out") from error

    def _begin(self, task: str) -> int:
        """Return the number of whole lines after the first; what follows the last whole line is removed."""
        head = json.dumps({"task": task}).encode() + b"\n"
        first, done, size = self._file.readline(), 0, len(head)
        if not first.endswith(b"\n"):  # new, or stopped before its first line was whole
            self._file.seek(0)
            self._file.truncate()
            self._file.write(head)
            return 0
        if first != head:
            raise AppError(
                f"{self.path} was begun with other lines, settings or options: give these again, or remove it, "
                "or give another --out"
            )
        for line in self._file:
            if line.endswith(b"\n"):
                done, size = done + 1, size + len(line)
        self._file.seek(size)
        self._file.truncate()
        return done

    def write(self, lines: Sequence[str]) -> None:
        """Add lines, and make sure that they are on the disk."""
        try:
            self._file.write("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass"))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise AppError(
                f"{self.path} cannot be written ({error.strerror}): free space, then run it again"
            ) from error
        self.done += len(lines)

    def finish(self) -> int:
        """Put the file in its place without its first line, and return the number of lines that are errors."""
        whole, bad = self.out.with_name(f"{self.out.name}.new"), 0
        self._file.seek(0)
        self._file.readline()
        with whole.open("wb") as new:
            for line in self._file:
                bad += line.startswith(ERROR.encode())
                new.write(line)
            new.flush()
            os.fsync(new.fileno())
        self.close()
        whole.replace(self.out)
        self.path.unlink()
        return bad

    def close(self) -> None:
        self._file.close()
