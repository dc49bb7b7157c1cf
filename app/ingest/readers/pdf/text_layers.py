"""Recognise pages whose text is a layer that nobody sees: a program has recognised it in the picture of the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from ctypes import c_float
from typing import Any

from pypdfium2 import PdfBitmap, raw

_INVISIBLE = (raw.FPDF_TEXTRENDERMODE_INVISIBLE, raw.FPDF_TEXTRENDERMODE_CLIP)
_MIN_SHARE = 0.8  # of the page, that a picture covers which hides the text below it
_MAX_DEPTH = 3  # of forms inside forms


def is_text_layer(page: Any) -> bool:
    """Whether most text of a page is invisible, or lies below a picture of the page."""
    shown: list[Any] = []
    hidden: list[Any] = []
    for item, inside in _objects(page.raw, raw.FPDFPage_CountObjects, raw.FPDFPage_GetObject):
        match raw.FPDFPageObj_GetType(item):
            case raw.FPDF_PAGEOBJ_TEXT:
                (hidden if raw.FPDFTextObj_GetTextRenderMode(item) in _INVISIBLE else shown).append(item)
            case raw.FPDF_PAGEOBJ_IMAGE if shown and not inside and _hides(page, item):
                hidden += shown
                shown = []
    return bool(hidden) and sum(map(_width, hidden)) > sum(map(_width, shown))


def _objects(parent: Any, count: Any, get: Any, depth: int = 0) -> Iterator[tuple[Any, int]]:
    """Yield the objects of a page in the order in which they are drawn, and in how many forms each is."""
    for index in range(count(parent)):
        item = get(parent, index)
        if raw.FPDFPageObj_GetType(item) == raw.FPDF_PAGEOBJ_FORM and depth < _MAX_DEPTH:
            yield from _objects(item, raw.FPDFFormObj_CountObjects, raw.FPDFFormObj_GetObject, depth + 1)
        else:
            yield item, depth


def _hides(page: Any, image: Any) -> bool:
    """Whether a picture covers the page and nothing is seen through it."""
    left, bottom, right, top = _bounds(image)
    width, height = page.get_size()
    if (right - left) * (top - bottom) < _MIN_SHARE * width * height or raw.FPDFPageObj_HasTransparency(image):
        return False
    rendered = raw.FPDFImageObj_GetRenderedBitmap(page.pdf.raw, page.raw, image)
    if not rendered:
        return False
    with closing(PdfBitmap.from_raw(rendered)) as bitmap:
        pixels = bitmap.to_numpy()
        return pixels.ndim < 3 or pixels.shape[2] < 4 or int(pixels[:, :, 3].min()) == 255


def _width(item: Any) -> float:
    left, bottom, right, top = _bounds(item)
    return max(right - left, top - bottom)


def _bounds(item: Any) -> tuple[float, float, float, float]:
    edges = [c_float() for _ in range(4)]
    raw.FPDFPageObj_GetBounds(item, *edges)
    left, bottom, right, top = (edge.value for edge in edges)
    return left, bottom, right, top
