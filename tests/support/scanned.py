"""Print pages, and scan them as a cheap scanner does: skewed, blurred, with noise, at a low resolution."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pypdfium2
from PIL import Image, ImageFilter
from reportlab.pdfgen.canvas import Canvas

WIDTH, HEIGHT = 595, 842


@dataclass(frozen=True)
class Scanner:
    """How a page is scanned: the skew in degrees, the noise in shades of 256, the quality of the JPEG or 0."""

    dpi: int = 150
    skew: float = 0.0
    blur: float = 0.0
    noise: float = 0.0
    jpeg: int = 0

    def scan(self, pdf: bytes, page: int = 0) -> Image.Image:
        with pypdfium2.PdfDocument(pdf) as document:
            picture = document[page].render(scale=self.dpi / 72).to_pil().convert("L")
        if self.skew:
            picture = picture.rotate(self.skew, resample=Image.Resampling.BICUBIC, fillcolor=255)
        if self.blur:
            picture = picture.filter(ImageFilter.GaussianBlur(self.blur))
        if self.noise:
            grain = np.random.default_rng(7).normal(0, self.noise, (picture.height, picture.width))
            picture = Image.fromarray(np.clip(np.asarray(picture) + grain, 0, 255).astype(np.uint8))
        if self.jpeg:
            squeezed = io.BytesIO()
            picture.save(squeezed, "JPEG", quality=self.jpeg)
            picture = Image.open(squeezed).convert("L")
        return picture


def printed(*pages: Sequence[str], font: str = "Times-Roman", size: float = 11, left: float = 72) -> bytes:
    """Print lines from the top of each page down."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(WIDTH, HEIGHT))
    for lines in pages:
        canvas.setFont(font, size)
        for number, line in enumerate(lines):
            canvas.drawString(left, HEIGHT - 90 - number * 1.25 * size, line)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def saved(*pictures: Image.Image, kind: str = "PDF", dpi: int = 150, **options: object) -> bytes:
    """Return a file of pictures: a PDF without text, PNG, JPEG or TIFF."""
    file = io.BytesIO()
    several = {"save_all": True, "append_images": pictures[1:]} if len(pictures) > 1 else {}
    resolution = {"resolution": dpi} if kind == "PDF" else {}
    pictures[0].save(file, kind, **several, **resolution, **options)
    return file.getvalue()
