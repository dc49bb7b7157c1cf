"""Split sentences by rules alone, without a model: thousands per second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from propcite.attribution.citations import Proposition
from propcite.attribution.english import Fact, Tagged, facts, tag, with_antecedent
from propcite.attribution.english import lexicon as lex
from propcite.attribution.propositions.sentence import LETTER, trivial_split, whole_sentence, without_markup
from propcite.attribution.propositions.wording import proposition_of
from propcite.retrieval.interrupting import check_interrupt

_VERBS = frozenset("BHMVYELI")
_SUBJECTS = frozenset("NXRUQDGKJz")


class RuleSplitter:
    """Splits an English sentence where function words, endings and capitals show that a new claim begins."""

    name = "rules"

    def split(self, sentence: str, context: Sequence[str] = ()) -> list[Proposition]:
        """Return the propositions in the sentence's order; the whole sentence if the rules are not certain."""
        propositions = self._propositions(sentence)
        return [replace(p, text=with_antecedent(p.text, context)) for p in propositions] if context else propositions

    def _propositions(self, sentence: str) -> list[Proposition]:
        blank = without_markup(sentence)
        trivial = trivial_split(sentence, blank)
        if trivial is not None:
            return trivial
        tagged = tag(sentence, blank)
        claims = clauses(tagged)
        if len(claims) < 2:
            return [whole_sentence(sentence, blank)]
        return [proposition_of(sentence, blank, tagged, claim) for claim in claims]

    def split_many(self, sentences: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[list[Proposition]]:
        propositions = []
        for sentence, context in zip(sentences, contexts, strict=True):
            check_interrupt()
            propositions.append(self.split(sentence, context))
        return propositions


def clauses(tagged: Tagged) -> list[Fact]:
    """Return the sentence's facts; empty if the rules are not certain of all, or the sentence is too long."""
    claims = facts(tagged)
    is_certain = bool(claims) and not loses_words(tagged, claims) and all(is_claim(tagged, claim) for claim in claims)
    return claims if is_certain else []


def loses_words(s: Tagged, claims: Sequence[Fact]) -> bool:
    """Return whether a content word is in none of the claims."""
    covered = {i for claim in claims for piece in claim for i in range(piece.start, piece.end)}
    lost = (i for i in range(len(s.words)) if i not in covered and s.lows[i] not in lex.FUNCTION_WORDS)
    return any(LETTER.search(s.words[i]) for i in lost)


def is_claim(s: Tagged, fact: Fact) -> bool:
    """Return whether a fact has a verb and a subject."""
    tags = "".join(s.tags[piece.start : piece.end] for piece in fact)
    if not tags.strip("z"):
        return True  # a clause in brackets, whose subject is outside
    return bool(set(tags) & _VERBS or any(piece.say for piece in fact)) and bool(set(tags) & _SUBJECTS)
