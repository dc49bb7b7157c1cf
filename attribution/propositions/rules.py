"""Propositions by rules alone: no model, any sentence, thousands in a second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from propcite.attribution.citations import Proposition
from propcite.attribution.english.grammar import Fact, Tagged, facts, tag
from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.pronouns.antecedent import with_antecedent
from propcite.attribution.propositions.sentence import LETTER, undivided, whole, without_marks
from propcite.attribution.propositions.telling import told

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
        found = clauses(tagged)
        if len(found) < 2:
            return [whole(sentence, blank)]
        return [told(sentence, blank, tagged, fact) for fact in found]

    def split_many(self, sentences: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[list[Proposition]]:
        return [self.split(sentence, context) for sentence, context in zip(sentences, contexts, strict=True)]


def clauses(tagged: Tagged) -> list[Fact]:
    """The sentence's facts; none where the rules are not sure of all of them, or where it is too long for them."""
    if len(tagged.words) > MOST_WORDS:
        return []
    found = facts(tagged)
    return [] if lost(tagged, found) or not all(_is_claim(tagged, fact) for fact in found) else found


def lost(s: Tagged, found: list[Fact]) -> bool:
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
