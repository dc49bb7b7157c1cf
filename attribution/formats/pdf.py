"""A cited answer as a PDF: the report, as a browser prints it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from propcite.attribution.errors import AttributionError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge", "microsoft-edge")
FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--no-first-run",
    "--no-pdf-header-footer",
)
PATIENCE_S = 120

_TIMES = re.compile(rb"(/(?:CreationDate|ModDate) ?\(D:)\d{14}")  # so that the same answer is the same bytes


class NoBrowserError(AttributionError):
    """Nothing here prints."""


def browser() -> str | None:
    """A program that prints pages, if one is here."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def printed(html: str) -> bytes:
    """A page as a PDF.  The browser has a folder of its own and leaves nothing behind."""
    program = browser()
    if program is None:
        raise NoBrowserError(
            "a PDF is printed by Chromium or Chrome, and neither is here: install one, or take --format html"
        )
    with tempfile.TemporaryDirectory(prefix="propcite-", ignore_cleanup_errors=True) as folder:
        page, pdf = Path(folder, "answer.html"), Path(folder, "answer.pdf")
        page.write_text(html, encoding="utf-8", errors="replace")
        own = [f"--user-data-dir={folder}/profile", f"--print-to-pdf={pdf}", page.as_uri()]
        root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # Chromium refuses root else
        said = _run([program, *FLAGS, *root, *own])
        if not pdf.exists() or not pdf.stat().st_size:
            raise NoBrowserError(f"{program} printed nothing ({said}): take --format html and print that")
        return _TIMES.sub(_undated, pdf.read_bytes())


def _undated(found: re.Match[bytes]) -> bytes:
    """Of the same length, since a PDF's table says where each part begins."""
    return found[1] + b"19800101000000"


def _run(command: list[str]) -> str:
    """The last line that the browser said."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=PATIENCE_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error).splitlines()[0][:200]
    return next(reversed(done.stderr.strip().splitlines()), f"exit code {done.returncode}")[:200]
