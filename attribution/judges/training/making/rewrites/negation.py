"""Deny what a sentence says, or say what it denies."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

from propcite.attribution.judges.training.making.example import CONTRADICTED
from propcite.attribution.judges.training.making.phrases import (
    auxiliaries_of,
    denies,
    inflected,
    is_clause,
    is_question,
    phrase_of,
    root_of,
    subject_of,
)
from propcite.attribution.judges.training.making.rewrites.word_lists import FREQUENCIES, HEDGES, QUANTIFIERS
from propcite.attribution.judges.training.making.rewriting import Change, Draft, rewrite

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_DO = {"VBD": "did", "VBZ": "does", "VBP": "do"}
_ODD_BEFORE_NOT = frozenset("only also even just already still never always too either yet".split())
_SOME = frozenset((*QUANTIFIERS, "both", "each", "every", "any", "percent", "part", "parts"))  # denied, they say little
# Words behind "not" that read wrong once it is gone, or that take up what it denies.
_FOR_DENIALS = frozenset("any ever anyone anything anybody anywhere yet either but nor until".split())
_FIXED_BEHIND_NOT = frozenset("only just merely all every necessarily to yet".split())


def not_added(doc: Doc, _: random.Random) -> Iterator[Draft]:
    """Deny the main verb, as "did not found" does for "founded"."""
    verb = root_of(doc)
    if denies(doc) or is_question(doc) or not is_clause(verb) or _has_odd_word(verb):
        return
    change = _denial(verb)
    if change is not None:
        yield from rewrite(doc.text, [change], CONTRADICTED, "not_added")


def not_dropped(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Say what the sentence denies."""
    found = [t for t in doc if t.dep_ == "neg" and t.lower_ in ("not", "n't", "never") and _can_go(t)]
    if found and not is_question(doc):
        word = rng.choice(found)
        changes = list(_affirmation(word))
        if changes:
            yield from rewrite(doc.text, changes, CONTRADICTED, "not_dropped")


def _denial(verb: Token) -> Change | None:
    """Return the change that denies a verb; None where "not" has no clear place."""
    helpers = [a for a in auxiliaries_of(verb) if a.i < verb.i]
    first = helpers[0] if helpers else verb if verb.lemma_ == "be" else None
    if first is not None:
        if first.lower_.startswith(("'", "’")) or first.lower_ == "to":
            return None
        return Change(first.idx + len(first), first.idx + len(first), " not", wrong=True)
    base = verb.lemma_.lower()
    if verb.tag_ not in _DO or not base.isalpha() or verb.pos_ != "VERB":
        return None
    return Change(verb.idx, verb.idx + len(verb), f"{_DO[verb.tag_]} not {base}", wrong=True)


def _has_odd_word(verb: Token) -> bool:
    """Return whether an adverb before or behind the verb reads badly with "not", a second verb shares its subject,
    or the subject is some of many: then both the sentence and its denial may hold.
    """
    near = verb.doc[max(0, verb.i - 3) : verb.i + 3]
    joined = any(c.dep_ == "conj" and c.pos_ in ("VERB", "AUX") for c in verb.children)
    subject = subject_of(verb)
    some = subject is not None and any(t.lower_ in _SOME or t.like_num for t in phrase_of(subject))
    odd = any(t.lower_ in _ODD_BEFORE_NOT | HEDGES | FREQUENCIES.keys() for t in near)
    return joined or some or odd


def _can_go(word: Token) -> bool:
    """Return whether the sentence reads well without its "not"."""
    before, behind = word.doc[: word.i], word.doc[word.i + 1 :]
    contrast = any(t.lower_ in _FOR_DENIALS for t in behind)
    fixed = any(t.lower_ in _FIXED_BEHIND_NOT for t in behind[:1]) or any(t.lower_ == "whether" for t in before[-1:])
    contrast = contrast or "at all" in word.doc.text
    return word.head.pos_ in ("VERB", "AUX") and not contrast and not fixed


def _affirmation(word: Token) -> Iterator[Change]:
    """Yield the changes that drop a denial: "did not found" becomes "founded"."""
    verb = word.head
    helpers = [a for a in auxiliaries_of(verb) if a.i < word.i]
    if word.lower_ == "never":
        if verb.tag_ in ("VBD", "VBZ", "VBP"):
            yield Change(word.idx, word.idx + len(word))
            yield Change(verb.idx, verb.idx + len(verb), verb.text, wrong=True)
        return
    helper = helpers[-1] if helpers else verb if verb.lemma_ == "be" and verb.i == word.i - 1 else None
    if helper is None or helper.i != word.i - 1 or helper.lower_ in ("ca", "wo", "sha", "to"):
        return
    yield Change(word.idx, word.idx + len(word))
    if helper.lemma_ != "do":
        yield Change(helper.idx, helper.idx + len(helper), helper.text, wrong=True)
    elif verb.tag_ in ("VB", "VBP") and (form := inflected(verb.lemma_, helper.tag_)):
        yield Change(helper.idx, helper.idx + len(helper))
        yield Change(verb.idx, verb.idx + len(verb), form, wrong=True)
    else:
        yield Change(helper.idx, helper.idx + len(helper), helper.text, wrong=True)
