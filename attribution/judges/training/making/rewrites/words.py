"""Replace one word by another that turns the sentence wrong."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from propcite.attribution.judges.training.making.example import CONTRADICTED, UNSUPPORTED
from propcite.attribution.judges.training.making.phrases import child, is_negated, is_question, replaced
from propcite.attribution.judges.training.making.rewrites.word_lists import (
    FREQUENCIES,
    OPPOSITES,
    PREPOSITIONS,
    RELATED,
)
from propcite.attribution.judges.training.making.rewriting import Draft, rewrite

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_GOVERNED = frozenset("of as for from on to".split())
_MOVING = frozenset("move walk run go come march flow send bring ride".split())
_SIDING = frozenset("vote argue campaign speak".split())
_FIXED = frozenset([("after", "all"), ("above", "all"), ("look", "after"), ("name", "after")])
_GRADING = frozenset("not n't most more less so as if only".split())
_OPEN_CLASSES = ("VERB", "NOUN", "ADJ", "ADV")


def opposite_word(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Replace a word by its opposite."""
    yield from _from_table(doc, rng, OPPOSITES, CONTRADICTED, "opposite")


def related_word(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Replace what someone did, or what someone is, by something related."""
    if any(e.label_ == "PERSON" for e in doc.ents):
        yield from _from_table(doc, rng, RELATED, UNSUPPORTED, "relation")


def frequency_changed(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Turn "often" into "always", "mainly" into "exclusively", and the like."""
    found = [t for t in doc if t.lower_ in FREQUENCIES and t.dep_ == "advmod" and not _is_graded(t)]
    if found and not is_question(doc):
        word = rng.choice(found)
        yield from rewrite(doc.text, [replaced(word, FREQUENCIES[word.lower_])], UNSUPPORTED, "frequency")


def preposition_changed(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Turn "before" into "after", "because" into "although", and the like."""
    found = [t for t in doc if t.lower_ in PREPOSITIONS and t.pos_ in ("ADP", "SCONJ") and _has_object(t)]
    found = [t for t in found if PREPOSITIONS[t.lower_] not in {o.lower_ for o in doc}]
    if found and not is_question(doc):
        word = rng.choice(found)
        yield from rewrite(doc.text, [replaced(word, PREPOSITIONS[word.lower_])], UNSUPPORTED, "preposition")


def _from_table(
    doc: Doc, rng: random.Random, table: Mapping[str, Sequence[str]], label: str, kind: str
) -> Iterator[Draft]:
    said = {t.lower_ for t in doc}
    found = [t for t in doc if t.lower_ in table and stands_for_itself(t) and not said & set(table[t.lower_])]
    if found and not is_question(doc):
        word = rng.choice(found)
        others = [w for w in table[word.lower_] if _is_same_form(word, w)]
        if others:
            yield from rewrite(doc.text, [replaced(word, rng.choice(others))], label, kind)


def stands_for_itself(token: Token) -> bool:
    """Return whether a word stands for itself: not in a name, a compound, a hyphenated word or a fixed phrase."""
    doc = token.doc
    hyphen = any(0 <= i < len(doc) and doc[i].text in ("-", "–", "/") for i in (token.i - 1, token.i + 1))
    named = token.ent_type_ in ("ORG", "PERSON", "WORK_OF_ART", "EVENT", "FAC", "GPE", "LOC", "PRODUCT", "LAW")
    capital = token.i > 0 and token.text[0].isupper()
    if token.lower_ in ("begin", "end", "begins", "ends") and token.pos_ != "VERB":
        return False
    paired = any(c.dep_ in ("conj", "cc") for c in token.children) or token.dep_ == "conj"
    if token.pos_ != "VERB" and paired:
        return False
    return token.pos_ in _OPEN_CLASSES and not (hyphen or named or capital or _is_fixed(token))


def _is_fixed(token: Token) -> bool:
    """Return whether a word belongs to a phrase that asks for just this word: "allowed for", "cast member"."""
    governed = token.pos_ == "VERB" and any(c.lower_ in _GOVERNED for c in token.children)
    bound = any(c.dep_ in ("neg", "prt", "ccomp", "xcomp", "compound") for c in token.children)
    return token.dep_ == "compound" or governed or bound


def _is_same_form(token: Token, other: str) -> bool:
    """Return whether the other word has the form that is needed here: "wrote" or "written"."""
    return not (token.tag_ == "VBN" and other in ("wrote", "fell")) and not (token.tag_ == "VBD" and other == "written")


def _has_object(preposition: Token) -> bool:
    """Return whether an object or a clause follows that the other preposition can take as well."""
    doc = preposition.doc
    if preposition.i + 1 >= len(doc) or (preposition.lower_ == "because" and doc[preposition.i + 1].lower_ == "of"):
        return False
    if preposition.lower_ in ("because", "although"):
        return preposition.dep_ == "mark"
    if preposition.lower_ == "into":
        return preposition.head.lemma_ in _MOVING
    if preposition.lower_ == "against":
        return preposition.head.lemma_ in _SIDING
    if preposition.dep_ == "mark":
        return preposition.lower_ in ("before", "after")
    if preposition.lower_ == "until" and is_negated(preposition.head):
        return False
    pairs = {(preposition.lower_, doc[preposition.i + 1].lower_), (preposition.head.lemma_, preposition.lower_)}
    free = preposition.dep_ == "prep" and not pairs & _FIXED
    return free and child(preposition, "pobj", "pcomp") is not None


def _is_graded(token: Token) -> bool:
    """Return whether a word is graded or denied: "very often", "not always"."""
    before = token.i > 0 and token.nbor(-1).lower_ in _GRADING
    used = token.i + 1 < len(token.doc) and token.nbor().lower_ in ("used", "been")
    return before or used or child(token, "advmod", "neg") is not None
