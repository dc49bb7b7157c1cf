"""Notice that a language model repeats itself while its text streams, so that nothing repeated is shown."""

from __future__ import annotations

import re
from collections import defaultdict, deque

from propcite.attribution.prose.lines import CodeFence
from propcite.retrieval.punkt import EAST_ASIAN

TIMES = 3  # in a row, after which a passage is a loop
TWICE_FROM = 60  # words: nobody writes a passage of this length twice in a row
LEAST = 24  # words of a loop in all, so that "no, no, no" and a refrain are none
WINDOW = 400  # words: the longest passage whose repetition is noticed
MAX_WORD, MAX_SPACE = 24, 60  # characters, after which a run without a break is cut into words
MAX_LINE = 420  # characters of a line that tell what kind of line it is

_PIECE = re.compile(rf"\n|[^\S\n]+|[{EAST_ASIAN}]|[^\s{EAST_ASIAN}]{{1,{MAX_WORD}}}")
_LIST_MARK = re.compile(r"[-*+•>]|#{1,6}|\(?\d{1,3}[.)]")
_MAY_BE_MARK = re.compile(r"[-*+•>#]+|\(?\d{0,3}[.)]?")
_ROW = re.compile(r"\s*\||.*(?: \| |\t)", re.DOTALL)
_STOP = re.compile(r"[.!?…。！？।॥؟۔][\W_]*\Z")
_EDGES = ".,;:!?\"'()[]*_`“”‘’«»…。！？，、"


class Repetition:
    """Passes a text on; words that may be the beginning of a repetition are held back until one differs.

    `loops` is set once the same passage has come several times in a row; then nothing more is passed on, so that the
    passage stands once.  Numbers of a list do not count as words.  Rows of a table, and code if `spares_code`, never
    loop.
    """

    def __init__(self, *, spares_code: bool = True) -> None:
        self.loops = False
        self._fence = CodeFence() if spares_code else None
        self._line = ""
        self._lead, self._tail, self._num_shown = "", "", 0  # of the next word: what stands before it, what has come
        self._end = ""  # of what is shown
        self._held: deque[str] = deque()  # words that repeat earlier ones, each with what stands before it
        self._num_words = 0
        self._places: defaultdict[str, deque[int]] = defaultdict(deque)  # of each word of the window
        self._runs: dict[int, int] = {}  # by the length of a passage: how many words repeat those so far before them

    def feed(self, text: str) -> str:
        """Return what can be shown."""
        text, self._tail = self._tail + text, ""
        shown = []
        for match in _PIECE.finditer(text):
            piece = match.group()
            if match.end() == len(text) and not piece.isspace() and len(piece) < MAX_WORD:
                self._tail = piece
            elif not self.loops:
                shown.append(self._read(piece))
        return "".join(shown) + self._new()

    def finish(self, *, is_cut: bool = False) -> str:
        """Return what was held back, at the end of the text, without a loop; a text that is cut may end in one."""
        tail, self._tail = self._tail, ""
        begun = next((length for length, run in self._runs.items() if 2 * run >= max(LEAST, length)), 0)
        shown = ""
        if is_cut and begun and not self.loops:
            self.loops = True
            shown = self._rest_of_sentence(begun)
        elif tail and not self.loops:
            shown = self._read(tail)
        rest = "" if self.loops else "".join(self._held) + self._lead[self._num_shown :]
        self._held.clear()
        self._lead, self._num_shown = "", 0
        return shown + rest

    def _read(self, piece: str) -> str:
        is_mark = self._at_start and _LIST_MARK.fullmatch(piece)
        self._line = (self._line + piece)[:MAX_LINE]
        if is_mark or piece.isspace():
            self._lead += piece
            if piece == "\n":
                self._end_line()
            return self._add(" ", "") if len(self._lead) > MAX_SPACE else ""
        return self._add(piece.strip(_EDGES).casefold() or piece, piece)

    def _end_line(self) -> None:
        if self._fence:
            self._fence.is_code(self._line)
        self._line = ""

    def _add(self, word: str, piece: str) -> str:
        """Take in a word, and return the words that repeat nothing any more."""
        self._held.append((self._lead + piece)[self._num_shown :])
        self._lead, self._num_shown = "", 0
        self._runs = {} if self._is_spared else self._longer_runs(word)
        if loop := next((length for length, run in self._runs.items() if _is_loop(length, run)), 0):
            self.loops = True
            return self._rest_of_sentence(loop)
        return self._free(len(self._held) - max(self._runs.values(), default=0))

    def _free(self, number: int) -> str:
        """Return the first of the held words, which are shown now."""
        return self._show("".join(self._held.popleft() for _ in range(number)))

    def _show(self, text: str) -> str:
        self._end = (self._end + text)[-MAX_WORD:]
        return text

    def _rest_of_sentence(self, length: int) -> str:
        """Return what ends the sentence that is shown, where the loop of so many words began inside one."""
        ends = [_STOP.search(self._end) is not None, *(_STOP.search(piece) is not None for piece in self._held)]
        breaks = ["\n" in piece for piece in self._held]
        number = next((n for n in range(min(length, len(breaks))) if ends[n] or breaks[n]), 0)
        shown = self._free(number)
        self._held.clear()
        return shown

    def _longer_runs(self, word: str) -> dict[int, int]:
        at, self._num_words = self._num_words, self._num_words + 1
        places = self._places[word]
        while places and at - places[0] > WINDOW:
            places.popleft()
        runs = {at - place: self._runs.get(at - place, 0) + 1 for place in places}
        places.append(at)
        return runs

    @property
    def _at_start(self) -> bool:
        return not self._line.strip("> \t")

    @property
    def _is_spared(self) -> bool:
        return bool(self._fence and self._fence.marks) or _ROW.match(self._line) is not None

    def _new(self) -> str:
        """Return what is new of a word that is being written, and the held words before it, if it repeats nothing."""
        word = self._tail.strip(_EDGES).casefold()
        if self.loops or not word or (self._at_start and _MAY_BE_MARK.fullmatch(self._tail)):
            return ""
        if not self._is_spared and any(known.startswith(word) for known in self._places):
            return ""
        whole = self._lead + self._tail
        new, self._num_shown = whole[self._num_shown :], len(whole)
        return self._free(len(self._held)) + self._show(new)


def _is_loop(length: int, run: int) -> bool:
    """Return whether a passage of so many words is a loop, where so many words after it repeat it."""
    times = 2 if length >= TWICE_FROM else TIMES
    return length + run >= max(LEAST, times * length)


def without_repetition(text: str) -> str:
    """Return a text up to where it begins to repeat itself.

    >>> without_repetition("It rains. " + "The ferry leaves at nine in the morning. " * 9)
    'It rains. The ferry leaves at nine in the morning.'
    """
    repetition = Repetition()
    return repetition.feed(text) + repetition.finish()
