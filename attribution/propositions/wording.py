"""Turn a fact of the grammar into a proposition: its spans, and its pieces worded as a sentence."""

from __future__ import annotations

import re

from propcite.attribution.citations import Proposition
from propcite.attribution.english import Fact, Piece, Tagged
from propcite.attribution.propositions.check_worthiness import needs_citation
from propcite.attribution.propositions.sentence import spans_of_words
from propcite.retrieval.text import Span

_LOOSE = re.compile(r" +([,;:]|['’](?:s\b|(?=\s|$)))")


def proposition_of(sentence: str, blank: str, s: Tagged, fact: Fact) -> Proposition:
    """Return a fact as a proposition of the sentence."""
    numbers = {i for piece in fact for i in range(piece.start, piece.end)}
    words = [Span(*place) for place in s.places]
    text = _text(blank, s, fact)
    return Proposition(spans_of_words(sentence, blank, words, numbers), text, needs_citation(text))


def _text(blank: str, s: Tagged, fact: Fact) -> str:
    """Return the fact as a sentence: pieces joined, `a` or `an` corrected, with a capital and a full stop."""
    text = ""
    for piece in fact:
        words = _piece_text(blank, s, piece)
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


def _piece_text(blank: str, s: Tagged, piece: Piece) -> str:
    if piece.say is not None:
        return piece.say
    words = " ".join(blank[s.places[piece.start][0] : s.places[piece.end - 1][1]].split())
    is_lowered = piece.start == 0 and s.tags[0] in "DPRaEL" and s.words[0] != "I"
    return words[:1].lower() + words[1:] if is_lowered else words
