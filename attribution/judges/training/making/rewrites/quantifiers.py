"""Change how many are meant: quantifiers, and exclusions turned round."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from propcite.attribution.judges.training.making.example import CONTRADICTED, SUPPORTED, UNSUPPORTED
from propcite.attribution.judges.training.making.phrases import SUBJECTS, child, denies, is_question, replaced
from propcite.attribution.judges.training.making.rewrites.word_lists import QUANTIFIERS, UNCOUNTED
from propcite.attribution.judges.training.making.rewriting import Change, Draft, rewrite

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_NOT_BEFORE = frozenset(
    "not a the so as very too how at these those after above in than over nearly almost about only least".split()
)
_BEHIND_ALL = frozenset("of the these those its their his".split())
_INCLUSIONS = {"including": "except", "excluding": "including"}


def quantifier_changed(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Turn "some" into "most" or "all", "no" into "some": more is said, or the opposite."""
    found = [t for t in doc if t.lower_ in QUANTIFIERS and _quantifies(t)]
    if found and not is_question(doc):
        word = rng.choice(found)
        of_them = word.nbor().lower_ == "of"
        table = QUANTIFIERS if of_them or word.lower_ == "all" or word.head.dep_ in SUBJECTS else UNCOUNTED
        if word.lower_ not in table or (table is UNCOUNTED and word.head.dep_ not in ("dobj", "attr")):
            return
        new = rng.choice(table[word.lower_])
        label = CONTRADICTED if {word.lower_, new} & {"no", "all", "none", "few"} and new != "all" else UNSUPPORTED
        if word.lower_ == "all" and not of_them:
            new = f"{new} of"
        yield from rewrite(doc.text, [replaced(word, new)], label, "quantifier")


def quantifier_weakened(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Turn "all" and "most" into "some": less is said."""
    found = [t for t in doc if t.lower_ in ("all", "most", "many", "several") and _quantifies(t)]
    if found and not is_question(doc) and not denies(doc):
        word = rng.choice(found)
        new = "some of" if word.lower_ == "all" and word.nbor().lower_ != "of" else "some"
        yield from rewrite(doc.text, [replaced(word, new, wrong=False)], SUPPORTED, "quantifier_weakened")


def exclusion_turned(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Turn what is left out into what is meant: "except" into "including", "all but two" into "only two"."""
    found = list(_exclusions(doc))
    if found and not is_question(doc):
        yield from rewrite(doc.text, [rng.choice(found)], CONTRADICTED, "exclusion")


def _exclusions(doc: Doc) -> Iterator[Change]:
    for token, following in pairwise(doc):
        if token.lower_ == "all" and following.lower_ == "but" and _is_figure_behind(following):
            yield Change(token.idx, following.idx + len(following), "Only" if token.i == 0 else "only", wrong=True)
        elif token.lower_ in ("except", "excepting") and token.i and _names_things(following):
            last = following if following.lower_ in ("for", "of") else token
            yield Change(token.idx, last.idx + len(last), "including", wrong=True)
        elif token.lower_ in _INCLUSIONS and _adds_to_noun(token) and following.lower_ not in ("but", "in"):
            yield replaced(token, _INCLUSIONS[token.lower_])


def _is_figure_behind(token: Token) -> bool:
    return token.i + 1 < len(token.doc) and token.nbor().pos_ == "NUM"


def _adds_to_noun(token: Token) -> bool:
    return token.dep_ == "prep" and token.i > 0 and token.nbor(-1).pos_ in ("NOUN", "PROPN", "PUNCT")


def _names_things(following: Token) -> bool:
    return following.pos_ != "SCONJ" and following.lower_ != "in"


def _quantifies(token: Token) -> bool:
    """Return whether a quantifier counts a plural noun, or "of" the things that follow."""
    doc, noun = token.doc, token.head
    if token.i + 1 >= len(doc) or (token.i and token.nbor(-1).lower_ in _NOT_BEFORE):
        return False
    following = token.nbor().lower_
    limited = child(noun, "relcl") is not None or any(t.lower_ in ("but", "except") for t in doc)
    if token.lower_ == "all":
        return not limited and following in _BEHIND_ALL and token.dep_ in ("predet", "nsubj", "det", "nsubjpass")
    if following == "of":
        return token.dep_ in ("nsubj", "nsubjpass", "dobj", "pobj") and token.lower_ != "no"
    timed = noun.ent_type_ in ("DATE", "TIME", "QUANTITY", "CARDINAL") or noun.lemma_ in ("time", "way", "other")
    counted = token.dep_ in ("amod", "det") and noun.tag_ == "NNS" and token.lower_ != "half"
    return counted and not limited and not timed
