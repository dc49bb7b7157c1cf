"""A disk of a megabyte, which can be filled."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PAGE = 4096  # the allocation unit of the file system


@contextmanager
def small_disk(place: Path, size: str = "1m") -> Iterator[Path]:
    """Mount a disk at an empty folder."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk needs root rights")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def fill(disk: Path, pages: int) -> None:
    """Fill the disk except for a number of pages; removing `ballast` frees it."""
    with (disk / "ballast").open("wb", buffering=0) as ballast:
        free = shutil.disk_usage(disk).free // PAGE - pages
        assert free >= 0
        ballast.write(bytes(free * PAGE))
