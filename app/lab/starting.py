"""Measurements in processes of their own: what a page may start, how it is watched, stopped and gone on with.

The process is `propcite eval …` as a person gives it; how far it is stands in the store, item by item.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PureWindowsPath

from propcite.app.errors import AppError, StoreError
from propcite.app.library.store.runs import RunInfo, Runs

KINDS = ("cite", "split", "sentences", "asqa")
WAY = {"cite": "--method", "sentences": "--way", "asqa": "--way"}  # how a kind is told its ways
# Of a kept command, which may come from elsewhere, only these are given again: none of them writes or loads a file.
HARMLESS = {"--limit", "--offset", "--way", "--method", "--context", "--most", "--supported-from", "--margin"}
HARMLESS |= {"--judge", "--human", "--rouge", "--no-rouge", "--failed-as-empty", "--force"}


def ways_of(kind: str) -> Sequence[str]:
    """The ways that may be chosen from; none where all are always measured."""
    if kind == "cite":
        from propcite.attribution.citing.methods import METHODS

        return METHODS
    if kind == "sentences":
        from propcite.app.lab.ranking import sentences

        return sentences.WAYS
    if kind == "asqa":
        from propcite.app.lab.alce import ways

        return ways.WAYS
    return ()


def command(kind: str, file: Path, *, limit: int = 0, ways: Sequence[str] = (), new: bool = False) -> list[str]:
    """The words behind `propcite`.

    >>> command("asqa", Path("/a b.json"), limit=5, ways=["repair"])
    ['eval', 'asqa', '/a b.json', '--limit', '5', '--way', 'repair']
    """
    limited = ["--limit", str(limit)] if limit else []
    chosen = [word for way in ways for word in (WAY[kind], way)] if kind in WAY else []
    return ["eval", kind, str(file), *limited, *chosen, *["--new"][:new]]


def going_on(run: RunInfo) -> list[str]:
    """The words that go on with a run; none where its command holds more than a page may give.

    With `--new` it would begin another.
    """
    try:
        program, *words = shlex.split(str(run.about.get("command") or ""))
    except ValueError:
        return []
    options = {word.partition("=")[0] for word in words if word.startswith("-")}
    if program != "propcite" or words[:1] != ["eval"] or words[1:2] != [run.kind] or run.kind not in KINDS:
        return []
    return [word for word in words if word != "--new"] if options <= {*HARMLESS, "--new"} else []


def file_at(name: str) -> Path:
    """A file that a person names, wherever a process may be started."""
    path = Path(name.strip()).expanduser()
    if not name.strip() or not path.is_file():
        raise AppError(f"there is no file {name.strip()!r}: upload one, or give the path of one on this machine")
    return path.resolve()


def kept_file(folder: Path, name: str, content: bytes) -> Path:
    """An uploaded file under its own name, which its runs carry: they go on with it."""
    place = folder / "files" / hashlib.sha256(content).hexdigest()[:12] / (PureWindowsPath(name).name or "file")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    except OSError as error:
        raise StoreError(f"{place} cannot be written ({error.strerror}): free space, then try again") from error
    return place


@dataclass(frozen=True, slots=True)
class Measurement:
    """One process, and the file that holds what it says."""

    id: str
    words: Sequence[str]
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def what(self) -> str:
        """What is measured: the kind and the file's name."""
        return f"{self.words[1]} on {Path(self.words[2]).name}"

    @property
    def code(self) -> int | None:
        """None while it runs; below 0 where it was stopped."""
        return self.process.poll()

    @property
    def line(self) -> str:
        """The last line that it said: where it could not run, why and what to do."""
        with suppress(OSError):
            said = self.log.read_text("utf-8", errors="replace").splitlines()
            return next((line.removeprefix("propcite: ") for line in reversed(said) if line.strip()), "")
        return ""

    def stop(self) -> None:
        if self.code is None:
            self.process.terminate()


@dataclass(frozen=True, slots=True)
class Measurements:
    """What this process has started; the others are known by the runs that they measure."""

    folder: Path
    known: dict[str, Measurement] = field(default_factory=dict)

    def start(self, words: Sequence[str]) -> Measurement:
        id_ = secrets.token_hex(4)
        self.folder.mkdir(parents=True, exist_ok=True)
        log = self.folder / f"{id_}.log"
        with log.open("wb") as said:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "propcite", *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                start_new_session=True,  # it goes on when the page is stopped
            )
        self.known[id_] = Measurement(id_, tuple(words), process, log)
        return self.known[id_]

    def forget(self, id_: str) -> None:
        if one := self.known.pop(id_, None):
            one.log.unlink(missing_ok=True)

    def __iter__(self) -> Iterator[Measurement]:
        return iter(list(self.known.values()))


def stop(runs: Runs, run_id: str) -> None:
    """End the process that measures a run, whoever started it; what it has done is kept."""
    process = runs.measured_by(run_id)
    if process and process != os.getpid():
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGTERM)
