"""Separate sentences at HTML's block tags: a sentence ends where a block begins or ends."""

from __future__ import annotations

import re
from collections.abc import Iterator

from propcite.attribution.prose.lines import ProsePiece

_NAMES = "p br div li ul ol dl dt dd h1 h2 h3 h4 h5 h6 hr table thead tbody tr td th blockquote section article".split()
_TAG = re.compile(rf"</?(?:{'|'.join(_NAMES)})(?:[ \t/][^<>\n`]{{0,200}})?>|[`\n]", re.IGNORECASE)
_INCOMPLETE = re.compile(r"<(?:/?(?:[a-z][a-z0-9]{0,9}(?:[ \t/][^<>\n`]{0,200})?)?)?\Z", re.IGNORECASE)


class HtmlBlocks:
    """Replaces block tags in prose by blank lines of the same length; tags in inline code stay."""

    def __init__(self) -> None:
        self._start, self._held = 0, ""  # text that may still become a tag, and its place in the answer
        self._in_code = False

    def feed(self, piece: ProsePiece | None) -> Iterator[ProsePiece | None]:
        if piece is None:
            if self._held:
                yield self._start, self._held
            self._held, self._in_code = "", False
            yield None
            return
        start, text = (self._start, self._held + piece[1]) if self._held else piece
        incomplete = _INCOMPLETE.search(text)
        end = incomplete.start() if incomplete else len(text)
        self._start, self._held = start + end, text[end:]
        if end:
            yield start, _TAG.sub(self._replacement, text[:end])

    def _replacement(self, match: re.Match[str]) -> str:
        sign = match.group()
        if sign == "`":
            self._in_code = not self._in_code
        elif sign == "\n":
            self._in_code = False
        elif not self._in_code:
            return "\n\n".ljust(len(sign))
        return sign
