"""Draw pages and render documents on request: `python -m propcite.app.viewing.process MEGABYTES`.

A module of its own, so that the process imports neither the library nor the server.
"""

from __future__ import annotations

import sys

from propcite.app.processes import serve_requests
from propcite.app.viewing.drawing import DrawingFailure, PageRequest, draw
from propcite.app.viewing.rendering import RenderRequest, render


def answer(request: PageRequest | RenderRequest) -> bytes | DrawingFailure | str:
    """Return the image of a page, or the HTML of a document."""
    return draw(request) if isinstance(request, PageRequest) else render(request)


if __name__ == "__main__":
    serve_requests(answer, int(sys.argv[1]))
