"""Pass on the lines of prose of an answer as its text arrives, without code blocks and headings."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Each part has a maximum length, so that no line is held back for long because it may still match.
_TICKS = re.compile(r"[ \t]{0,3}(?P<marks>`{3,99})[^`\n]{0,300}$")
_TILDES = re.compile(r"[ \t]{0,3}(?P<marks>~{3,99})[^\n]{0,300}$")
_HASHES = re.compile(r"[ \t]{0,3}#{1,6}\s")
_BOLD = re.compile(r"[ \t]{0,12}(?P<stars>\*\*|__)(?:(?!(?P=stars))[^\n]){0,300}[^.!?\s*_](?P=stars):?\s{0,20}$")
_UNDECIDED = re.compile(
    r"[ \t]{0,12}\Z|[ \t]{0,3}(?:`{1,2}\Z|`{3,99}[^`\n]{0,300}\Z|~{1,2}\Z|~{3,99}[^\n]{0,300}\Z|#{1,6}\Z)|[ \t]{0,12}"
    r"(?:[*_]\Z|(?P<stars>\*\*|__)(?:(?!(?P=stars))[^\n]){0,301}(?:\Z|(?<=[^.!?\s*_])(?P=stars):?\s{0,20}\Z))"
)
MAX_FENCE = 200  # characters: a longer line ends no code block
LINES = re.compile(r"[^\n]*\n|[^\n]+")  # whole lines of a text, and the rest after the last line break

ProsePiece = tuple[int, str]  # some prose, with its place in the answer


class CodeFence:
    """Tracks whether lines belong to a code block; a block that is not closed reaches to the end of the text."""

    def __init__(self) -> None:
        self.marks = ""  # the fence that opened the block

    def is_code(self, line: str) -> bool:
        """Return whether the next whole line belongs to a code block; fences do."""
        if self.marks:
            bare = line.strip()
            closes = len(line) <= MAX_FENCE and bare.startswith(self.marks) and not bare.strip(self.marks[0])
            self.marks = "" if closes else self.marks
            return True
        opening = _TICKS.match(line) or _TILDES.match(line)
        self.marks = opening["marks"] if opening else ""
        return opening is not None


class ProseLines:
    """Passes on the prose of a text that arrives in pieces, and None where a code block or heading interrupts it."""

    def __init__(self) -> None:
        self._at = 0
        self._line = ""  # the beginning of a line whose kind is not decided
        self._fence = CodeFence()
        self._kind = ""  # of the rest of the line, once decided: "prose" or "other"

    def feed(self, text: str) -> Iterator[ProsePiece | None]:
        for piece in LINES.findall(text):
            yield from self._rest(piece) if self._kind else self._beginning(piece)

    def finish(self) -> Iterator[ProsePiece | None]:
        """Yield the last line, which may have no line break, then None."""
        if self._line:
            yield from self._whole()
        yield None

    def _rest(self, piece: str) -> Iterator[ProsePiece]:
        if self._kind == "prose":
            yield self._at, piece
        self._at += len(piece)
        if piece.endswith("\n"):
            self._kind = ""

    def _beginning(self, piece: str) -> Iterator[ProsePiece | None]:
        self._line += piece
        if piece.endswith("\n"):
            yield from self._whole()
        elif self._fence.marks:
            if len(self._line) > MAX_FENCE:
                yield from self._decide("other")
        elif _HASHES.match(self._line):
            yield None
            yield from self._decide("other")
        elif not _UNDECIDED.match(self._line):
            yield from self._decide("prose")

    def _decide(self, kind: str) -> Iterator[ProsePiece]:
        line, self._line, self._kind = self._line, "", kind
        yield from self._rest(line)

    def _whole(self) -> Iterator[ProsePiece | None]:
        line, at = self._line, self._at
        self._line, self._at = "", at + len(line)
        was_code = bool(self._fence.marks)
        if self._fence.is_code(line) or _HASHES.match(line + "\n") or _BOLD.match(line):
            if not was_code:
                yield None
        else:
            yield at, line
