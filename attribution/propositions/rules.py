"""Propositions by rules alone: no model, any sentence, thousands in a second."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from attribution.citations import Proposition
from attribution.propositions.antecedent import with_antecedent
from attribution.propositions.checkworthy import needs_citation
from attribution.propositions.grammar import Fact, Piece, Tagged, facts, tag
from attribution.propositions.grammar import lexicon as lex
from attribution.propositions.sentence import LETTER, solid, undivided, whole, without_marks
from retrieval.text import Span

MOST_WORDS = 200  # a longer sentence is a list or a broken text: it stays whole
_VERBS = frozenset("BHMVYELI")
_SUBJECTS = frozenset("NXRUQDGKJz")


class RuleSplitter:
    """Cuts an English sentence where closed classes, endings and capitals show that a new claim begins."""

    name = "rules"

    def split(self, sentence: str, context: Sequence[str] = ()) -> list[Proposition]:
        """The sentence's propositions in its order; the sentence itself where no rule is sure."""
        found = self._claims(sentence)
        return [replace(p, text=with_antecedent(p.text, context)) for p in found] if context else found

    def _claims(self, sentence: str) -> list[Proposition]:
        blank = without_marks(sentence)
        alone = undivided(sentence, blank)
        if alone is not None:
            return alone
        tagged = tag(sentence, blank)
        if len(tagged.words) > MOST_WORDS:
            return [whole(sentence, blank)]
        found = facts(tagged)
        if len(found) < 2 or _lost(tagged, found) or not all(_is_claim(tagged, fact) for fact in found):
            return [whole(sentence, blank)]
        return [_proposition(sentence, blank, tagged, fact) for fact in found]

    def split_many(self, sentences: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[list[Proposition]]:
        return [self.split(sentence, context) for sentence, context in zip(sentences, contexts, strict=True)]


def _lost(s: Tagged, found: list[Fact]) -> bool:
    """Whether a word that says something is in no fact."""
    held = {i for fact in found for piece in fact for i in range(piece.start, piece.end)}
    return any(
        i not in held and s.lows[i] not in lex.FUNCTION_WORDS and LETTER.search(s.words[i]) for i in range(len(s.words))
    )


def _is_claim(s: Tagged, fact: Fact) -> bool:
    """Whether a fact has a verb and something that it is said of."""
    tags = "".join(s.tags[piece.start : piece.end] for piece in fact)
    if not tags.strip("z"):
        return True  # a clause in brackets, that was told of there
    return bool(set(tags) & _VERBS or any(piece.say for piece in fact)) and bool(set(tags) & _SUBJECTS)


def _proposition(sentence: str, blank: str, s: Tagged, fact: Fact) -> Proposition:
    held = sorted({i for piece in fact for i in range(piece.start, piece.end)})
    spans: list[Span] = []
    start = before = held[0]
    for i in [*held[1:], -1]:
        if i != before + 1:
            spans += solid(sentence, blank, s.places[start][0], s.places[before][1])
            start = i
        before = i
    text = _said(blank, s, fact)
    return Proposition(tuple(spans), text, needs_citation(text))


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


_LOOSE = re.compile(r" +([,;]|['’](?:s\b|(?=\s|$)))")


def _article(word: str) -> str:
    low = word.lower()
    return "an" if low[0] in "aeio" or (low[0] == "u" and not low.startswith(("uni", "use", "usu", "eu"))) else "a"


def _piece_said(blank: str, s: Tagged, piece: Piece) -> str:
    if piece.say is not None:
        return piece.say
    words = " ".join(blank[s.places[piece.start][0] : s.places[piece.end - 1][1]].split())
    lowers = piece.start == 0 and s.tags[0] in "DPRaEL" and s.words[0] != "I"
    return words[:1].lower() + words[1:] if lowers else words
