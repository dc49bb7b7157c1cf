"""python -m propcite.app.viewing.process MEGABYTES: draws pages of PDFs for who asks on its standard input."""

from __future__ import annotations

import sys

from propcite.app.processes import answer_all
from propcite.app.viewing.drawing import draw

if __name__ == "__main__":
    answer_all(draw, int(sys.argv[1]))
