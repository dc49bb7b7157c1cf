"""The steps in which a claim is written: words of the sentence, some in another form, and few added ones."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from propcite.attribution.english import Fact, Piece, Tagged, verbs

ADDED = tuple(
    "is was are were has had have be been a an the of in on to at by from for with as and that 's ’s '".split()
) + tuple('",-.();')


class Form(IntEnum):
    """The form that a word of the sentence takes in a claim."""

    SAME = 0
    PAST = 1
    THIRD_PERSON = 2
    BASE = 3
    SINGULAR = 4


class Step(NamedTuple):
    """A word of a claim: a token of the sentence in a form, or an added word, which has no token."""

    token: int | None
    form: Form = Form.SAME
    added: str = ""


def inflected(word: str, form: Form) -> str:
    """Return a word in small letters in another form; the word itself where there is no such form.

    >>> inflected("appearing", Form.PAST), inflected("held", Form.THIRD_PERSON), inflected("sculptors", Form.SINGULAR)
    ('appeared', 'holds', 'sculptor')
    >>> inflected("written", Form.PAST), inflected("directed", Form.PAST)
    ('wrote', 'directed')
    """
    if form is Form.SAME:
        return word
    if form is Form.SINGULAR:
        return word.removesuffix("s")
    base = _base(word)
    if form is Form.BASE or len(base) < 2 or base.endswith("ed"):
        return base
    return verbs.past_of(base) if form is Form.PAST else verbs.third_of(base)


def _base(word: str) -> str:
    gerund_of = verbs.base_of(word) if word.endswith("ing") else None
    return gerund_of or verbs.THIRD_PERSON.get(word) or verbs.BASE_OF_FORM.get(word) or word


def fact_of(s: Tagged, steps: Sequence[Step]) -> Fact:
    """Return what the steps write as pieces of the sentence; behind an added `a` its first word is no name."""
    pieces: list[Piece] = []
    for token, form, added in steps:
        if token is None:
            pieces.append(Piece(0, 0, added))
        elif token == 0 and pieces and pieces[-1].say in {"a", "an"}:
            pieces.append(Piece(0, 1, inflected(s.lows[0], form)))
        elif form is not Form.SAME:
            pieces.append(Piece(token, token + 1, inflected(s.lows[token], form)))
        elif pieces and pieces[-1].say is None and pieces[-1].end == token:
            pieces[-1] = Piece(pieces[-1].start, token + 1)
        else:
            pieces.append(Piece(token, token + 1))
    return tuple(pieces)
