"""Print the HTML report as a PDF with a browser."""

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
TIMEOUT_S = 120

_DATES = re.compile(rb"(/(?:CreationDate|ModDate) ?\(D:)\d{14}")


class NoBrowserError(AttributionError):
    """No browser can print."""


def find_browser() -> str | None:
    """Return the path of an installed browser that can print pages, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def print_pdf(html: str) -> bytes:
    """Return a page as a PDF.  The browser runs in a temporary profile that is removed afterwards."""
    program = find_browser()
    if program is None:
        raise NoBrowserError("a PDF needs Chromium or Chrome to print it: install one, or take --format html")
    with tempfile.TemporaryDirectory(prefix="propcite-", ignore_cleanup_errors=True) as folder:
        page, pdf = Path(folder, "answer.html"), Path(folder, "answer.pdf")
        page.write_text(html, encoding="utf-8", errors="replace")
        options = [f"--user-data-dir={folder}/profile", f"--print-to-pdf={pdf}", page.as_uri()]
        # Chromium refuses to run as root with its sandbox.
        sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        message = _run([program, *FLAGS, *sandbox, *options])
        if not pdf.exists() or not pdf.stat().st_size:
            raise NoBrowserError(f"{program} printed nothing ({message}): take --format html and print that")
        # The same answer must be the same bytes: fix the dates, in the same length, since a PDF has byte offsets.
        return _DATES.sub(rb"\g<1>19800101000000", pdf.read_bytes())


def _run(command: list[str]) -> str:
    """Run a browser; return the last line that it printed, or its exit code."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error).splitlines()[0][:200]
    return next(reversed(done.stderr.strip().splitlines()), f"exit code {done.returncode}")[:200]
