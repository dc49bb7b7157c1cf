"""Change propcite.toml: what is not changed keeps its place, its words and its comments."""

from __future__ import annotations

import os
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import tomlkit
from filelock import FileLock, Timeout
from tomlkit.exceptions import TOMLKitError

from propcite.app.errors import AppError
from propcite.app.settings import hides
from propcite.app.setup.presets import FILE

Changes = Mapping[str, Any]  # a setting's new value; None removes its line
PATIENCE_S = 5.0  # for another process, or another thread of the page, that is changing the file


def file_place() -> Path:
    """Return the file that this process reads its settings from, or would read."""
    return Path(FILE).resolve()


def may_write() -> bool:
    """Return whether the file can be replaced by this process; one that is not there yet can be made."""
    path = file_place()
    return os.access(path.parent, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))


def lines_to_copy(changes: Changes) -> str:
    """Return the lines for propcite.toml; what is hidden is named as the variable that may hold it.

    >>> print(lines_to_copy({"temperature": 0.5, "llm_key": "x", "seed": None}))
    temperature = 0.5
    # llm_key is not shown: give it as PROPCITE_LLM_KEY in the environment
    # without a line for seed, its default holds
    """
    return "\n".join(_line(name, value) for name, value in changes.items())


def _line(name: str, value: Any) -> str:
    if value is None:
        return f"# without a line for {name}, its default holds"
    if hides(name, value):
        return f"# {name} is not shown: give it as PROPCITE_{name.upper()} in the environment"
    return tomlkit.dumps({name: _item(name, value, inline=True)}).strip()


def edited(text: str, changes: Changes) -> str:
    """Return the file's text with these changes; AppError if it is no TOML, or the change would touch more.

    >>> edited("# ours\\nseed = 1  # fixed\\n", {"seed": 2, "judge": "none"})
    '# ours\\nseed = 2  # fixed\\njudge = "none"\\n'
    """
    try:
        document, before = tomlkit.parse(text), tomllib.loads(text)
    except (TOMLKitError, ValueError) as error:
        raise AppError(f"propcite.toml cannot be read ({error}): correct it first") from error
    new = {}
    for name, value in changes.items():
        if value is None:
            document.pop(name, None)
        elif name in document:
            document[name] = _item(name, value, inline=not isinstance(before[name], dict))
        else:
            new[name] = _item(name, value, inline=True)
    changed = _with_lines(tomlkit.dumps(document), tomlkit.dumps(new))
    expected = {name: value for name, value in {**before, **changes}.items() if value is not None}
    if tomllib.loads(changed) != expected:
        raise AppError("propcite.toml is written in a way that cannot be changed safely: add the lines by hand")
    return changed


def _with_lines(text: str, lines: str) -> str:
    """Return the file's text with lines before its first table, and before the comment on that."""
    if not lines:
        return text
    rows = text.splitlines(keepends=True)
    at = next((i for i, row in enumerate(rows) if row.lstrip().startswith("[") and _is_toml(rows[:i])), len(rows))
    while 0 < at < len(rows) and (not rows[at - 1].strip() or rows[at - 1].lstrip().startswith("#")):
        at -= 1
    end = "\r\n" if "\r\n" in text else "\n"
    before = "".join(rows[:at])
    if before and not before.endswith("\n"):
        before += end
    gap = end if 0 <= at < len(rows) and rows[at].strip() else ""
    return f"{before}{lines.replace(chr(10), end)}{gap}{''.join(rows[at:])}"


def _is_toml(rows: Sequence[str]) -> bool:
    """Return whether these lines are whole: a line inside a list of several may begin with a bracket too."""
    try:
        tomllib.loads("".join(rows))
    except ValueError:
        return False
    return True


def _item(name: str, value: Any, *, inline: bool) -> Any:
    """Return a value as TOML; a table that is there stays a table, a new one takes one line."""
    try:
        if isinstance(value, dict) and inline:
            table = tomlkit.inline_table()
            table.update(value)
            return table
        return tomlkit.item(value)
    except (TypeError, ValueError) as error:  # null in a JSON object
        raise AppError(f"the setting {name} has a value that TOML cannot hold ({error}): leave it out") from error


@contextmanager
def changing(path: Path) -> Iterator[None]:
    """Keep other processes from changing the file; AppError if one does, for longer than it should take."""
    lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=PATIENCE_S)
    try:
        lock.acquire()
    except Timeout as error:
        raise AppError(f"{path} is being changed by another process: try again in a moment") from error
    try:
        yield
    finally:
        lock.release()


def write_changes(changes: Changes) -> Path:
    """Write the changes, all or none, and return the file's place; one process at a time.

    With a hidden value in it, a new file can be read by its owner alone, and one that was there by no stranger.
    """
    path = file_place()
    try:
        with changing(path):
            text = path.read_bytes().decode() if path.exists() else ""
            mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
            if any(value is not None and hides(name, value) for name, value in changes.items()):
                mode &= ~0o007 if path.exists() else ~0o077
            _replace(path, edited(text, changes), mode)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise AppError(f"{path} cannot be written ({why}): add the lines by hand") from error
    return path


def _replace(path: Path, text: str, mode: int) -> None:
    handle, made = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # only its owner may read it
    try:
        with open(handle, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        os.chmod(made, mode)
        os.replace(made, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(made)
        raise
