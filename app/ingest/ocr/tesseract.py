"""Tesseract, run as a program; it reads the languages that are installed with it."""

from __future__ import annotations

import os
import re
import subprocess
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property
from io import BytesIO
from typing import TYPE_CHECKING, Any

from propcite.app.errors import ReadError
from propcite.app.ingest.ocr.recogniser import CELL_GAP, TextLine, Word
from propcite.app.ingest.ocr.skew import levelled, skew_of, turned_back

if TYPE_CHECKING:
    from PIL.Image import Image

_ROTATION = re.compile(r"Rotate: (\d+)\s+Orientation confidence: ([\d.]+)")
_MIN_CONFIDENCE = 1.0  # of a rotation; clear pages have 10 and more
_MIN_SKEW = 0.3  # degrees from which a picture is levelled first; Tesseract reads less of one that is more skewed
_BOX = re.compile(r"bbox (\d+) (\d+) (\d+) (\d+)")
_SIZE = re.compile(r"x_size ([\d.]+)")
_CONFIDENCE = re.compile(r"x_wconf ([\d.]+)")


class Tesseract:
    name = "tesseract"

    def knows(self, letter: str) -> bool:
        """Whether the letter is Latin: other scripts need languages of their own, which may not be installed."""
        return unicodedata.name(letter, "").startswith("LATIN")

    def turn(self, picture: Image) -> int:
        if "osd" not in self._languages:
            return 0
        found = _ROTATION.search(_run(picture, "--psm", "0", "-l", "osd").decode(errors="replace"))
        return -int(found[1]) % 360 if found and float(found[2]) >= _MIN_CONFIDENCE else 0

    def lines(self, picture: Image) -> Sequence[TextLine]:
        angle = skew_of(picture)
        if abs(angle) < _MIN_SKEW:
            return self._level_lines(picture)
        level = levelled(picture, angle)
        return turned_back(self._level_lines(level), level, angle, picture)

    def _level_lines(self, picture: Image) -> Sequence[TextLine]:
        from lxml import html

        texts = "+".join(sorted(self._languages - {"osd"})) or "eng"
        page = _run(picture, "-l", texts, "-c", "tessedit_create_hocr=1")
        if not page:
            raise ReadError(f"Tesseract cannot read with its languages ({texts}): install tesseract-ocr-eng")
        rows = html.fromstring(page).xpath("//*[span[@class='ocrx_word']]")
        return [line for row in rows for line in _lines(row)]

    @cached_property
    def _languages(self) -> frozenset[str]:
        listed = subprocess.run(["tesseract", "--list-langs"], capture_output=True, text=True, check=False).stdout
        return frozenset(listed.splitlines()[1:])


def _run(picture: Image, *options: str) -> bytes:
    """Return what Tesseract prints; empty if it fails, as it does when a page has too few letters for an option."""
    data = BytesIO()
    picture.convert("L").save(data, "PPM")
    command = ["tesseract", "stdin", "stdout", "--dpi", "200", *options]
    environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
    done = subprocess.run(command, input=data.getvalue(), capture_output=True, env=environment, check=False)
    return done.stdout if done.returncode == 0 else b""


def _lines(row: Any) -> Iterator[TextLine]:
    """Yield the pieces of a line between wide gaps."""
    words = [word for span in row.xpath("span[@class='ocrx_word']") if (word := _word(span)).text]
    found = _SIZE.search(row.get("title"))
    size = float(found[1]) if found else max((word.bottom - word.top for word in words), default=1.0)
    piece: list[Word] = []
    for word in words:
        if piece and word.left - piece[-1].right > CELL_GAP * size:
            yield TextLine(tuple(piece), size)
            piece = []
        piece.append(word)
    if piece:
        yield TextLine(tuple(piece), size)


def _word(span: Any) -> Word:
    title = span.get("title")
    box, sure = _BOX.search(title), _CONFIDENCE.search(title)
    left, top, right, bottom = map(float, box.groups()) if box else (0.0, 0.0, 0.0, 0.0)
    text = "".join(span.text_content().split())
    return Word(text, left, top, right, bottom, float(sure[1]) / 100 if sure else 0.0)
