"""Take two joined verbs apart: each holds alone with the subject of both."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

from propcite.attribution.judges.training.making.example import SUPPORTED
from propcite.attribution.judges.training.making.phrases import (
    auxiliaries_of,
    child,
    denies,
    is_clause,
    is_guarded,
    is_negated,
    phrase_of,
    root_of,
    subject_of,
)
from propcite.attribution.judges.training.making.rewriting import Change, Draft, Piece, compose, rewrite

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token


def second_clause(doc: Doc, _: random.Random) -> Iterator[Draft]:
    """Give the second of two joined verbs the subject of the first."""
    first = root_of(doc)
    second = _joined_verb(first)
    subject = subject_of(first)
    if second is None or subject is None or is_guarded(doc) or denies(doc):
        return
    helpers = "" if auxiliaries_of(second) else _shared_helpers(first, second)
    if helpers is None:
        return
    if any(t.tag_ in ("VBD", "VBZ", "VBP") or t.text == ":" for t in phrase_of(subject)):
        return
    if not all(t.text.islower() for t in auxiliaries_of(second)):
        return
    pieces = [phrase_of(subject).text, " ", helpers, phrase_of(second).text]
    yield from compose([Piece(p) for p in pieces], SUPPORTED, "second_clause")


def first_clause(doc: Doc, _: random.Random) -> Iterator[Draft]:
    """Leave out the second of two joined verbs."""
    first = root_of(doc)
    second = _joined_verb(first)
    joint = None if second is None else child(first, "cc")
    if second is None or joint is None or joint.i > second.i or is_guarded(doc):
        return
    if not auxiliaries_of(second) and _shared_helpers(first, second) is None:
        return
    end = second.right_edge
    if phrase_of(second).end < len(doc) and not doc[phrase_of(second).end].is_punct:
        return
    yield from rewrite(doc.text, [Change(joint.idx, end.idx + len(end))], SUPPORTED, "first_clause")


def _joined_verb(first: Token) -> Token | None:
    """Return the one verb that is joined to the main one with "and" and shares its subject; None otherwise."""
    joined = [c for c in first.children if c.dep_ == "conj" and c.pos_ == "VERB"]
    joint = child(first, "cc")
    if len(joined) != 1 or joint is None or joint.lower_ != "and" or first.pos_ not in ("VERB", "AUX"):
        return None
    verb, subject = joined[0], subject_of(first)
    own = child(verb, "nsubj", "nsubjpass", "expl", "conj", "mark")
    clear = (
        is_clause(first) and subject is not None and subject.i < first.i and subject.pos_ in ("NOUN", "PROPN", "PRON")
    )
    shared = (
        child(first, "advcl", "mark", "preconj", "ccomp") is None and not is_negated(first) and not is_negated(verb)
    )
    return verb if clear and shared and own is None and verb.left_edge.i > joint.i else None


def _shared_helpers(first: Token, second: Token) -> str | None:
    """Return the auxiliaries that the second verb shares with the first; None where its form does not tell."""
    helpers = auxiliaries_of(first)
    if not helpers and second.tag_ in ("VBD", "VBZ", "VBP") and second.tag_ == first.tag_:
        return ""
    if helpers and second.tag_ == first.tag_ and second.tag_ in ("VBN", "VB", "VBG"):
        return "".join(f"{h.text} " for h in helpers)
    return None
