"""Measurements as separate processes: what the page may start, how it watches, stops and resumes them.

A process is a `propcite eval …` command; its progress is in the store, item by item.
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
from propcite.app.ingest.readers.files import is_within
from propcite.app.library.store.runs import RunInfo, Runs

KINDS = ("cite", "split", "sentences", "asqa", "verdicts")
WAY_OPTIONS = {"cite": "--method", "sentences": "--way", "asqa": "--way", "verdicts": "--judge"}
# A stored command may come from elsewhere: it is resumed only if it has none but these, which write and load no file.
SAFE_OPTIONS = {"--limit", "--offset", "--way", "--method", "--context", "--most", "--supported-from", "--margin"}
SAFE_OPTIONS |= {"--judge", "--human", "--rouge", "--no-rouge", "--failed-as-empty", "--force"}


def ways_of(kind: str) -> Sequence[str]:
    """Return the ways that users can choose from; empty if all are always measured."""
    if kind == "cite":
        from propcite.attribution.citing.methods import METHODS

        return METHODS
    if kind == "sentences":
        from propcite.app.lab.ranking import sentences

        return sentences.WAYS
    if kind == "asqa":
        from propcite.app.lab.alce import ways

        return ways.WAYS
    if kind == "verdicts":
        from propcite.app.lab.citing import verdicts

        return verdicts.JUDGES
    return ()


def eval_command(kind: str, file: Path, *, limit: int = 0, ways: Sequence[str] = (), new: bool = False) -> list[str]:
    """Return the arguments of `propcite`.

    >>> eval_command("asqa", Path("/a b.json"), limit=5, ways=["repair"])
    ['eval', 'asqa', '/a b.json', '--limit', '5', '--way', 'repair']
    """
    limited = ["--limit", str(limit)] if limit else []
    chosen = [argument for way in ways for argument in (WAY_OPTIONS[kind], way)] if kind in WAY_OPTIONS else []
    return ["eval", kind, str(file), *limited, *chosen, *["--new"][:new]]


def resume_command(run: RunInfo, folders: Sequence[Path]) -> list[str]:
    """Return the arguments that continue a run; empty if its command has more than the page may run.

    Its file must lie below one of the folders.  `--new` is left out, since it would start another run.
    """
    try:
        program, *arguments = shlex.split(str(run.about.get("command") or ""))
    except ValueError:
        return []
    options = {argument.partition("=")[0] for argument in arguments if argument.startswith("-")}
    if program != "propcite" or arguments[:2] != ["eval", run.kind] or run.kind not in KINDS:
        return []
    if len(arguments) < 3 or "\0" in arguments[2] or not is_within(Path(arguments[2]), folders):
        return []
    return [argument for argument in arguments if argument != "--new"] if options <= {*SAFE_OPTIONS, "--new"} else []


def existing_file(name: str, folders: Sequence[Path]) -> Path:
    """Return the real path of a file that a visitor names; it must lie below one of the folders."""
    try:
        path = Path(name.strip()).expanduser().resolve()
        if name.strip() and is_within(path, folders) and path.is_file():
            return path
    except (OSError, RuntimeError, ValueError):  # no home of that name, a loop of links, a zero character
        pass
    raise AppError(
        f"the folders of PROPCITE_PAGE_FOLDERS have no file {name.strip()[:200]!r}: upload one, or correct the path"
    )


def save_upload(folder: Path, name: str, content: bytes) -> Path:
    """Save an uploaded file under its own name, which its runs store to continue with the same file."""
    path = folder / "files" / hashlib.sha256(content).hexdigest()[:12] / (PureWindowsPath(name).name or "file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise StoreError(f"cannot write {path} ({error.strerror}): free space, then try again") from error
    return path


@dataclass(frozen=True, slots=True)
class Job:
    """One process with the file of its messages."""

    id: str
    arguments: Sequence[str]
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def title(self) -> str:
        """Return the kind of measurement and the file's name."""
        return f"{self.arguments[1]} on {Path(self.arguments[2]).name}"

    @property
    def exit_code(self) -> int | None:
        """Return None while it runs; a negative number if it was stopped by a signal."""
        return self.process.poll()

    @property
    def last_line(self) -> str:
        """Return its last message: after a failure, why it failed and what to do."""
        with suppress(OSError):
            lines = self.log.read_text("utf-8", errors="replace").splitlines()
            return next((line.removeprefix("propcite: ") for line in reversed(lines) if line.strip()), "")
        return ""

    def stop(self) -> None:
        if self.exit_code is None:
            self.process.terminate()


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs that this process started; those of others show in the runs that they measure."""

    folder: Path
    by_id: dict[str, Job] = field(default_factory=dict)

    def start(self, arguments: Sequence[str]) -> Job:
        id_ = secrets.token_hex(4)
        self.folder.mkdir(parents=True, exist_ok=True)
        log = self.folder / f"{id_}.log"
        with log.open("wb") as messages:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "propcite", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=messages,
                start_new_session=True,  # so that it survives the page
            )
        self.by_id[id_] = Job(id_, tuple(arguments), process, log)
        return self.by_id[id_]

    def forget(self, id_: str) -> None:
        if job := self.by_id.pop(id_, None):
            job.log.unlink(missing_ok=True)

    def __iter__(self) -> Iterator[Job]:
        return iter(list(self.by_id.values()))


def stop_run(runs: Runs, run_id: str) -> None:
    """End the process that measures a run, whoever started it; the items that are done stay."""
    process = runs.measuring_process(run_id)
    if process and process != os.getpid():
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGTERM)
