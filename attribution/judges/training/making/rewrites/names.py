"""Put names and numbers in each other's place, or those of another sentence in theirs."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from propcite.attribution.judges.training.making.entities import Entity, differ, entities_in
from propcite.attribution.judges.training.making.example import SUPPORTED, UNSUPPORTED
from propcite.attribution.judges.training.making.phrases import is_question
from propcite.attribution.judges.training.making.rewriting import Draft, rewrite

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_SYMMETRIC = frozenset(  # words between two names that may then be exchanged
    "marry wed meet border resemble equal match versus vs with between and or same differ near beside adjacent "
    "opposite brother sister sibling cousin friend colleague partner neighbour neighbor ally join link connect "
    "also both either parallel similar tie twin fight collaborate compete together call know as mean stand "
    "abbreviate".split()
)
_ORDERED = frozenset("respectively then former latter followed next".split())
_ALSO = re.compile(r"\b(?:known as|called|nicknamed|alias|aka|née|né|stage name|pseudonym|pen name)\b")
_JOINING = frozenset(", and or & the a an".split())


def crossed_names(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Exchange two names of one sentence, or two numbers of one shape."""
    pairs = [(a, b) for a, b in combinations(entities_in(doc), 2) if a.fits(b) and _stand_alone(doc, a, b)]
    apart = [(a, b) for a, b in pairs if _are_apart(doc, a, b)]
    if apart and not is_question(doc):
        a, b = rng.choice(apart)
        yield from rewrite(doc.text, [a.put(b.text), b.put(a.text)], UNSUPPORTED, "crossed")


def list_reordered(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Exchange two items of a list of names: the sentence says the same."""
    entities = [e for e in entities_in(doc) if not e.is_number]
    pairs = [(a, b) for a, b in combinations(entities, 2) if a.fits(b) and _stand_alone(doc, a, b)]
    listed = [(a, b) for a, b in pairs if listed_together(doc, a, b) and not _is_ordered(doc)]
    if listed:
        a, b = rng.choice(listed)
        changes = [a.put(b.text, wrong=False), b.put(a.text, wrong=False)]
        yield from rewrite(doc.text, changes, SUPPORTED, "list_reordered")


def name_of_another_sentence(doc: Doc, rng: random.Random, number: int, entities: Sequence[Entity]) -> Iterator[Draft]:
    """Put a name or number of another sentence of the passage in the place of one of this sentence."""
    own = [e for e in entities_in(doc, number) if not (e.group == "ORDINAL" or doc.text.count(e.text) > 1)]
    pairs = [(e, o) for e in own for o in entities if o.sentence != number and e.fits(o) and differ(o.text, doc.text)]
    if pairs and not is_question(doc):
        replaced, other = rng.choice(pairs)
        kind = "other_number" if replaced.is_number else "other_name"
        yield from rewrite(doc.text, [replaced.put(other.text)], UNSUPPORTED, kind, other.sentence)


def name_of_another_passage(doc: Doc, rng: random.Random, strangers: Sequence[Entity]) -> Iterator[Draft]:
    """Put a name or number of another passage in the place of one of this sentence."""
    own = [e for e in entities_in(doc) if doc.text.count(e.text) == 1]
    pairs = [(e, o) for e in own for o in strangers if e.fits(o) and differ(o.text, doc.text)]
    if pairs and not is_question(doc):
        replaced, other = rng.choice(pairs)
        yield from rewrite(doc.text, [replaced.put(other.text)], UNSUPPORTED, "foreign_name")


def listed_together(doc: Doc, one: Entity, other: Entity) -> bool:
    """Return whether two entities are items of one list, with nothing else said of either."""
    a, b = _head(doc, one), _head(doc, other)
    if a is None or b is None or b not in a.conjuncts:
        return False
    span = doc.char_span(one.end, other.start, alignment_mode="contract")
    behind = doc[b.i + 1 : b.i + 3]
    placed = len(behind) == 2 and behind[0].text == "," and behind[1].pos_ == "PROPN" and behind[1] not in b.conjuncts
    if placed or (span is not None and span.text.strip() == "," and len(a.conjuncts) < 2):
        return False
    joined = span is not None and all(t.lower_ in _JOINING or (t.ent_type_ and t.pos_ == "PROPN") for t in span)
    return joined and all(_is_bare(t) for t in (a, b))


def are_related(doc: Doc, one: Entity, other: Entity) -> bool:
    """Return whether two entities belong to one list, to one place as "Oslo, Norway" does, or name the same thing."""
    a, b = _head(doc, one), _head(doc, other)
    if a is None or b is None:
        return True
    if one.group == "PLACE" and _noun_phrase(a) == _noun_phrase(b):
        return True
    near = b in a.conjuncts or b.head == a or a.head == b or b.head.head == a
    return near or _is_alias(doc, one, other) or _share_preposition(a, b)


def _noun_phrase(token: Token) -> Token:
    """Return the top of the phrase that a noun belongs to, below its verb."""
    while (
        token.head != token and token.head.pos_ not in ("VERB", "AUX") and token.head.head.pos_ not in ("VERB", "AUX")
    ):
        token = token.head
    return token


def _is_alias(doc: Doc, one: Entity, other: Entity) -> bool:
    between = doc.text[min(one.end, other.end) : max(one.start, other.start)]
    return _ALSO.search(between) is not None


def _share_preposition(a: Token, b: Token) -> bool:
    """Return whether two names stand behind the same preposition of one verb, as schools behind "graduated from"."""
    one_by_one = a.head.lower_ == b.head.lower_ and (b.head in a.head.conjuncts or a.head.head == b.head.head)
    return a.dep_ == "pobj" and one_by_one


def _are_apart(doc: Doc, a: Entity, b: Entity) -> bool:
    """Return whether the two have different parts in the sentence, so that exchanging them changes what it says."""
    between = doc.char_span(a.end, b.start, alignment_mode="contract")
    if between is None or are_related(doc, a, b) or _is_ordered(doc):
        return False
    words = {t.lower_ for t in between} | {t.lemma_.lower() for t in between}
    before = {t.lower_ for t in doc[max(0, between.start - 4) : between.start]}
    content = [t for t in between if t.is_alpha]
    return len(content) > 1 and not words & _SYMMETRIC and not before & {"between", "both", "either"}


def _stand_alone(doc: Doc, a: Entity, b: Entity) -> bool:
    return doc.text.count(a.text) == 1 and doc.text.count(b.text) == 1


def _is_ordered(doc: Doc) -> bool:
    return any(t.lower_ in _ORDERED for t in doc)


def _is_bare(token: Token) -> bool:
    return all(c.dep_ in ("compound", "cc", "conj", "punct", "det", "nmod") for c in token.children)


def _head(doc: Doc, entity: Entity) -> Token | None:
    span = doc.char_span(entity.start, entity.end, alignment_mode="expand")
    return None if span is None else span.root
