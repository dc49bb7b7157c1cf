"""Draw one page of a PDF, or of a file of pictures, as a JPEG."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.kinds import PICTURES

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_ASPECT = 4.0  # height per width; a longer page is drawn at a smaller scale
QUALITY = 85


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page of a PDF or of a file of pictures, counted from 1, and the width of its image in pixels."""

    path: Path
    page: int
    width: int
    kind: str = "pdf"


@dataclass(frozen=True, slots=True)
class DrawingFailure:
    """Why there is no image: the file has only `pages` pages, or it is damaged if that is 0."""

    pages: int


def draw(request: PageRequest) -> bytes | DrawingFailure:
    """Return the page as a JPEG, which takes a third of the time of other formats at the usual widths."""
    return _draw_picture(request) if request.kind in PICTURES else _draw_pdf(request)


def _draw_picture(request: PageRequest) -> bytes | DrawingFailure:
    from propcite.app.ingest.readers.images import num_pages, open_pictures, upright_picture

    try:
        with request.path.open("rb") as data, open_pictures(request.path.name, data) as file:
            if not 1 <= request.page <= num_pages(file):
                return DrawingFailure(num_pages(file))
            picture = upright_picture(request.path.name, file, request.page)
    except (ReadError, OSError):
        return DrawingFailure(0)
    picture.thumbnail((request.width, int(MAX_ASPECT * request.width)))
    return _jpeg(picture)


def _draw_pdf(request: PageRequest) -> bytes | DrawingFailure:
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(request.path) as pdf:
            if not 1 <= request.page <= len(pdf):
                return DrawingFailure(len(pdf))
            return _jpeg(_page_image(pdf[request.page - 1], request.width))
    except (pypdfium2.PdfiumError, OSError, ValueError):
        return DrawingFailure(0)


def _page_image(page: Any, width: int) -> Image:
    page_width, page_height = page.get_size()
    scale = min(width / page_width, MAX_ASPECT * width / page_height)
    image: Image = page.render(scale=scale, rev_byteorder=True).to_pil().convert("RGB")
    return image


def _jpeg(image: Image) -> bytes:
    data = BytesIO()
    image.save(data, "JPEG", quality=QUALITY)
    return data.getvalue()
