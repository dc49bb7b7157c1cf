"""HTML's blocks in an answer: where one begins or ends, a sentence ends."""

from __future__ import annotations

import re
from collections.abc import Iterator

from propcite.attribution.prose.lines import Prose

_NAMES = "p br div li ul ol dl dt dd h1 h2 h3 h4 h5 h6 hr table thead tbody tr td th blockquote section article".split()
_TAG = re.compile(rf"</?(?:{'|'.join(_NAMES)})(?:[ \t/][^<>\n`]{{0,200}})?>|[`\n]", re.IGNORECASE)
_BEGUN = re.compile(r"<(?:/?(?:[a-z][a-z0-9]{0,9}(?:[ \t/][^<>\n`]{0,200})?)?)?\Z", re.IGNORECASE)


class Blocks:
    """Passes prose on with blank lines, of the same length, in place of such tags; those in code stay."""

    def __init__(self) -> None:
        self._at, self._held = 0, ""  # what may still become a tag, and where it stands
        self._in_code = False

    def feed(self, piece: Prose | None) -> Iterator[Prose | None]:
        if piece is None:
            if self._held:
                yield self._at, self._held
            self._held, self._in_code = "", False
            yield None
            return
        start, text = (self._at, self._held + piece[1]) if self._held else piece
        begun = _BEGUN.search(text)
        end = begun.start() if begun else len(text)
        self._at, self._held = start + end, text[end:]
        if end:
            yield start, _TAG.sub(self._parted, text[:end])

    def _parted(self, found: re.Match[str]) -> str:
        sign = found.group()
        if sign == "`":
            self._in_code = not self._in_code
        elif sign == "\n":
            self._in_code = False
        elif not self._in_code:
            return "\n\n".ljust(len(sign))
        return sign
