"""Find who does what to whom in a plain sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from propcite.attribution.judges.training.making.phrases import (
    auxiliaries_of,
    child,
    denies,
    is_question,
    phrase_of,
    root_of,
    subject_of,
)

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_NOT_PASSIVE = frozenset(
    "have be include contain resemble lack cost weigh become take want mean equal fit suit last comprise hold get "
    "let remain enter leave reach join love like need share face involve possess marry attend begin start end "
    "feature play turn pass say think give make do see receive experience show summarize report describe present "
    "represent require total number earn undergo gain spend await suffer reflect".split()
)
_SIMPLE = frozenset("nsubj nsubjpass auxpass aux dobj agent prep npadvmod punct advmod".split())
_OWNERS = frozenset("his her its their our my your himself herself itself themselves each".split())


@dataclass(frozen=True, slots=True)
class Deed:
    """Who does something, the verb, and what it is done to; `passive` says which of the two comes first."""

    actor: Span
    verb: Token
    target: Span
    passive: bool


def deed_of(doc: Doc) -> Deed | None:
    """Return what the main verb of a plain sentence says that someone does; None where it is not that simple."""
    verb, passive = root_of(doc), child(root_of(doc), "agent")
    subject, by = subject_of(verb), passive and child(passive, "pobj")
    other = by if passive is not None else child(verb, "dobj")
    if subject is None or other is None or is_question(doc) or verb.pos_ != "VERB" or denies(doc):
        return None
    simple = verb.lemma_ not in _NOT_PASSIVE and all(c.dep_ in _SIMPLE for c in verb.children)
    if not simple or not _is_plain(verb, subject, passive):
        return None
    first, second = phrase_of(subject), phrase_of(other)
    apart = first.end <= verb.i < second.start and not has_clause(first) and not has_clause(second)
    owned = any(t.lower_ in _OWNERS or (t.tag_ in ("WDT", "WP", "DT") and t.dep_ != "det") for t in (*first, *second))
    if not apart or owned or max(len(first), len(second)) > 10:
        return None
    return Deed(second, verb, first, True) if passive is not None else Deed(first, verb, second, False)


def has_clause(span: Span) -> bool:
    """Return whether a phrase holds a clause, brackets or a quotation."""
    return any(t.dep_ in ("relcl", "acl", "ccomp", "advcl", "appos") or t.text in '"“”();:—' for t in span)


def _is_plain(verb: Token, subject: Token, passive: Token | None) -> bool:
    """Return whether the verb's form and the order of its words can be turned round."""
    helpers = auxiliaries_of(verb)
    adverb_before = any(c.dep_ == "advmod" and c.i < verb.i for c in verb.children)
    if adverb_before or not verb.text.islower() or subject.i > verb.i:
        return False
    if passive is None:
        return not helpers and verb.tag_ in ("VBD", "VBZ", "VBP") and subject.dep_ == "nsubj"
    if len(helpers) != 1 or helpers[0].lower_ not in ("was", "were", "is", "are") or passive.lower_ != "by":
        return False
    return helpers[0].i == verb.i - 1 and passive.i == verb.i + 1
