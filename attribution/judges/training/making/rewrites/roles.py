"""Turn active into passive, passive into active, and who does what to whom round."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

from propcite.attribution.judges.training.making.example import SUPPORTED, UNSUPPORTED
from propcite.attribution.judges.training.making.phrases import (
    at_place_of,
    auxiliaries_of,
    inflected,
    is_plural,
    put_phrase,
    within_sentence,
)
from propcite.attribution.judges.training.making.rewrites.deeds import Deed, deed_of
from propcite.attribution.judges.training.making.rewriting import Change, Draft, rewrite

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_OBJECT_FORMS = {"he": "him", "she": "her", "they": "them", "we": "us", "i": "me", "it": "it"}
_SUBJECT_FORMS = {"him": "he", "her": "she", "them": "they", "us": "we", "me": "I", "it": "it"}
_SYMMETRIC = frozenset(
    "marry meet resemble equal match border fight face join accompany contact oppose rival neighbour".split()
)
_BETWEEN_THINGS = frozenset(  # what one thing can do to another, either way round
    "increase reduce decrease cause inhibit activate affect influence regulate attract replace precede follow "
    "kill attack eat control support promote produce induce protect treat prevent improve exceed surround cover "
    "absorb block damage help defeat drive trigger suppress enhance attenuate target bind contact determine "
    "modulate stimulate impair mediate strengthen weaken threaten disrupt alter predict outnumber outweigh "
    "overtake hit chase hunt carry pull push generate create destroy delay accelerate limit raise lower boost "
    "elevate".split()
)
_ACTORS = ("PERSON", "ORG", "NORP", "GPE")


def voice_changed(doc: Doc, _: random.Random) -> Iterator[Draft]:
    """Say the same in the other voice."""
    deed = deed_of(doc)
    if deed is not None:
        changes = _to_active(deed) if deed.passive else _to_passive(deed)
        if changes:
            kind = "passive_to_active" if deed.passive else "active_to_passive"
            yield from rewrite(doc.text, changes, SUPPORTED, kind)


def roles_swapped(doc: Doc, _: random.Random) -> Iterator[Draft]:
    """Exchange who does it and to whom it is done, in the same voice."""
    deed = deed_of(doc)
    if deed is not None and _could_do_the_same(deed):
        first, second = (deed.target, deed.actor) if deed.passive else (deed.actor, deed.target)
        finite = auxiliaries_of(deed.verb)[0] if deed.passive else deed.verb
        form = _agreeing(finite, second.root)
        if form:
            changes = [put_phrase(second, first), put_phrase(first, second)]
            changes += [Change(finite.idx, finite.idx + len(finite), form)] if form != finite.text else []
            yield from rewrite(doc.text, changes, UNSUPPORTED, "roles_swapped")


def voice_and_roles_changed(doc: Doc, _: random.Random) -> Iterator[Draft]:
    """Change the voice alone and leave the names where they stand: who did it becomes who it was done to."""
    deed = deed_of(doc)
    if deed is None or not _could_do_the_same(deed):
        return
    verb = deed.verb
    if deed.passive:
        helper, by = auxiliaries_of(verb)[0], verb.doc[deed.actor.start - 1]
        form = inflected(verb.lemma_.lower(), helper.tag_)
        changes = [Change(helper.idx, verb.idx), Change(by.idx, by.idx + len(by))]
        changes += [Change(verb.idx, verb.idx + len(verb), form, wrong=True)] if form else []
    else:
        form = _passive_form(verb, is_plural(deed.actor.root))
        changes = [Change(verb.idx, verb.idx + len(verb), f"{form} by", wrong=True)] if form else []
    if form:
        yield from rewrite(verb.doc.text, changes, UNSUPPORTED, "voice_and_roles_changed")


def _to_passive(deed: Deed) -> list[Change]:
    verb, target = deed.verb, deed.target
    form = _passive_form(verb, is_plural(target.root))
    following = verb.doc[target.end] if target.end < len(verb.doc) else None
    tail = following is None or following.is_punct or following.dep_ in ("prep", "npadvmod")
    if (
        deed.actor.text.lower() in ("i", "we", "you")
        or not form
        or not tail
        or target.root.pos_ not in ("NOUN", "PROPN")
    ):
        return []
    if target.root.ent_type_ in ("DATE", "CARDINAL", "QUANTITY", "PERCENT", "TIME") or target.start != verb.i + 1:
        return []
    actor = _OBJECT_FORMS.get(deed.actor.text.lower(), within_sentence(deed.actor))
    return [
        Change(deed.actor.start_char, deed.actor.end_char, at_place_of(deed.actor, target.text)),
        Change(verb.idx, verb.idx + len(verb), form),
        Change(target.start_char, target.end_char, f"by {actor}"),
    ]


def _to_active(deed: Deed) -> list[Change]:
    verb, helper = deed.verb, auxiliaries_of(deed.verb)[0]
    tag = "VBD" if helper.lower_ in ("was", "were") else "VBP" if is_plural(deed.actor.root) else "VBZ"
    form = inflected(verb.lemma_.lower(), tag)
    actor = _SUBJECT_FORMS.get(deed.actor.text.lower(), deed.actor.text)
    target = _OBJECT_FORMS.get(deed.target.text.lower(), within_sentence(deed.target))
    if not form or deed.actor.root.ent_type_ in ("DATE", "CARDINAL", "PERCENT", "QUANTITY"):
        return []
    return [
        Change(deed.target.start_char, deed.target.end_char, at_place_of(deed.target, actor)),
        Change(helper.idx, verb.idx + len(verb), form),
        Change(verb.doc[deed.actor.start - 1].idx, deed.actor.end_char, target),
    ]


def _passive_form(verb: Token, plural: bool) -> str:
    helper = ("were" if plural else "was") if verb.tag_ == "VBD" else ("are" if plural else "is")
    form = inflected(verb.lemma_.lower(), "VBN")
    return f"{helper} {form}" if form else ""


def _agreeing(verb: Token, subject: Token) -> str:
    """Return a finite verb in the form that a new subject asks for; empty where there is none."""
    if verb.lemma_ == "be":
        forms = ("were", "was") if verb.tag_ == "VBD" else ("are", "is")
        return forms[0] if is_plural(subject) else forms[1]
    return verb.text if verb.tag_ == "VBD" else inflected(verb.lemma_.lower(), "VBP" if is_plural(subject) else "VBZ")


def _could_do_the_same(deed: Deed) -> bool:
    """Return whether each of the two could stand in the other's place: both actors by name, or both common nouns."""
    one, other = deed.actor.root, deed.target.root
    if deed.verb.lemma_ in _SYMMETRIC or one.lemma_ == other.lemma_ or "PRON" in (one.pos_, other.pos_):
        return False
    actors = one.ent_type_ in _ACTORS and other.ent_type_ in _ACTORS
    things = deed.verb.lemma_ in _BETWEEN_THINGS and max(len(deed.actor), len(deed.target)) <= 6
    things = things and one.pos_ == other.pos_ == "NOUN" and not one.ent_type_ and not other.ent_type_
    return actors or things
