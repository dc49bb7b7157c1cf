"""The npm package in clients/typescript, for its tests."""

from __future__ import annotations

import os
import shutil
import subprocess

from filelock import FileLock
from paths import ROOT

PACKAGE = ROOT / "clients" / "typescript"
MISSING = "the npm package propcite: make test-clients, which needs node"


def is_installed() -> bool:
    return bool(shutil.which("npm")) and (PACKAGE / "node_modules").exists()


def npm(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the folder of the package, which must end well."""
    done = subprocess.run(
        command, cwd=PACKAGE, env={**os.environ, **environment}, capture_output=True, text=True, timeout=150
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def build() -> None:
    """Make `dist`, unless it is newer than its sources: tests of other processes may be reading it."""
    made = PACKAGE / "dist" / "index.js"
    with FileLock(PACKAGE / "node_modules" / "propcite-build.lock"):
        sources = [*(PACKAGE / "src").iterdir(), PACKAGE / "src", PACKAGE / "tsconfig.json"]
        if not made.exists() or made.stat().st_mtime <= max(path.stat().st_mtime for path in sources):
            npm("npm", "run", "--silent", "build")
