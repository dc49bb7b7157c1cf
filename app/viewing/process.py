"""Draw pages of PDFs on request: `python -m propcite.app.viewing.process MEGABYTES`.

A module of its own, so that the process imports neither the library nor the server.
"""

from __future__ import annotations

import sys

from propcite.app.processes import serve_requests
from propcite.app.viewing.drawing import draw

if __name__ == "__main__":
    serve_requests(draw, int(sys.argv[1]))
