"""Drop what weakens a statement: a hedge, a modal verb, who says so, a condition."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

from propcite.attribution.judges.training.making.example import UNSUPPORTED
from propcite.attribution.judges.training.making.phrases import (
    auxiliaries_of,
    child,
    dropped_phrase,
    inflected,
    is_clause,
    is_negated,
    is_plural,
    is_question,
    marked_word,
    phrase_of,
    root_of,
    subject_of,
)
from propcite.attribution.judges.training.making.rewrites.word_lists import HEDGES, MODALS, SAYING
from propcite.attribution.judges.training.making.rewriting import Change, Draft, rewrite

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_ASKING = frozenset("ask wonder see know tell question check learn".split())  # "if" means "whether" behind these
_PEOPLE = frozenset("he she they i we you it".split())


def hedge_dropped(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Drop "possibly", "nearly" and the like; the word that they weaken becomes wrong."""
    found = [t for t in doc if t.lower_ in HEDGES and t.dep_ == "advmod" and _weakens(t)]
    if found and not is_question(doc):
        hedge = rng.choice(found)
        changes = [dropped_phrase(phrase_of(hedge)), marked_word(hedge.head)]
        yield from rewrite(doc.text, changes, UNSUPPORTED, "hedge_dropped")


def modal_dropped(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Turn "may lead" into "leads" and "might have led" into "has led"."""
    found = [(t, certain) for t in doc if t.lower_ in MODALS and (certain := _certain_form(t)) is not None]
    if found and not is_question(doc):
        modal, (verb, form) = rng.choice(found)
        changes = [Change(modal.idx, modal.idx + len(modal)), Change(verb.idx, verb.idx + len(verb), form, wrong=True)]
        yield from rewrite(doc.text, changes, UNSUPPORTED, "modal_dropped")


def attribution_dropped(doc: Doc, _: random.Random) -> Iterator[Draft]:
    """Keep only what somebody says, believes or supposes."""
    verb = root_of(doc)
    clause = child(verb, "ccomp")
    if verb.lemma_ not in SAYING or clause is None or clause.i < verb.i or not is_clause(clause) or is_question(doc):
        return
    own_finding = verb.lemma_ in ("report", "suggest", "predict", "estimate") and _is_first_person(verb)
    unsure = any(t.lower_ in MODALS or t.lower_ in HEDGES for t in phrase_of(clause)) or own_finding
    if unsure or clause.lemma_ in SAYING or child(clause, "advcl", "parataxis") is not None or is_negated(verb):
        return
    words = [t for t in phrase_of(clause) if not (t.dep_ == "mark" and t.head == clause)]
    opening, closing = words[0], words[-1]
    subject = subject_of(clause)
    quoted = any(t.text in '"“”' for t in doc)
    quoted = quoted or any(t.lower_ == "that" and t.dep_ in ("mark", "cc") for t in words)
    if subject is None or subject.tag_ in ("WDT", "WP", "DT") or quoted or opening.dep_ == "cc":
        return
    end = closing.idx + len(closing)
    changes = [Change(0, opening.idx), Change(end, len(doc.text)), marked_word(clause)]
    yield from rewrite(doc.text, changes, UNSUPPORTED, "attribution_dropped")


def condition_dropped(doc: Doc, _: random.Random) -> Iterator[Draft]:
    """Drop "if …" or "unless …": the main verb says too much then."""
    found = [m for m in doc if m.lower_ in ("if", "unless") and m.dep_ == "mark" and _is_condition(m)]
    if found and not is_question(doc):
        clause = found[0].head
        changes = [dropped_phrase(phrase_of(clause)), marked_word(clause.head)]
        yield from rewrite(doc.text, changes, UNSUPPORTED, "condition_dropped")


def _is_first_person(verb: Token) -> bool:
    subject = subject_of(verb)
    return subject is not None and subject.lower_ in ("we", "i")


def _weakens(hedge: Token) -> bool:
    """Return whether a hedge stands alone, directly beside a word that can stand without it."""
    head = hedge.head
    named = hedge.i > 0 and not hedge.text.islower()
    near = not named and abs(head.i - hedge.i) <= 3 and head.i != hedge.i and not head.lower_.startswith("n't")
    modal = any(c.lower_ in MODALS for c in head.children)
    alone = not modal and len(list(hedge.subtree)) == 1 and not is_negated(head) and head.lower_ not in HEDGES
    denied = hedge.i > 0 and hedge.nbor(-1).lower_ in (
        "not",
        "n't",
        "most",
        "very",
        "more",
        "less",
        "as",
        "and",
        "or",
        "but",
    )
    joined = hedge.i + 1 < len(hedge.doc) and hedge.nbor().lower_ in ("and", "or", "but", "to")
    return near and alone and not denied and not joined


def _certain_form(modal: Token) -> tuple[Token, str] | None:
    """Return the verb behind a modal and its form without it; None where that is not clear."""
    verb = modal.head
    subject = subject_of(verb)
    helpers = auxiliaries_of(verb)
    if modal.dep_ != "aux" or subject is None or is_negated(verb) or helpers[0] != modal or subject.i > modal.i:
        return None
    if modal.lower_ == "could" and (subject.lower_ in _PEOPLE or subject.ent_type_ == "PERSON"):
        return None  # what someone was able to do
    first = helpers[1] if len(helpers) > 1 else verb
    if any(t.pos_ in ("CCONJ", "PUNCT") for t in modal.doc[modal.i : first.i]) or child(verb, "conj") is not None:
        return None
    tag = "VBP" if is_plural(subject) or subject.lower_ in ("i", "you") else "VBZ"
    form = inflected(first.lemma_.lower(), tag) if first.tag_ == "VB" else ""
    if first.lemma_ == "be" and subject.lower_ == "i":
        form = "am"
    return (first, form) if form else None


def _is_condition(mark: Token) -> bool:
    """Return whether a clause is a plain condition of a stated verb: no "even if", no "as if", no "would"."""
    clause = mark.head
    before = mark.nbor(-1).lower_ if mark.i else ""
    limited = before in ("even", "as", "only", "what", "see", "know", "not", "and", "or", "but", "except")
    supposed = any(a.lower_ in ("would", "could", "should", "might") for a in auxiliaries_of(clause.head))
    asked = clause.head.lemma_ in _ASKING or subject_of(clause) is None
    plain = (
        not supposed
        and not asked
        and clause.dep_ == "advcl"
        and clause.left_edge == mark
        and not is_negated(clause.head)
    )
    return (
        plain and not limited and clause.head.i != clause.i and is_clause(clause.head) and len(list(clause.subtree)) > 2
    )
