"""What all splitters share: the sentence without its marks, and the sentences that are not to be split."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from propcite.attribution.citations import Proposition
from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.propositions.checkworthy import needs_citation
from propcite.retrieval.text import Span

_MARKERS = re.compile(r"[ \t]*\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]")
_BULLET = re.compile(r"\s*(?:[-*+•‣◦▪>]+\s+|\(?\d{1,3}[.)]\s+|#{1,6}\s+)+")
_EMPHASIS = re.compile(r"(?<!\w)\*{1,3}(?=\S)|(?<=\S)\*{1,3}(?!\w)|(?<!\w)_{1,3}(?=\w)|(?<=[\w.,;:!?])_{1,3}(?!\w)|`+")
_TAG = re.compile(  # of HTML, those that may be left out: not "x<sub>2</sub>", and nothing of "a < b"
    r"</?(?:a|b|blockquote|br|cite|code|div|em|h[1-6]|hr|i|li|mark|ol|p|small|span|strong|table|tbody|td|th|tr|u|ul)"
    r"(?:\s[^<>]{0,300})?/?>",
    re.IGNORECASE,
)
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]{1,300})\](\([^()\s]{1,500}\))")
_STOP = re.compile(r"(?<=[ \t])[.!?…](?=\s*$)")
LETTER = re.compile(r"[^\W_]")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_RAW = re.compile(r"://|\bwww\.|[{}<>|\\=~^]|\w\(\)|\n\s*(?:[-*•]|\d+[.)])\s|\?\s*$")


def undivided(sentence: str, blank: str) -> list[Proposition] | None:
    """What a sentence is when it must not be split: nothing without a letter, itself when it needs no support or is no
    English prose.  None for a sentence to split; `blank` is the sentence without its marks.
    """
    if not LETTER.search(blank):
        return []
    alone = whole(sentence, blank)
    return None if alone.check_worthy and is_english_prose(blank) else [alone]


def without_marks(sentence: str) -> str:
    """The sentence with white space in place of citation markers, its bullet, marks of emphasis, tags and addresses."""
    blank = _LINK.sub(lambda link: f" {link[1]} {' ' * len(link[2])}", _TAG.sub(_spaces, sentence))
    blank = _MARKERS.sub(_spaces, blank)
    bullet = _BULLET.match(blank)
    if bullet:
        blank = " " * bullet.end() + blank[bullet.end() :]
    return _EMPHASIS.sub(_spaces, blank)


def _spaces(found: re.Match[str]) -> str:
    return " " * len(found.group())


def whole(sentence: str, blank: str) -> Proposition:
    """The sentence as its own proposition, its marks left out; a stop behind the last mark still ends it."""
    spans = solid(sentence, blank, 0, len(sentence))
    text = " ".join(span.of(sentence) for span in spans)
    stop = "" if text.endswith((".", "!", "?", "…")) else "".join(_STOP.findall(blank))
    return Proposition(tuple(spans), text + stop, needs_citation(text + stop))


def solid(sentence: str, blank: str, start: int, end: int) -> list[Span]:
    """The stretches of `start` to `end` where nothing was taken out, without white space at their ends."""
    spans: list[Span] = []
    at = start
    for cut in [i for i in range(start, end) if blank[i] != sentence[i]] + [end]:
        if cut > at:
            span = Span(at, cut).trimmed(sentence)
            if span and LETTER.search(span.of(sentence)):
                spans.append(span)
        at = cut + 1
    return spans


def spans_of_run(sentence: str, blank: str, words: Sequence[Span], held: Iterable[int]) -> tuple[Span, ...]:
    """Words by number as spans of the sentence: those that stand next to each other make one.

    >>> words = [Span(0, 3), Span(4, 9), Span(10, 13)]
    >>> spans_of_run("Ada wrote it.", "Ada wrote it.", words, [0, 1])
    (Span(start=0, end=9),)
    """
    spans: list[Span] = []
    for _, run in groupby(enumerate(sorted(held)), key=lambda place: place[1] - place[0]):
        members = [word for _, word in run]
        spans += solid(sentence, blank, words[members[0]].start, words[members[-1]].end)
    return tuple(spans)


def is_english_prose(blank: str) -> bool:
    if _RAW.search(blank):
        return False
    words = _WORD.findall(blank)
    if not words:
        return False
    latin = sum(word[0].isascii() for word in words)
    lows = [word.lower() for word in words]
    english = sum(low in lex.FUNCTION_WORDS for low in lows)
    foreign = sum(low in lex.FOREIGN for low in lows)
    return 5 * latin >= 4 * len(words) and english > foreign and 10 * english >= len(words)
