"""PNG, JPEG and TIFF files: pictures of pages, whose text is recognised."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any

from propcite.app.errors import ReadError
from propcite.app.ingest.ocr.choosing import way_to_read
from propcite.app.ingest.ocr.scans import Scans
from propcite.app.ingest.readers.draft import Draft
from propcite.app.ingest.readers.pdf.reader import write_pages
from propcite.app.processes import report_step
from propcite.retrieval.text import Document

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "TIFF")
_KINDS = {"MPO": "jpeg"}  # a JPEG with further pictures, as some phones write it
_MAX_PAGES = 1000
_POINTS_PER_PIXEL = 72 / 200  # of scans whose resolution is usual


def read_image(name: str, data: bytes) -> Document:
    scans, lines = Scans(), []
    if scans.recogniser is None:
        raise ReadError(f"{name} is a picture: {way_to_read()} and add it again")
    with open_pictures(name, BytesIO(data)) as file:
        kind = _KINDS.get(file.format, file.format.lower())
        total = num_pages(file)
        for page in range(1, min(total, _MAX_PAGES) + 1):
            picture = upright_picture(name, file, page)
            lines += scans.lines(picture, page, picture.width * _POINTS_PER_PIXEL)
            report_step(f"page {page:,} of {total:,}")
    if not lines:
        raise ReadError(f"{name} has no text that can be recognised: scan it again with 200 to 300 dots per inch")
    draft = Draft()
    pages, boxes = write_pages(draft, lines)
    draft.places += scans.places(pages)
    metadata = {"kind": kind, "pages": str(total), **scans.metadata}
    metadata["pages_left_out"] = str(total - _MAX_PAGES) if total > _MAX_PAGES else ""
    metadata["pages_without_text"] = str(len(scans.unread) or "")
    return draft.document(name, "", metadata, pages, boxes)


@contextmanager
def open_pictures(name: str, file: IO[bytes]) -> Iterator[Any]:
    """Open a file of pictures.  Any error that Pillow raises inside becomes a ReadError."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(file, formats=FORMATS) as pictures:
                yield pictures
    except ReadError:
        raise
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise _too_large(name) from error
    except Exception as error:  # Pillow raises errors of many kinds for damaged files
        raise ReadError(f"{name} is damaged or not a picture: save it again as PNG, JPEG or TIFF") from error


def upright_picture(name: str, file: Any, page: int) -> Image:
    """Return a page of an open file as it is to be seen, on white where it is transparent."""
    from PIL import Image, ImageOps

    file.seek(page - 1)
    if file.width * file.height > (Image.MAX_IMAGE_PIXELS or 0):
        raise _too_large(name)
    picture: Image.Image = ImageOps.exif_transpose(file)
    if picture.mode.startswith("I"):  # 16 bits
        picture = picture.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    if picture.has_transparency_data:
        layer = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
    return picture.convert("RGB")


def num_pages(file: Any) -> int:
    return int(file.n_frames) if file.format == "TIFF" else 1


def _too_large(name: str) -> ReadError:
    from PIL import Image

    limit = (Image.MAX_IMAGE_PIXELS or 0) // 1_000_000
    return ReadError(f"{name} unpacks to more than {limit} megapixels: save it smaller and add it again")
