"""A proposition as a sentence that reads by itself: its words joined, a leading pronoun replaced where that is certain.

The replacement stands in square brackets at the very start: `[Karel Novak's] first novel`.  A text from `readable`
never opens with a bracket of the sentence's own, so an opening bracket is always an insertion.  English alone.
It does not know whether a first name is a man's or a woman's: a second name nearby means that nothing is inserted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from attribution.propositions.antecedent import MARKS, insertions, with_antecedent, without_marks
from attribution.propositions.grammar import verbs
from attribution.propositions.grammar.phrases import FINITE, Piece, be_with, is_many
from attribution.propositions.grammar.tagging import tag
from retrieval.text import Span

_GONE = "\0"  # stands where a mark stood, so that offsets hold
_DANGLING_START = re.compile(r"(?:[\s,;:)\]}–—]|-(?!\d)|[.!?](?=\s)|(?:and|but|or|nor)\b(?=[\s,]))+", re.I)
_DANGLING_END = re.compile(r"(?:[\s,;:(\[{–—-]|(?<![\w’'])(?:and|but|or|nor))+$", re.I)
_GLUE = ((re.compile(r"\s+([,;:.!?)\]}%]|['’]s\b)"), r"\1"), (re.compile(r"([(\[{])\s+"), r"\1"))
_TWICE = re.compile(r"([,;:])(?:\s*[,;:])+")
_ARTICLE = re.compile(r"(?<![^\s])an?$|^An?$")


def readable(sentence: str, spans: Sequence[Span], context: Sequence[str] = ()) -> str:
    """The spans of a sentence as one that reads by itself: gaps closed, marks dropped, a capital and one stop.

    `context` holds the sentences before it, oldest first; what stands before the spans in the sentence counts too.

    >>> readable("Ada Hall, who wrote it [1], won.", [Span(0, 8), Span(28, 31)])
    'Ada Hall won.'
    """
    blank = MARKS.sub(lambda found: _GONE * len(found.group()), sentence)
    places = [
        Span(span.start, min(span.end, len(blank))).trimmed(blank) for span in sorted(spans) if span.start < len(blank)
    ]
    pieces = _pieces(blank, [place for place in places if place])
    if not pieces:
        return ""
    text = _finished(_smoothed(blank, pieces))
    before = blank[: pieces[0].start].replace(_GONE, "")
    counts = set(tag(before, before).tags) & (FINITE | set("VEX"))  # "In 1998," names nobody
    return with_antecedent(text, [*context, before] if counts else context)


def _pieces(blank: str, places: list[Span]) -> list[Span]:
    """The spans in order; two are one where nothing but marks and punctuation lies between them."""
    pieces: list[Span] = []
    for place in places:
        if pieces and not re.search(r"\w", blank[pieces[-1].end : max(place.start, pieces[-1].end)]):
            pieces[-1] = Span(pieces[-1].start, max(place.end, pieces[-1].end))
        else:
            pieces.append(place)
    return pieces


def _smoothed(blank: str, pieces: list[Span]) -> str:
    """The pieces as one text, a or an as the next word wants it."""
    text = ""
    for place in pieces:
        words = place.of(blank).replace(_GONE, "")
        if text:
            text, words = _trimmed(text, end=True), _trimmed(words, start=True)
            if words and _ARTICLE.search(text):
                text = text.removesuffix("n") + "n" * _takes_an(words)
        text += " " * bool(text and words) + words
    return _with_be(text) if len(pieces) > 1 or "," in text else text


def _takes_an(words: str) -> bool:
    low = words.lower()
    vowel = low[:1] in set("aeio") or (low[:1] == "u" and not low.startswith(("uni", "use", "usu")))
    return (vowel and not low.startswith(("eu", "one"))) or low.startswith(("hour", "hono", "hones", "heir"))


def _with_be(text: str) -> str:
    """`Ada Hall, born in Leeds` with a form of be, where nothing else can be its verb."""
    s = tag(text, text)
    verb = next((at for at, mark in enumerate(s.tags) if mark in FINITE | set("VELG")), 0)
    before, told = s.tags[:verb].rstrip(","), s.lows[verb:]
    if not before or not set(before) <= set("DJNXU") or set(s.tags[verb + 1 :]) & (FINITE | set("VE")):
        return text
    placed = told[0] in verbs.STATES and told[1:2] in (["in"], ["on"], ["at"])
    if not (s.tags[verb] == "L" or told[1:2] == ["by"] or placed):
        return text
    be = be_with("are" if is_many(s, Piece(0, len(before))) else "is", told)
    return f"{text[: s.places[len(before) - 1][1]]} {be} {text[s.places[verb][0] :]}"


def _trimmed(text: str, start: bool = False, end: bool = False) -> str:
    found = _DANGLING_START.match(text) if start else None
    text = text[found.end() :] if found else text
    return _DANGLING_END.sub("", text) if end else text


def _finished(text: str) -> str:
    """Spaces, marks, brackets without a partner, the capital and the stop put right."""
    text = _unpaired(" ".join(text.split()))
    for wrong, right in _GLUE:
        text = wrong.sub(right, text)
    text = _trimmed(_TWICE.sub(r"\1", text), start=True, end=True)
    text = re.sub(r"^\[([^\[\]]*)\]", r"\1", text)
    text = re.sub(r"(?:\s*…|\.{2,}|\s*[.,;:]+)$", ".", text)
    if not re.search(r"\w", text):
        return ""
    name = text[:1].islower() and any(char.isupper() for char in text.split()[0])  # "iPhone", "pH"
    text = text if name else text[:1].upper() + text[1:]
    return text if re.search(r"[.!?。！？][\"'”’)\]»]*$", text) else text + "."


def _unpaired(text: str) -> str:
    """Without brackets that have lost their partner, and without a lone quotation mark."""
    lost: set[int] = set()
    for opening, closing in ("()", "[]", "{}", "“”", "«»"):
        open_at: list[int] = []
        for at, char in enumerate(text):
            if char == opening:
                open_at.append(at)
            elif char == closing and open_at:
                open_at.pop()
            elif char == closing:
                lost.add(at)
        lost.update(open_at)
    if text.count('"') == 1:
        lost.add(text.index('"'))
    return "".join(char for at, char in enumerate(text) if at not in lost)


__all__ = ["insertions", "readable", "with_antecedent", "without_marks"]
