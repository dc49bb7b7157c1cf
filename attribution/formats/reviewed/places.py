"""Find the words of a text in another one: in the paragraphs of its Word file, or in its Markdown source.

A reader leaves markup out and may add labels, so words are compared, not characters, and a few may be missing.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence

from propcite.attribution.citations import CitedAnswer, CitedProposition, CitedSentence
from propcite.retrieval.text import Heading, Span

MAX_GAP = 12  # words between two that follow each other: the address of a link, a note
MAX_MISSING = 4  # one word of so many may be missing
_WORD = re.compile(r"[^\W_]+")
_LABEL = re.compile(r"^Note \d+: ")


class WordPlaces:
    """The places of a text's words."""

    def __init__(self, text: str) -> None:
        found = list(_WORD.finditer(text))
        self._words = [match[0].casefold() for match in found]
        self._spans = [Span(*match.span()) for match in found]
        self._starts = [span.start for span in self._spans]
        self._places: dict[str, list[int]] = {}
        for place, word in enumerate(self._words):
            self._places.setdefault(word, []).append(place)

    def find(self, text: str, after: int = 0, within: Span | None = None) -> Span | None:
        """Return where these words are: first from the character `after` on, then before it; None if nowhere.

        >>> places = WordPlaces("The *new* [barrier](b.html) is high. The new gate is high.")
        >>> places.find("The new barrier is high"), places.find("is high", after=30)
        (Span(start=0, end=35), Span(start=50, end=57))
        """
        wanted = [match[0].casefold() for match in _WORD.finditer(text)]
        known = [number for number, word in enumerate(wanted) if word in self._places]
        if not known:
            return None
        key = min(known, key=lambda number: len(self._places[wanted[number]]))
        for gap in (0, MAX_GAP):
            before = None
            for place in self._candidates(wanted[key], after, within):
                found = self._match(wanted, key, place, gap)
                if found is None or (within and not (within.start <= found.start and found.end <= within.end)):
                    continue
                if found.start >= after:
                    return found
                before = before or found
            if before:
                return before
        return None

    def _candidates(self, word: str, after: int, within: Span | None) -> Iterator[int]:
        """Yield the places of a word: those from `after` on, then the others, nearest first."""
        places = self._places[word]
        first = bisect_left(places, bisect_left(self._starts, after))
        end = bisect_left(places, bisect_left(self._starts, within.end)) if within else len(places)
        yield from places[first:end]
        if within is None:
            yield from reversed(places[:first])

    def _match(self, wanted: list[str], key: int, place: int, gap: int) -> Span | None:
        """Return the span of the wanted words around the one at `place`; None if too many are missing."""
        missing, first, last = 0, place, place
        allowed = len(wanted) // MAX_MISSING if gap else 0
        for word in reversed(wanted[:key]):
            before = range(first - 1, max(-1, first - 2 - gap), -1)
            found = next((i for i in before if self._words[i] == word), None)
            missing, first = (missing + 1, first) if found is None else (missing, found)
            if missing > allowed:
                return None
        for word in wanted[key + 1 :]:
            behind = range(last + 1, min(len(self._words), last + 2 + gap))
            found = next((i for i in behind if self._words[i] == word), None)
            missing, last = (missing + 1, last) if found is None else (missing, found)
            if missing > allowed:
                return None
        return Span(self._spans[first].start, self._spans[last].end)


def same_words(one: str, other: str) -> bool:
    """Return whether two texts have the same words in the same order.

    >>> same_words("The *new* barrier.", "the new barrier"), same_words("the new barrier", "the barrier")
    (True, False)
    """
    first, second = ([match[0].casefold() for match in _WORD.finditer(text)] for text in (one, other))
    return first == second


def places_of_facts(answer: CitedAnswer, places: WordPlaces) -> Iterator[tuple[CitedProposition, Span | None]]:
    """Yield each fact of a text with its place in the other one, in the order of the text.

    None where the other text has neither the words of the fact nor those of its sentence.
    """
    after = 0
    for sentence in answer.sentences:
        words = _unlabelled(sentence.span, answer.text)
        around = places.find(words, after)
        if around and words == sentence.span.of(answer.text):  # a note may be anywhere in its file
            after = around.start
        for cited in sentence.propositions:
            if cited.proposition.check_worthy:
                own = _unlabelled(hull(cited, sentence), answer.text)
                yield cited, around and (places.find(own, around.start, around) or around)


def _unlabelled(span: Span, text: str) -> str:
    """Return words without the label that a reader puts in front of a note."""
    return _LABEL.sub("", span.of(text), count=1)


def hull(cited: CitedProposition, sentence: CitedSentence) -> Span:
    """Return the span from the first to the last word of a fact; that of its sentence if it has none."""
    spans = [span for span in cited.proposition.spans if span]
    return Span(min(s.start for s in spans), max(s.end for s in spans)) if spans else sentence.span


def leveled_lines(text: str, headings: Sequence[Heading]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text, each with its level as a heading, 0 for one that is none.

    >>> list(leveled_lines("The works\\nIt rained.", [Heading(Span(0, 9), 2)]))
    [(2, 'The works'), (0, 'It rained.')]
    """
    left = deque(sorted((_first_word(heading.span, text), heading.level) for heading in headings))
    place = 0
    for line in text.split("\n"):
        level = 0
        while left and left[0][0] < place + len(line):
            start, at_level = left.popleft()
            level = level or (at_level if start >= place else 0)
        yield level, line
        place += len(line) + 1


def _first_word(span: Span, text: str) -> int:
    """Return where the words of a heading begin, below a rule."""
    return next((at for at in range(span.start, span.end) if text[at : at + 1].isalnum()), span.start)
