"""Takes a language model's own citation markers out of a text as it comes, so that no piece of one is ever shown.

These are `[1]`, `[2, 3]`, `[^4]`, `[[5]](link)`, `[Source 6]`, `(Source: 7)`, `【8†source】`, `<|file-9|>`, and the
`<sup>` around them, empty or not.  What is in code stays, and so does `[0, 1]`: markers count from 1, and who counts
from 0 writes `[0]` alone too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from propcite.attribution.prose.lines import PIECE, Fence

_NAMES = ("sources", "references", "refs", "documents", "docs", "passages", "citations", "cite", "id", "chunks")
_FILES = ("file", "cite", "doc", "source", "ref")
SEEN = 420  # characters of a line: a longer one opens no code block


def _beginnings(words: Iterable[str]) -> str:
    """A pattern of all that may be the beginning of these words, the longest first.

    >>> _beginnings(["id"])
    'id|i'
    """
    found = {word[:size] for word in words for size in range(1, len(word) + 1)}
    return "|".join(sorted(found, key=lambda beginning: (-len(beginning), beginning)))


_NUMBER = r"[1-9]\d{0,2}"
_BETWEEN = r"(?:[,;–-]|and)"
_LIST = rf"(?:{_NUMBER}(?: ?{_BETWEEN} ?\^?{_NUMBER}){{0,20}}|0)"
_LIST_BEGUN = rf"(?:{_LIST}(?: ?(?:{_BETWEEN} ?\^?|an?)?)?)?"
_NAME = rf"(?i:{'|'.join(f'{name[:-1]}s?' if name[-1] == 's' else name for name in _NAMES)}) ?[:.]? ?#?"
_ONE = (
    rf"(?:\[{{1,2}} ?(?:{_NAME}|\^)?{_LIST} ?\]{{1,2}}(?:\([^()\s]{{0,300}}\))?|\({_NAME}{_LIST}\)"
    rf"|【\d{{1,3}}(?::\d{{1,3}})?(?:†[^】\n]{{0,80}})?】|<\|(?:{'|'.join(_FILES)})[^|<>\n]{{0,100}}\|>"
    r"|\ue200[^\ue201\n]{0,200}\ue201)"
)
_ONE_BEGUN = (
    rf"(?:\[{{1,2}} ?(?:(?i:{_beginnings(_NAMES)})|(?:{_NAME}|\^)?(?:{_LIST_BEGUN}|{_LIST} ?\]{{1,2}}"
    rf"(?:\([^()\s]{{0,300}})?))?|\((?:(?i:{_beginnings(_NAMES)})|{_NAME}{_LIST_BEGUN})?"
    r"|【(?:\d{1,3}(?::\d{0,3})?(?:†[^】\n]{0,80})?)?"
    rf"|<(?:\|(?:{_beginnings(_FILES)}|(?:{'|'.join(_FILES)})[^|<>\n]{{0,100}}\|?)?)?|\ue200[^\ue201\n]{{0,200}}+)"
)
_RAISED = rf"(?i:<sup>)(?: ?,? ?{_ONE}){{0,20}} ?"
_RAISED_BEGUN = rf"(?i:{_beginnings(['<sup'])})|{_RAISED},? ?(?:{_ONE_BEGUN}|(?i:{_beginnings(['</sup'])}))?"
MARKER = re.compile(rf"[ \t]{{0,8}}(?:{_ONE}|{_RAISED}(?i:</sup>))|`")
_BEGUN = re.compile(rf"[ \t]{{0,8}}(?:{_ONE_BEGUN}|{_RAISED_BEGUN})\Z|[ \t]{{1,8}}\Z")


class Unmarking:
    """Passes a text on without markers; what may still become one is held back until that is known."""

    def __init__(self) -> None:
        self._fence, self._line = Fence(), ""
        self._held = ""
        self._in_code = False
        self._at_start = True  # nothing of the line has been passed on but space
        self._opened = False  # by a marker: the space behind it goes too

    def feed(self, text: str) -> str:
        return "".join(self._read(piece) for piece in PIECE.findall(text))

    def finish(self) -> str:
        """What was held back, at the end of the text."""
        return self._without(self._held, whole=True)

    def _read(self, piece: str) -> str:
        ends, in_block = piece.endswith("\n"), bool(self._fence.marks)
        self._line = (self._line + piece)[:SEEN]
        if ends:
            self._fence.holds(self._line)
            self._line = ""
        if in_block:
            return piece
        return self._without(self._held + piece, whole=ends)

    def _without(self, text: str, *, whole: bool) -> str:
        pieces, last = [], 0
        for found in self._markers(text, whole=whole):
            if found.group() == "`":
                self._in_code = not self._in_code
            elif not self._in_code:
                pieces.append(self._passed(text[last : found.start()]))
                self._opened, last = self._opened or self._at_start, found.end()
        pieces.append(self._passed(text[last : len(text) - len(self._held)]))
        if text.endswith("\n"):
            self._in_code, self._at_start, self._opened = False, True, False
        return "".join(pieces)

    def _markers(self, text: str, *, whole: bool) -> Iterator[re.Match[str]]:
        """The markers of a text, up to one that has only begun: the text from there on is held back."""
        begun = None if whole else _BEGUN.search(text)
        for found in MARKER.finditer(text):
            if begun and begun.start() <= found.start():
                break
            yield found
            if begun and begun.start() < found.end():
                begun = _BEGUN.search(text, found.end())
        self._held = text[begun.start() :] if begun else ""

    def _passed(self, text: str) -> str:
        if self._opened:
            text = text.lstrip(" \t")
        if text.strip(" \t"):
            self._at_start = self._opened = False
        return text


def unmarked(text: str) -> str:
    """A whole text without markers.

    >>> unmarked("It cost 5 euros [1][2], see `a[3]` (Source: 4). 【5†source】")
    'It cost 5 euros, see `a[3]`.'
    """
    unmarking = Unmarking()
    return unmarking.feed(text) + unmarking.finish()
