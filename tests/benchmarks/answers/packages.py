"""Documents of Debian's packages, which apt-get downloads into a folder: no root is needed, nothing is installed."""

from __future__ import annotations

import gzip
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from propcite.app.errors import AppError
from propcite.app.ingest.readers.kinds import is_supported

TOOLS = ("apt-get", "dpkg-deb")
WRITTEN_FOR = "the questions were written for Debian 12 (bookworm)"


def fetch(packages: Iterable[str], cache: Path) -> None:
    """Download and unpack each package into a folder of its name; those that are there already stay as they are."""
    missing = [name for name in dict.fromkeys(packages) if not (cache / name).is_dir()]
    if not missing:
        return
    absent = [tool for tool in TOOLS if shutil.which(tool) is None]
    if absent:
        raise AppError(f"{' and '.join(absent)} not found: run this on Debian, or copy a filled folder to {cache}")
    waiting = cache / ".new"
    shutil.rmtree(waiting, ignore_errors=True)
    waiting.mkdir(parents=True)
    for name in missing:
        _run(["apt-get", "--quiet", "download", name], waiting, f"apt-get cannot download {name}")
        (archive,) = waiting.glob(f"{name}_*.deb")
        _run(["dpkg-deb", "--extract", archive.name, name], waiting, f"dpkg-deb cannot unpack {name}")
        archive.rename(cache / archive.name)
        (waiting / name).rename(cache / name)
    waiting.rmdir()


def version_of(package: str, cache: Path) -> str:
    """Return the version that the downloaded file's name holds; empty where the file is gone."""
    names = [path.stem.split("_") for path in cache.glob(f"{package}_*.deb")]
    return next((parts[1].replace("%3a", ":") for parts in names if len(parts) > 1), "")


def copy_document(package: str, path: str, cache: Path, folder: Path) -> Path:
    """Copy a file of an unpacked package as PropCite can read it: decompressed, and `.txt` where it has no suffix."""
    try:
        data = (cache / package / path).read_bytes()
    except OSError as error:
        raise AppError(f"{package} has no {path} ({error.strerror}): {WRITTEN_FOR}") from error
    name = Path(path).name
    if name.endswith(".gz"):
        data, name = gzip.decompress(data), name.removesuffix(".gz")
    copy = folder / package / (name if is_supported(name) else f"{name}.txt")
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(data)
    return copy


def _run(command: Sequence[str], folder: Path, failure: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        said = next((line for line in done.stderr.splitlines() if line.startswith("E:")), done.stderr.strip()[:200])
        raise AppError(f"{failure} ({said}): try apt-get update; {WRITTEN_FOR}")
