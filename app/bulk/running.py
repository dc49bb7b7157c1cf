"""A bulk command that writes to a file: with progress, and resumed where it was interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from propcite.app.bulk.part_file import PartFile
from propcite.app.bulk.tasks import Task
from propcite.app.bulk.workers import answered_chunks
from propcite.app.errors import AppError

CHUNK = 8  # lines that one process answers together


@dataclass(frozen=True, slots=True)
class Finished:
    """What a bulk command did: all lines, those that were there from an earlier run, and those that are errors."""

    lines: int
    earlier: int
    bad: int


def answer_file(
    task: Task,
    file: Path,
    out: Path,
    workers: int = 1,
    cluster: str = "",
    progress: Callable[[int, int], object] = lambda _done, _total: None,
) -> Finished:
    """Answer the JSON lines of a file into another, in order; a run that was interrupted is resumed.

    `progress` gets the number of answered lines and of all lines.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise AppError(f"{file} cannot be read ({error.strerror}): --out goes with a file of JSON lines") from error
    lines = [line for line in content.decode("utf-8-sig", "replace").split("\n") if line.strip()]
    if not lines:
        raise AppError(f"{file} contains no line: give a file of JSON lines")
    part = PartFile(out, task.name(content))
    earlier = part.done
    progress(earlier, len(lines))
    try:
        answers = (
            answered_chunks(task, _chunks(lines[earlier:]), workers, cluster) if earlier < len(lines) else iter(())
        )
        for chunk in answers:
            part.write(chunk)
            progress(part.done, len(lines))
        return Finished(len(lines), earlier, part.finish())
    finally:
        part.close()


def _chunks(lines: list[str]) -> Iterator[list[str]]:
    rest = iter(lines)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk
