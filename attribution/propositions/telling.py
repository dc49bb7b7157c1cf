"""A fact of the grammar as a proposition: its spans, and its pieces told as a sentence that reads by itself."""

from __future__ import annotations

import re

from propcite.attribution.citations import Proposition
from propcite.attribution.english.grammar import Fact, Piece, Tagged
from propcite.attribution.propositions.checkworthy import needs_citation
from propcite.attribution.propositions.sentence import spans_of_run
from propcite.retrieval.text import Span

_LOOSE = re.compile(r" +([,;]|['’](?:s\b|(?=\s|$)))")


def told(sentence: str, blank: str, s: Tagged, fact: Fact) -> Proposition:
    held = sorted({i for piece in fact for i in range(piece.start, piece.end)})
    places = [Span(*place) for place in s.places]
    text = _said(blank, s, fact)
    return Proposition(spans_of_run(sentence, blank, places, held), text, needs_citation(text))


def _said(blank: str, s: Tagged, fact: Fact) -> str:
    """The fact as a sentence: its pieces joined, `a` or `an` put right where words were left out, capital and point."""
    text = ""
    for piece in fact:
        words = _piece_said(blank, s, piece)
        if words and text.endswith((" a", " an")):
            text = text.removesuffix("n").removesuffix("a") + _article(words)
        text += " " * bool(text and words) + words
    text = _LOOSE.sub(r"\1", text).strip(" ,;:-–—").removesuffix(" and").rstrip(" ,")
    if text.count('"') % 2 and not blank.count('"') % 2:
        text += '"'
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", '."', ".”", '!"')) else ".")


def _article(word: str) -> str:
    low = word.lower()
    return "an" if low[0] in "aeio" or (low[0] == "u" and not low.startswith(("uni", "use", "usu", "eu"))) else "a"


def _piece_said(blank: str, s: Tagged, piece: Piece) -> str:
    if piece.say is not None:
        return piece.say
    words = " ".join(blank[s.places[piece.start][0] : s.places[piece.end - 1][1]].split())
    lowers = piece.start == 0 and s.tags[0] in "DPRaEL" and s.words[0] != "I"
    return words[:1].lower() + words[1:] if lowers else words
