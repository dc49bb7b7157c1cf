"""Run all tests; run those that fail once more, each by itself, and report the ones that then pass as flaky.

    python tests/rerun.py [PYTEST ARGUMENTS]

A test that passes by itself does not fail the run, but it is named in the closing lines: add it to tests/flaky.txt
until its cause is mended.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MAX_RERUN = 5  # more failures than this are no accident
FLAKY = Path(__file__).with_name("flaky.txt")
FAILED = 1  # pytest: the run ended, some tests failed


def run(arguments: list[str], cache: str) -> int:
    # Workers and the processes that tests start compile all modules again where an environment forbids to keep them.
    keeping = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.call([sys.executable, "-m", "pytest", "-o", f"cache_dir={cache}", *arguments], env=keeping)


def failures(cache: str) -> list[str]:
    """Return the ids of the tests that failed in the last run with this cache."""
    path = Path(cache, "v", "cache", "lastfailed")
    return sorted(json.loads(path.read_text("utf-8"))) if path.exists() else []


def is_flaky(test: str) -> bool:
    print(f"\nagain, by itself: {test}", flush=True)
    with tempfile.TemporaryDirectory() as cache:
        return run([test], cache) == 0


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory() as cache:
        code = run(arguments, cache)
        failed = failures(cache)
    if code != FAILED or not 0 < len(failed) <= MAX_RERUN:
        return code
    flaky = [test for test in failed if is_flaky(test)]
    for test in flaky:
        note = "" if test in FLAKY.read_text("utf-8").splitlines() else f" (add it to {FLAKY.name})"
        print(f"flaky: {test}{note}")
    print(f"flaky: {len(flaky)} of {len(failed)} that failed passed by themselves", flush=True)
    return 0 if flaky == failed else FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
