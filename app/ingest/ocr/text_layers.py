"""Compare a layer of text, which another program recognised in a page, with the picture of the page."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from propcite.app.ingest.ocr.recogniser import Recogniser, TextLine
from propcite.app.ingest.readers.pdf.lines import Cell, Line, is_right_to_left

if TYPE_CHECKING:
    from PIL.Image import Image

# Words of one or two letters are found by chance.  Chinese and Japanese have no spaces between words.
_WORD = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff]{2}|\d+|[^\W\d_\u2e80-\u9fff\uf900-\ufaff]{3,}")
_SAMPLED_LINES = 8
_SAMPLED_LETTERS = 40  # of a line
_MARGIN = 0.5  # of a line's height, around what is sampled: layers are seldom exactly in their place
_SIDE_MARGIN = 2.0  # the same beside it, since letters differ in width
_MIN_CONFIDENCE = 0.5  # of a recognised line
_ALIKE = 0.7  # share of words up to which a layer says something else than its page


def can_be_compared(lines: Sequence[Line], recogniser: Recogniser) -> bool:
    """Whether the recogniser reads the letters of most words of a layer."""
    letters = [char for line in lines for char in line.text if char.isalpha()]
    return 2 * sum(map(recogniser.knows, letters)) > len(letters)


def is_alike(agreement: float) -> bool:
    return agreement >= _ALIKE


def sample_agreement(lines: Sequence[Line], picture: Image, recogniser: Recogniser) -> float:
    """Return the share of the words of some lines that are recognised where they should be in the picture."""
    from PIL import Image

    wordy = [start for line in lines if _words((start := _start(line)).text)]
    sampled = [wordy[len(wordy) * nth // _SAMPLED_LINES] for nth in range(_SAMPLED_LINES)] if wordy else []
    strips = [(line, _strip(line, picture)) for line in dict.fromkeys(sampled)]
    strips = [(line, strip) for line, strip in strips if strip.width > 1 and strip.height > 1]
    if not strips:
        return 0.0
    gap = max(strip.height for _, strip in strips) // 2
    height = sum(strip.height + gap for _, strip in strips)
    sheet = Image.new("RGB", (max(strip.width for _, strip in strips), height), "white")
    top, bands = 0, []
    for line, strip in strips:
        sheet.paste(strip, (0, top))
        bands.append((line, top, top + strip.height))
        top += strip.height + gap
    found = recogniser.lines(sheet)
    inside = [(line, [one for one in found if start <= one.words[0].center[1] <= end]) for line, start, end in bands]
    hits = [_hits(line.text, _recognised(own)) for line, own in inside]
    return _share(hits)


def agreement(lines: Sequence[Line], recognised: str) -> float:
    """Return the share of a layer's words that are in a recognised text."""
    return _share([_hits(line.text, _plain(recognised)) for line in lines])


def _start(line: Line) -> Line:
    """Return the first words of a line, and where they should be."""
    words = line.text[:_SAMPLED_LETTERS]
    if len(words) < len(line.text) and " " in words and line.text[_SAMPLED_LETTERS] != " ":
        words = words[: words.rindex(" ")]
    width = (line.right - line.left) * len(words) / len(line.text)
    if is_right_to_left(line.text):
        return replace(line, text=words, left=line.right - width)
    return replace(line, text=words, right=line.left + width)


def _strip(line: Line, picture: Image) -> Image:
    """Cut a line out of the picture of its page, and turn it upright."""
    part = line.part(Cell(line.text, line.left, line.right))
    edges = (
        part.left * picture.width,
        part.top * picture.height,
        part.right * picture.width,
        part.bottom * picture.height,
    )
    height = (line.top - line.bottom) * (picture.height if line.turn in (0, 180) else picture.width) / line.page_height
    across, along = _MARGIN * height, _SIDE_MARGIN * height
    aside, above = (along, across) if line.turn in (0, 180) else (across, along)
    edges = edges[0] - aside, edges[1] - above, edges[2] + aside, edges[3] + above
    left, top, right, bottom = (max(0, round(edge)) for edge in edges)
    strip = picture.crop((left, top, max(left, min(right, picture.width)), max(top, min(bottom, picture.height))))
    return strip.rotate(line.turn, expand=True) if line.turn else strip


def _recognised(found: Sequence[TextLine]) -> str:
    return _plain(" ".join(line.text for line in found if line.confidence >= _MIN_CONFIDENCE))


def _hits(text: str, recognised: str) -> tuple[int, int]:
    words = _words(text)
    return sum(word in recognised for word in words), len(words)


def _share(hits: Sequence[tuple[int, int]]) -> float:
    total = sum(number for _, number in hits)
    return sum(found for found, _ in hits) / total if total else 0.0


def _words(text: str) -> list[str]:
    return _WORD.findall(_folded(text))


def _plain(text: str) -> str:
    """Return the letters and digits alone: spaces are what recognisers lose most often."""
    return "".join(char for char in _folded(text) if char.isalnum())


def _folded(text: str) -> str:
    """Return the text in small letters without accents, which layers often lack."""
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).casefold()
