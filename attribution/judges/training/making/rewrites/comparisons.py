"""Turn a comparison round."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

from propcite.attribution.judges.training.making.example import CONTRADICTED
from propcite.attribution.judges.training.making.phrases import child, is_plural, phrase_of, put_phrase, subject_of
from propcite.attribution.judges.training.making.rewrites.deeds import has_clause
from propcite.attribution.judges.training.making.rewriting import Draft, rewrite

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token


def comparison_turned(doc: Doc, _: random.Random) -> Iterator[Draft]:
    """Exchange the two that are compared: "B is larger than A"."""
    for than in doc:
        pair = _compared(than) if than.lower_ == "than" else None
        if pair is not None:
            first, second = pair
            yield from rewrite(
                doc.text, [put_phrase(second, first), put_phrase(first, second)], CONTRADICTED, "comparison_turned"
            )
            return


def _compared(than: Token) -> tuple[Span, Span] | None:
    other, degree = child(than, "pobj"), than.head
    verb = degree.head
    subject = subject_of(verb)
    if other is None or subject is None or degree.dep_ != "acomp" or verb.lemma_ != "be":
        return None
    graded = degree.tag_ == "JJR" or any(c.tag_ == "RBR" for c in degree.children)
    named = all(
        t.pos_ in ("NOUN", "PROPN") and t.ent_type_ not in ("CARDINAL", "DATE", "MONEY", "PERCENT")
        for t in (subject, other)
    )
    first, second = phrase_of(subject), phrase_of(other)
    alike = is_plural(subject) == is_plural(other) and first.end <= verb.i < second.start
    clear = not has_clause(first) and not has_clause(second) and not any(c.dep_ == "neg" for c in verb.children)
    clear = clear and not any(t.text == "," or t.tag_ == "PRP$" for t in (*first, *second))
    usual = other.lemma_ in ("average", "usual", "rest", "time", "year", "expectation") or any(
        t.like_num for t in second
    )
    return (first, second) if graded and named and alike and clear and not usual else None
