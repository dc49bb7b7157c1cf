"""Leave out a part of a sentence: what remains still holds, or says too much."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

from propcite.attribution.judges.training.making.example import SUPPORTED, UNSUPPORTED
from propcite.attribution.judges.training.making.phrases import (
    auxiliaries_of,
    child,
    dropped,
    dropped_phrase,
    is_guarded,
    is_question,
    marked,
    phrase_of,
)
from propcite.attribution.judges.training.making.rewrites.word_lists import SELECTIVE
from propcite.attribution.judges.training.making.rewriting import Draft, rewrite

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_SCOPES = frozenset("only first last every all no sole".split())
_GENERAL = frozenset("way number time thing manner extent amount role variety series".split())
_PERIODS = frozenset("year month day week half time part version decade century".split())
_SETTINGS = ("in", "on", "at", "during", "near", "until")
_PLACED = frozenset(
    "be bear locate situate live reside base stand lie sit remain stay become result consist begin take".split()
)


def verbatim(doc: Doc, _: random.Random) -> Iterator[Draft]:
    """Repeat the sentence."""
    text = doc.text.strip()
    if not is_question(doc) and len(text.split()) > 2:
        yield Draft(text, SUPPORTED, "verbatim")


def adjective_dropped(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Drop an adjective that only describes: a thing with it is a thing without it."""
    found = [t for t in doc if _only_describes(t)]
    if found and not is_guarded(doc):
        yield from rewrite(doc.text, dropped(rng.choice(found)), SUPPORTED, "adjective_dropped")


def scope_adjective_dropped(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Drop an adjective behind "only", "first", "largest" and the like: they reach too far then."""
    found = [(t, limit) for t in doc if _is_droppable(t) and (limit := _limit_before(t)) is not None]
    if found and not is_question(doc):
        adjective, limit = rng.choice(found)
        noun = adjective.head
        changes = [*dropped(adjective), marked(doc[limit.i : limit.i + 1]), marked(doc[noun.i : noun.i + 1])]
        yield from rewrite(doc.text, changes, UNSUPPORTED, "scope_adjective_dropped")


def scope_phrase_dropped(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Drop "in Norway" from "the largest city in Norway", and the like."""
    found = [(p, limit) for p in doc if (limit := _limit_of_phrase(p)) is not None]
    if found and not is_question(doc):
        preposition, limit = rng.choice(found)
        noun = preposition.head
        changes = [dropped_phrase(phrase_of(preposition)), marked(doc[limit.i : noun.i + 1])]
        yield from rewrite(doc.text, changes, UNSUPPORTED, "scope_phrase_dropped")


def adjunct_dropped(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Drop when or where something happened."""
    found = [t for t in doc if _is_setting(t)]
    if found and not is_guarded(doc) and not any(t.lower_ == "respectively" for t in doc):
        yield from rewrite(doc.text, [dropped_phrase(phrase_of(rng.choice(found)))], SUPPORTED, "adjunct_dropped")


def _is_droppable(token: Token) -> bool:
    """Return whether a word is a plain adjective before its noun, in no name and no compound."""
    noun, doc = token.head, token.doc
    near = [doc[i] for i in (token.i - 1, token.i + 1) if 0 <= i < len(doc)]
    joined = any(t.text in ("-", "–", ",", "/", "–") or t.pos_ == "CCONJ" or t.dep_ == "advmod" for t in near)
    adjective = token.dep_ == "amod" and token.pos_ == "ADJ" and token.tag_ == "JJ" and token.text.islower()
    before_noun = noun.pos_ == "NOUN" and token.i < noun.i
    return adjective and before_noun and not joined and not token.ent_type_ and not list(token.children)


def _only_describes(token: Token) -> bool:
    """Return whether an adjective only describes something new: "a famous opera"."""
    noun = token.head
    if not _is_droppable(token) or token.lower_ in SELECTIVE or token.i + 1 != noun.i or token.i == 0:
        return False
    article = child(noun, "det")
    indefinite = article is not None and article.lower_ in ("a", "an")
    new_thing = indefinite and noun.dep_ in ("dobj", "attr", "pobj", "conj", "appos")
    listed = noun.dep_ == "dobj" and article is None and noun.tag_ == "NNS" and noun.head.tag_ == "VBD"
    return (new_thing or listed) and noun.lemma_ not in _GENERAL and child(noun, "compound", "poss") is None


def _limit_before(adjective: Token) -> Token | None:
    """Return the word such as "only" or "largest" that limits the noun of an adjective; None without one."""
    limits = [t for t in adjective.head.children if t.i < adjective.i and (t.tag_ == "JJS" or t.lower_ in _SCOPES)]
    between = bool(limits) and limits[-1].i == adjective.i - 1 and adjective.i + 1 == adjective.head.i
    return limits[-1] if between and adjective.lower_ not in SELECTIVE else None


def _limit_of_phrase(preposition: Token) -> Token | None:
    """Return the superlative or the like that a place or group behind its noun limits; None without one."""
    noun, place = preposition.head, child(preposition, "pobj")
    if preposition.dep_ != "prep" or preposition.lower_ not in ("in", "of", "from", "among") or place is None:
        return None
    if noun.pos_ != "NOUN" or place.ent_type_ not in ("GPE", "LOC", "FAC") or preposition.i != noun.i + 1:
        return None
    superlatives = (c for c in noun.children if c.dep_ == "amod" and c.i < noun.i and _is_limit(c))
    return None if noun.lemma_ in _PERIODS else next(superlatives, None)


def _is_limit(token: Token) -> bool:
    if token.lower_ in ("latest", "most", "least"):
        return False
    return token.tag_ == "JJS" or token.lower_ in ("only", "first", "sole")


def _is_setting(preposition: Token) -> bool:
    """Return whether a phrase tells when or where something happened and can be left out."""
    verb, place, doc = preposition.head, child(preposition, "pobj"), preposition.doc
    phrase = phrase_of(preposition)
    if preposition.dep_ != "prep" or preposition.lower_ not in _SETTINGS or place is None or len(phrase) > 8:
        return False
    happened = verb.tag_ == "VBD" or any(a.lower_ in ("was", "were", "had") for a in auxiliaries_of(verb))
    full = any(c.dep_ in ("dobj", "agent", "attr") or (c.dep_ == "prep" and c != preposition) for c in verb.children)
    set_off = phrase.start == 0 and phrase.end < len(doc) and doc[phrase.end].text == ","
    is_place_or_time = place.ent_type_ in ("DATE", "GPE", "LOC", "TIME", "FAC")
    whole = phrase.end == len(doc) or doc[phrase.end].pos_ in ("PUNCT", "ADP", "CCONJ")
    can_stand_alone = verb.pos_ == "VERB" and verb.lemma_ not in _PLACED and (full or set_off)
    return happened and is_place_or_time and whole and can_stand_alone
