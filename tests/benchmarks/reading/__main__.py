"""Measure how true the text of documents is: one module of this folder for each kind of document.

    python -m tests.benchmarks.reading KIND CACHE [...]

CACHE is the folder into which the documents are downloaded; a second run uses what is there.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

KINDS = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in KINDS:
        sys.exit(f"{__doc__}\nKIND is one of {', '.join(KINDS)}")
    kind = sys.argv.pop(1)
    sys.argv[0] = f"{sys.argv[0]} {kind}"
    import_module(f"tests.benchmarks.reading.{kind}").main()
