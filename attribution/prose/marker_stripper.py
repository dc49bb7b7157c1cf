"""Remove a language model's own citation markers from a text as it arrives, so that no part of one is ever shown.

Markers are `[1]`, `[2, 3]`, `[^4]`, `[[5]](link)`, `[Source 6]`, `(Source: 7)`, `【8†source】`, `<|file-9|>`, and the
`<sup>` around them, empty or not.  Code stays as it is, and so does `[0, 1]`: markers count from 1, and a model that
counts from 0 writes `[0]` alone too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from propcite.attribution.prose.lines import LINES, CodeFence

_NAMES = ("sources", "references", "refs", "documents", "docs", "passages", "citations", "cite", "id", "chunks")
_FILES = ("file", "cite", "doc", "source", "ref")
MAX_FENCE_LINE = 420  # characters: a longer line opens no code block


def _beginnings(words: Iterable[str]) -> str:
    """Return a pattern that matches any beginning of these words, the longest first.

    >>> _beginnings(["id"])
    'id|i'
    """
    beginnings = {word[:size] for word in words for size in range(1, len(word) + 1)}
    return "|".join(sorted(beginnings, key=lambda beginning: (-len(beginning), beginning)))


_NUMBER = r"[1-9]\d{0,2}"
_BETWEEN = r"(?:[,;–-]|and)"
_LIST = rf"(?:{_NUMBER}(?: ?{_BETWEEN} ?\^?{_NUMBER}){{0,20}}|0)"
_LIST_START = rf"(?:{_LIST}(?: ?(?:{_BETWEEN} ?\^?|an?)?)?)?"
_NAME = rf"(?i:{'|'.join(f'{name[:-1]}s?' if name[-1] == 's' else name for name in _NAMES)}) ?[:.]? ?#?"
_ONE = (
    rf"(?:\[{{1,2}} ?(?:{_NAME}|\^)?{_LIST} ?\]{{1,2}}(?:\([^()\s]{{0,300}}\))?|\({_NAME}{_LIST}\)"
    rf"|【\d{{1,3}}(?::\d{{1,3}})?(?:†[^】\n]{{0,80}})?】|<\|(?:{'|'.join(_FILES)})[^|<>\n]{{0,100}}\|>"
    r"|\ue200[^\ue201\n]{0,200}\ue201)"
)
_ONE_START = (
    rf"(?:\[{{1,2}} ?(?:(?i:{_beginnings(_NAMES)})|(?:{_NAME}|\^)?(?:{_LIST_START}|{_LIST} ?\]{{1,2}}"
    rf"(?:\([^()\s]{{0,300}})?))?|\((?:(?i:{_beginnings(_NAMES)})|{_NAME}{_LIST_START})?"
    r"|【(?:\d{1,3}(?::\d{0,3})?(?:†[^】\n]{0,80})?)?"
    rf"|<(?:\|(?:{_beginnings(_FILES)}|(?:{'|'.join(_FILES)})[^|<>\n]{{0,100}}\|?)?)?|\ue200[^\ue201\n]{{0,200}}+)"
)
_SUPERSCRIPT = rf"(?i:<sup>)(?: ?,? ?{_ONE}){{0,20}} ?"
_SUPERSCRIPT_START = rf"(?i:{_beginnings(['<sup'])})|{_SUPERSCRIPT},? ?(?:{_ONE_START}|(?i:{_beginnings(['</sup'])}))?"
MARKER = re.compile(rf"[ \t]{{0,8}}(?:{_ONE}|{_SUPERSCRIPT}(?i:</sup>))|`")
_INCOMPLETE = re.compile(rf"[ \t]{{0,8}}(?:{_ONE_START}|{_SUPERSCRIPT_START})\Z|[ \t]{{1,8}}\Z")


class MarkerStripper:
    """Passes on a text without markers; text that may still become a marker is held back."""

    def __init__(self) -> None:
        self._fence, self._line = CodeFence(), ""
        self._held = ""
        self._in_code = False
        self._at_line_start = True  # only space of the line was passed on so far
        self._drop_space = False  # a marker began the line: the space behind it goes too

    def feed(self, text: str) -> str:
        return "".join(self._read(piece) for piece in LINES.findall(text))

    def finish(self) -> str:
        """Return the text that was held back, at the end."""
        return self._strip(self._held, whole=True)

    def _read(self, piece: str) -> str:
        ends, in_block = piece.endswith("\n"), bool(self._fence.marks)
        self._line = (self._line + piece)[:MAX_FENCE_LINE]
        if ends:
            self._fence.is_code(self._line)
            self._line = ""
        if in_block:
            return piece
        return self._strip(self._held + piece, whole=ends)

    def _strip(self, text: str, *, whole: bool) -> str:
        pieces, last = [], 0
        for match in self._markers(text, whole=whole):
            if match.group() == "`":
                self._in_code = not self._in_code
            elif not self._in_code:
                pieces.append(self._passed(text[last : match.start()]))
                self._drop_space, last = self._drop_space or self._at_line_start, match.end()
        pieces.append(self._passed(text[last : len(text) - len(self._held)]))
        if text.endswith("\n"):
            self._in_code, self._at_line_start, self._drop_space = False, True, False
        return "".join(pieces)

    def _markers(self, text: str, *, whole: bool) -> Iterator[re.Match[str]]:
        """Yield the complete markers of a text, and hold back the text from an incomplete one on."""
        incomplete = None if whole else _INCOMPLETE.search(text)
        for match in MARKER.finditer(text):
            if incomplete and incomplete.start() <= match.start():
                break
            yield match
            if incomplete and incomplete.start() < match.end():
                incomplete = _INCOMPLETE.search(text, match.end())
        self._held = text[incomplete.start() :] if incomplete else ""

    def _passed(self, text: str) -> str:
        if self._drop_space:
            text = text.lstrip(" \t")
        if text.strip(" \t"):
            self._at_line_start = self._drop_space = False
        return text


def remove_markers(text: str) -> str:
    """Return a whole text without markers.

    >>> remove_markers("It cost 5 euros [1][2], see `a[3]` (Source: 4). 【5†source】")
    'It cost 5 euros, see `a[3]`.'
    """
    stripper = MarkerStripper()
    return stripper.feed(text) + stripper.finish()
