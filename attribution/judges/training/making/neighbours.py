"""Claims from a sentence and those around it: what only missing sentences say, and who a pronoun means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from propcite.attribution.english import content_words
from propcite.attribution.judges.training.making.entities import Entity, differ, entities_in
from propcite.attribution.judges.training.making.example import SUPPORTED, UNSUPPORTED, Example
from propcite.attribution.judges.training.making.phrases import root_of, subject_of
from propcite.attribution.judges.training.making.rewriting import Change, Draft, is_prose, plain, rewrite

if TYPE_CHECKING:
    from spacy.tokens import Doc

LEAST_FOUND, MOST_FOUND = 0.25, 0.8  # share of a missing sentence's words that its neighbours have
LEAST_SAID, MOST_SAID = 0.15, 0.75  # share of a claim's words that the rest of its passage has
_TAKEN = 2  # sentences that share most words with a claim
_NEAR = 2  # sentences on each side
_PER_PASSAGE = 2
_PERSONAL = ("he", "she")
_NEUTRAL = ("it",)


def absent_sentences(sentences: Sequence[str], title: str) -> list[tuple[int, str]]:
    """Return sentences by number, each with its neighbours as evidence, that have many of its words but not all.

    A name or number of the sentence must be missing, so that the neighbours do not say it in other words.
    """
    found = []
    for number, sentence in enumerate(sentences):
        near = [s for i, s in enumerate(sentences) if i != number and abs(i - number) <= _NEAR and len(s.split()) > 3]
        evidence = " ".join(near)
        words = set(content_words(sentence))
        if len(near) < 2 or not 7 <= len(sentence.split()) <= 40 or not words or not is_prose(sentence):
            continue
        share = len(words & set(content_words(f"{evidence} {title}"))) / len(words)
        if LEAST_FOUND <= share <= MOST_FOUND and _has_own_name(sentence, f"{evidence} {title}"):
            found.append((share, number, evidence))
    return [(number, evidence) for _, number, evidence in sorted(found, reverse=True)[:_PER_PASSAGE]]


def silenced(claim: Example, sentences: Sequence[str]) -> Example | None:
    """Return a supported claim beside its passage without the sentences that share most of its words.

    The claim's words that are left nowhere are marked as wrong.  None if too few or too many of its words are left.
    """
    words = set(content_words(claim.claim))
    nearest = sorted(range(len(sentences)), key=lambda i: -len(words & set(content_words(sentences[i]))))[:_TAKEN]
    rest = " ".join(s for i, s in enumerate(sentences) if i not in nearest)
    missing = words - set(content_words(f"{rest} {claim.title}"))
    spans = tuple(
        match.span()
        for match in re.finditer(r"\w[\w'.,-]*\w|\w", claim.claim)
        if (own := set(content_words(match[0]))) and own <= missing
    )
    if len(sentences) < 2 * _TAKEN or len(spans) < 2 or not LEAST_SAID <= 1 - len(missing) / len(words) <= MOST_SAID:
        return None
    return replace(claim, evidence=rest, label=UNSUPPORTED, kind="silent", wrong=spans)


def pronoun_resolved(doc: Doc, before: Doc, number: int, title: str) -> Iterator[Draft]:
    """Put the name that the title and the sentence before begin with in the place of a pronoun."""
    name = _name_in(title)
    if _may_mean(doc, before, name):
        yield from rewrite(doc.text, [_named(doc, name, wrong=False)], SUPPORTED, "pronoun_resolved", number - 1)


def pronoun_misread(doc: Doc, before: Doc, number: int, title: str, entities: Sequence[Entity]) -> Iterator[Draft]:
    """Put another person of the passage in the place of "he" or "she"."""
    name = _name_in(title)
    people = [e for e in entities if e.group == "PERSON" and differ(e.text, name) and differ(e.text, doc.text)]
    if _may_mean(doc, before, name) and doc[0].lower_ in _PERSONAL and people:
        other = people[0]
        yield from rewrite(doc.text, [_named(doc, other.text, wrong=True)], UNSUPPORTED, "pronoun_misread", number - 1)


def _may_mean(doc: Doc, before: Doc, name: str) -> bool:
    """Return whether the first word is a pronoun that can only mean the subject of the sentence before."""
    if len(doc) < 5 or doc[0].dep_ not in ("nsubj", "nsubjpass") or not _is_about(before, name):
        return False
    others = [e for e in entities_in(before) if differ(e.text, name)]
    if doc[0].lower_ in _PERSONAL:
        return _is_person(before, name) and not any(e.group == "PERSON" for e in others)
    expletive = any(t.dep_ in ("expl", "csubj", "ccomp") or t.lower_ == "that" for t in doc)
    return doc[0].lower_ in _NEUTRAL and not _is_person(before, name) and not others and not expletive


def _is_about(before: Doc, name: str) -> bool:
    """Return whether a sentence begins with the name, as its subject."""
    subject = subject_of(root_of(before))
    text = before.text.lstrip('"')
    begins = bool(name) and plain(text).startswith(plain(name)) and text[len(name) :][:1] in (" ", '"', ",")
    return begins and subject is not None and subject.idx < len(name) + 2


def _is_person(before: Doc, name: str) -> bool:
    return any(e.label_ == "PERSON" and e.start_char < len(name) for e in before.ents)


def _name_in(title: str) -> str:
    return re.sub(r"\s*\(.*?\)|,.*", "", title).strip()


def _named(doc: Doc, name: str, *, wrong: bool) -> Change:
    return Change(0, len(doc[0]), name, wrong)


def _has_own_name(sentence: str, around: str) -> bool:
    """Return whether a number, or a name inside the sentence, stands nowhere around it."""
    names = re.findall(r"(?<=[a-z,] )[A-Z][\w-]+|\d[\d,.]*\d|\d", sentence)
    known = set(plain(around).split())
    return any(not set(plain(name).split()) <= known for name in names)
