"""What all splitters share: removing markup from a sentence, and recognizing sentences that must not be split.

`blank` is always the sentence with spaces in place of its markup, so that positions are the same in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from propcite.attribution.citations import Proposition
from propcite.attribution.english import lexicon as lex
from propcite.attribution.propositions.check_worthiness import needs_citation
from propcite.retrieval.text import Span

_MARKERS = re.compile(r"(?<![ \t])[ \t]*+\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]")
_BULLET = re.compile(r"\s*(?:[-*+•‣◦▪>]+\s+|\(?\d{1,3}[.)]\s+|#{1,6}\s+)+")
_EMPHASIS = re.compile(r"(?<!\w)\*{1,3}(?=\S)|(?<=\S)\*{1,3}(?!\w)|(?<!\w)_{1,3}(?=\w)|(?<=[\w.,;:!?])_{1,3}(?!\w)|`+")
_TAG = re.compile(  # HTML tags without a meaning of their own: not "x<sub>2</sub>", and nothing of "a < b"
    r"</?(?:a|b|blockquote|br|cite|code|div|em|h[1-6]|hr|i|li|mark|ol|p|small|span|strong|table|tbody|td|th|tr|u|ul)"
    r"(?:\s[^<>]{0,300})?/?>",
    re.IGNORECASE,
)
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]{1,300})\](\([^()\s]{1,500}\))")
_STOP = re.compile(r"(?<=[ \t])[.!?…](?=\s*$)")
LETTER = re.compile(r"[^\W_]")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_RAW = re.compile(r"://|\bwww\.|[{}<>|\\=~^]|\w\(\)|\n[^\S\n]*+(?:[-*•]|\d++[.)])\s|\?\s*$")


def trivial_split(sentence: str, blank: str) -> list[Proposition] | None:
    """Return the propositions of a sentence that must not be split; None for a sentence to split.

    A sentence without a letter has none; one that needs no support or is not English prose is its own proposition.
    """
    if not LETTER.search(blank):
        return []
    whole = whole_sentence(sentence, blank)
    return None if whole.check_worthy and is_english_prose(blank) else [whole]


def without_markup(sentence: str) -> str:
    """Return the sentence with spaces in place of citation markers, its bullet, emphasis, tags and link targets."""
    blank = _LINK.sub(lambda link: f" {link[1]} {' ' * len(link[2])}", _TAG.sub(_spaces, sentence))
    blank = _MARKERS.sub(_spaces, blank)
    bullet = _BULLET.match(blank)
    if bullet:
        blank = " " * bullet.end() + blank[bullet.end() :]
    return _EMPHASIS.sub(_spaces, blank)


def _spaces(match: re.Match[str]) -> str:
    return " " * len(match.group())


def whole_sentence(sentence: str, blank: str) -> Proposition:
    """Return the sentence without markup as one proposition; an end mark after the last marker is kept."""
    spans = solid_spans(sentence, blank, 0, len(sentence))
    text = " ".join(span.of(sentence) for span in spans)
    stop = "" if text.endswith((".", "!", "?", "…")) else "".join(_STOP.findall(blank))
    return Proposition(tuple(spans), text + stop, needs_citation(text + stop))


def solid_spans(sentence: str, blank: str, start: int, end: int) -> list[Span]:
    """Return the stretches from `start` to `end` without markup, trimmed of white space."""
    spans: list[Span] = []
    at = start
    for cut in [i for i in range(start, end) if blank[i] != sentence[i]] + [end]:
        if cut > at:
            span = Span(at, cut).trimmed(sentence)
            if span and LETTER.search(span.of(sentence)):
                spans.append(span)
        at = cut + 1
    return spans


def spans_of_words(sentence: str, blank: str, words: Sequence[Span], numbers: Iterable[int]) -> tuple[Span, ...]:
    """Return the words with these numbers as spans of the sentence; neighbours are joined.

    >>> words = [Span(0, 3), Span(4, 9), Span(10, 13)]
    >>> spans_of_words("Ada wrote it.", "Ada wrote it.", words, [0, 1])
    (Span(start=0, end=9),)
    """
    spans: list[Span] = []
    for _, run in groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0]):
        members = [word for _, word in run]
        spans += solid_spans(sentence, blank, words[members[0]].start, words[members[-1]].end)
    return tuple(spans)


def is_english_prose(blank: str) -> bool:
    """Return whether a text is English by its letters and function words, and not code, a table or a list."""
    if _RAW.search(blank):
        return False
    words = _WORD.findall(blank)
    if not words:
        return False
    num_latin = sum(word[0].isascii() for word in words)
    lows = [word.lower() for word in words]
    num_english = sum(low in lex.FUNCTION_WORDS for low in lows)
    num_foreign = sum(low in lex.FOREIGN for low in lows)
    return 5 * num_latin >= 4 * len(words) and num_english > num_foreign and 10 * num_english >= len(words)
