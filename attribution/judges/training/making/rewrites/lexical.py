"""Replace a word by another of its kind, by its opposite, or by one of the same meaning."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from propcite.attribution.judges.training.making.example import CONTRADICTED, SUPPORTED, UNSUPPORTED
from propcite.attribution.judges.training.making.lexicon import Lexicon
from propcite.attribution.judges.training.making.phrases import inflected, is_question, replaced
from propcite.attribution.judges.training.making.rewrites.words import stands_for_itself
from propcite.attribution.judges.training.making.rewriting import Draft, rewrite

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_BASE_TAGS = frozenset("NN VB JJ RB".split())
_GRADED_TAGS = frozenset("JJR JJS RBR RBS".split())
_AUXILIARY = frozenset("be have do get make go take".split())


def lexical_drafts(doc: Doc, lexicon: Lexicon, rng: random.Random) -> Iterator[Draft]:
    """Yield the sentence with a sibling, with an opposite and with a synonym of one of its words."""
    if is_question(doc):
        return
    words = [t for t in doc if stands_for_itself(t) and t.lemma_ not in _AUXILIARY and t.tag_ not in _GRADED_TAGS]
    for find, label, kind in (
        (lexicon.siblings, UNSUPPORTED, "sibling"),
        (lexicon.opposites, CONTRADICTED, "antonym"),
        (lexicon.synonyms, SUPPORTED, "synonym"),
    ):
        rng.shuffle(words)
        for word in words:
            forms = _forms(word, find(word.lemma_.lower(), word.pos_))
            if forms:
                change = replaced(word, rng.choice(forms), wrong=label != SUPPORTED)
                yield from rewrite(doc.text, [change], label, kind)
                break


def _forms(word: Token, others: Sequence[str]) -> list[str]:
    """Return the other words in the form that stands here, without those that the sentence has."""
    said = {t.lemma_.lower() for t in word.doc} | {t.lower_ for t in word.doc}
    forms = [o if word.tag_ in _BASE_TAGS else inflected(o, word.tag_) for o in others if o not in said]
    return [form for form in forms if form and form not in said]
