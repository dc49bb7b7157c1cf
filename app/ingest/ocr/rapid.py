"""RapidOCR with the PP-OCR models in its package; nothing is downloaded."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise, zip_longest
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from propcite.app.ingest.ocr.recogniser import TextLine, Word

if TYPE_CHECKING:
    from PIL.Image import Image

Pixels = npt.NDArray[np.uint8]

_DETECTION_SIDE = 1600  # pixels of the picture's longer side in which lines are found; they are read at full size
_OVERVIEW_SIDE = 800  # in which the direction of the lines is found
_NUM_VOTES = 12  # pieces of lines that say whether the page is upside down
_VOTE_ASPECT = 4  # width per height of such a piece: the model makes longer ones narrow
_SCRIPTS = "LATIN", "CJK", "HIRAGANA", "KATAKANA"  # whose letters the model reads
_ASCENDING, _DESCENDING = frozenset("bdfhklt"), frozenset("gjpqyQ,;()[]{}|@$")


class Rapid:
    """Reads lines with PP-OCR; one model reads Latin letters with accents, Chinese and Japanese."""

    name = "rapidocr"

    def __init__(self) -> None:
        import rapidocr

        models = Path(rapidocr.__file__).parent / "models"
        self._engine: Any = rapidocr.RapidOCR(
            params={
                "Global.log_level": "critical",
                "Global.max_side_len": 10_000,
                "Global.text_score": 0.0,
                "Global.use_cls": False,
                "Global.return_word_box": True,
                "EngineConfig.onnxruntime.intra_op_num_threads": max(1, (os.cpu_count() or 1) // 2),
                "Det.model_path": str(models / "PP-OCRv6_det_small.onnx"),
                "Det.limit_type": "max",
                "Det.limit_side_len": _DETECTION_SIDE,
                "Rec.model_path": str(models / "PP-OCRv6_rec_small.onnx"),
                "Cls.model_path": str(models / "ch_ppocr_mobile_v2.0_cls_mobile.onnx"),
            }
        )

    def knows(self, letter: str) -> bool:
        return unicodedata.name(letter, "").startswith(_SCRIPTS)

    def turn(self, picture: Image) -> int:
        overview = picture.copy()
        overview.thumbnail((_OVERVIEW_SIDE, _OVERVIEW_SIDE))
        found = self._engine(_pixels(overview), use_det=True, use_cls=False, use_rec=False).boxes
        if found is None or not len(found):
            return 0
        lines = [_Axis.of(quad * (picture.width / overview.width)) for quad in found]
        turn = 90 if 2 * sum(line.is_upended for line in lines) > len(lines) else 0
        lines.sort(key=lambda line: line.length, reverse=True)
        pieces = (piece for nth in zip_longest(*(line.pieces() for line in lines)) for piece in nth if piece)
        crops = [picture.crop(piece).rotate(turn, expand=True) for piece in islice(pieces, _NUM_VOTES)]
        return turn + (180 if sum(map(self._upside_down, crops)) > 0 else 0)

    def _upside_down(self, line: Image) -> float:
        """Return how surely a line is upside down, from -1 to 1."""
        found = self._engine(_pixels(line), use_det=False, use_cls=True, use_rec=False)
        label, confidence = found.cls_res[0]
        return float(confidence) if str(label) == "180" else -float(confidence)

    def lines(self, picture: Image) -> Sequence[TextLine]:
        pixels = _pixels(picture)
        found = self._engine(pixels, use_det=True, use_cls=False, use_rec=True)
        if found.txts is None:
            return []
        gray = np.asarray(picture.convert("L"))
        read = zip(found.txts, found.scores, found.boxes, found.word_results, strict=True)
        lines = [_line(text, float(score), quad, pieces, gray) for text, score, quad, pieces in read]
        return [line for line in lines if line.words]


@dataclass(frozen=True, slots=True)
class _Axis:
    """The middle of a line from one end to the other, and the height of the line."""

    start: Any
    end: Any
    height: float

    @classmethod
    def of(cls, quad: Any) -> _Axis:
        """Take the longer direction of a rectangle, whose corners go around it from the upper left."""
        upper_left, upper_right, lower_right, lower_left = quad
        wide = (upper_left + lower_left) / 2, (upper_right + lower_right) / 2
        tall = (upper_left + upper_right) / 2, (lower_left + lower_right) / 2
        width, height = (float(np.linalg.norm(end - start)) for start, end in (wide, tall))
        return cls(*wide, height) if 1.5 * width > height else cls(*tall, width)

    @property
    def is_upended(self) -> bool:
        across, down = np.abs(self.end - self.start)
        return bool(down > across)

    @property
    def length(self) -> float:
        return float(np.linalg.norm(self.end - self.start))

    def pieces(self) -> Iterator[tuple[float, float, float, float]]:
        """Yield the left, top, right and bottom of pieces that are short enough to see which side is up."""
        number = max(1, int(self.length / (_VOTE_ASPECT * self.height)))
        along, across = min(self.length / number, _VOTE_ASPECT * self.height) / 2, self.height / 2
        half = np.array([across, along] if self.is_upended else [along, across])
        for nth in range(number):
            center = self.start + (nth + 0.5) / number * (self.end - self.start)
            (left, top), (right, bottom) = center - half, center + half
            yield float(left), float(top), float(right), float(bottom)


def _pixels(picture: Image) -> Pixels:
    """Return the pixels in the order of OpenCV: blue, green, red."""
    return np.ascontiguousarray(np.asarray(picture.convert("RGB"))[:, :, ::-1])


def _line(text: str, score: float, quad: Any, pieces: Sequence[Any], gray: Pixels) -> TextLine:
    words = tuple(_words(text, score, quad, pieces))
    sizes = list(filter(None, (_letter_size(word, gray) for word in words)))
    height = float(np.linalg.norm(quad[0] - quad[3]))
    return TextLine(words, median(sizes) if sizes else height / 1.3)


def _words(text: str, score: float, quad: Any, pieces: Sequence[Any]) -> Iterator[Word]:
    """Yield the words of a line.

    `pieces` are its words or letters with a confidence and corners.  They are joined by counting letters, because
    their borders are not always those between words.
    """
    letters: list[tuple[float, Any]] = [(float(sure), box) for piece, sure, box in pieces for box in _cut(piece, box)]
    tokens = text.split()
    if len(letters) != sum(map(len, tokens)):
        letters = [(score, box) for box in _cut("".join(tokens), quad)]
    ends = accumulate(map(len, tokens), initial=0)
    for token, (start, end) in zip(tokens, pairwise(ends), strict=True):
        corners = np.concatenate([box for _, box in letters[start:end]])
        left, top = corners.min(axis=0)
        right, bottom = corners.max(axis=0)
        confidence = sum(sure for sure, _ in letters[start:end]) / len(token)
        yield Word(token, float(left), float(top), float(right), float(bottom), confidence)


def _cut(text: str, quad: Any) -> Iterator[Any]:
    """Cut the rectangle of a text into one for each letter that is not a space."""
    upper_left, upper_right, lower_right, lower_left = np.asarray(quad, dtype=float)
    length = max(len(text), 1)
    for number, letter in enumerate(text):
        if letter.isspace():
            continue
        start, end = number / length, (number + 1) / length
        yield np.array(
            [
                upper_left + start * (upper_right - upper_left),
                upper_left + end * (upper_right - upper_left),
                lower_left + end * (lower_right - lower_left),
                lower_left + start * (lower_right - lower_left),
            ]
        )


def _letter_size(word: Word, gray: Pixels) -> float:
    """Return the font size that the height of the word's ink stands for; 0 if it has no letters or no ink."""
    rows = gray[max(int(word.top), 0) : int(word.bottom) + 1, max(int(word.left), 0) : int(word.right) + 1]
    if not any(map(str.isalnum, word.text)) or min(rows.shape, default=0) < 4:
        return 0.0
    is_dark = rows < (float(rows.min()) + float(rows.max())) / 2
    ink = is_dark if is_dark.mean() < 0.5 else ~is_dark
    has_ink = ink.sum(axis=1) > 0.03 * rows.shape[1]
    middle = len(has_ink) // 2
    above = int(np.argmin(has_ink[middle::-1])) or middle + 1
    below = int(np.argmin(has_ink[middle:])) or len(has_ink) - middle
    height = above + below - 1
    ascends = any(letter in _ASCENDING or letter.isupper() or letter.isdigit() for letter in word.text)
    descends = not _DESCENDING.isdisjoint(word.text)
    return height / (0.46 + 0.22 * ascends + 0.21 * descends) if has_ink[middle] else 0.0
