"""Which of an answer's lines are prose, said as its text comes: not those of code blocks, not headings."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Each part is bounded, so that no line is held back for long while it may still turn out to be of these.
_TICKS = re.compile(r"[ \t]{0,3}(?P<marks>`{3,99})[^`\n]{0,300}$")
_TILDES = re.compile(r"[ \t]{0,3}(?P<marks>~{3,99})[^\n]{0,300}$")
_HASHES = re.compile(r"[ \t]{0,3}#{1,6}\s")
_BOLD = re.compile(r"[ \t]{0,12}(?P<stars>\*\*|__)(?:(?!(?P=stars))[^\n]){0,300}[^.!?\s*_](?P=stars):?\s{0,20}$")
_UNDECIDED = re.compile(
    r"[ \t]{0,12}\Z|[ \t]{0,3}(?:`{1,2}\Z|`{3,99}[^`\n]{0,300}\Z|~{1,2}\Z|~{3,99}[^\n]{0,300}\Z|#{1,6}\Z)|[ \t]{0,12}"
    r"(?:[*_]\Z|(?P<stars>\*\*|__)(?:(?!(?P=stars))[^\n]){0,301}(?:\Z|(?<=[^.!?\s*_])(?P=stars):?\s{0,20}\Z))"
)
LONGEST_END = 200  # characters: a longer line ends no code block
PIECE = re.compile(r"[^\n]*\n|[^\n]+")  # of a text: whole lines, and what follows the last line break

Prose = tuple[int, str]  # some prose, and where it stands in the answer


class Fence:
    """Whether a line belongs to a code block; one without an end runs to the end."""

    def __init__(self) -> None:
        self.marks = ""

    def holds(self, line: str) -> bool:
        """Whether this whole line does, the next of the text; those that open or end a block do."""
        if self.marks:
            bare = line.strip()
            ends = len(line) <= LONGEST_END and bare.startswith(self.marks) and not bare.strip(self.marks[0])
            self.marks = "" if ends else self.marks
            return True
        opened = _TICKS.match(line) or _TILDES.match(line)
        self.marks = opened["marks"] if opened else ""
        return opened is not None


class Lines:
    """Passes on the prose of a text that comes in pieces, and None where it breaks off at a code block or a heading."""

    def __init__(self) -> None:
        self._at = 0
        self._line = ""  # the line so far, while it is not known what it is
        self._fence = Fence()
        self._known = ""  # "prose" or "other": what the rest of the line is

    def feed(self, text: str) -> Iterator[Prose | None]:
        for piece in PIECE.findall(text):
            yield from self._rest(piece) if self._known else self._beginning(piece)

    def finish(self) -> Iterator[Prose | None]:
        """The last line, which no line break has ended."""
        if self._line:
            yield from self._whole()
        yield None

    def _rest(self, piece: str) -> Iterator[Prose]:
        if self._known == "prose":
            yield self._at, piece
        self._at += len(piece)
        if piece.endswith("\n"):
            self._known = ""

    def _beginning(self, piece: str) -> Iterator[Prose | None]:
        self._line += piece
        if piece.endswith("\n"):
            yield from self._whole()
        elif self._fence.marks:
            if len(self._line) > LONGEST_END:
                yield from self._decided("other")
        elif _HASHES.match(self._line):
            yield None
            yield from self._decided("other")
        elif not _UNDECIDED.match(self._line):
            yield from self._decided("prose")

    def _decided(self, known: str) -> Iterator[Prose]:
        line, self._line, self._known = self._line, "", known
        yield from self._rest(line)

    def _whole(self) -> Iterator[Prose | None]:
        line, at = self._line, self._at
        self._line, self._at = "", at + len(line)
        was_code = bool(self._fence.marks)
        if self._fence.holds(line) or _HASHES.match(line + "\n") or _BOLD.match(line):
            if not was_code:
                yield None
        else:
            yield at, line
