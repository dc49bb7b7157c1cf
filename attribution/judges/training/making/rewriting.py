"""Rewrite a text and keep track of the characters that became wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from propcite.attribution.judges.training.making.example import Spans

MIN_WORDS, MAX_WORDS = 3, 70  # of a claim

# Deleted in this order from a rewritten text: the marks and spaces that a cut leaves behind.
_LEFTOVERS = tuple(
    map(
        re.compile,
        (
            r"\(\s*[,;]?\s*\)",
            r"(?<=[(\[])[\s,;]+",
            r"\s+(?=\s)",
            r"\s+(?=[,.;:!?)\]])",
            r"[,;:]+(?=\s*[,.;:!?)])",
            r"^[\s,;:.]+",
            r"[\s,;:]+$",
        ),
    )
)
_UNFINISHED = re.compile(r"\b(?:and|or|but|the|a|an|of|than|nor)\W*$", re.IGNORECASE)
_BROKEN = re.compile(
    r"\b(\w+) \1\b(?<!that that)(?<!had had)|\b(?:and|or) (?:and|or)\b|^(?:and|or|but)\b", re.IGNORECASE
)
_HEADING = re.compile(r"[^:.]{1,80}: ")
_ARTICLE = re.compile(r"(?:^|(?<=[\s(\"“]))([Aa])n?(?= $)")
_VOWEL_SOUND = re.compile(
    r"(?!eu|one\b|once\b|uni(?!n|mp)|us[eu]|ur[aeiou]|ut[eio])[aeiou]|hour|honou?r|honest|heir|8|1[18](?!\d)"
)


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """Characters of a text and what takes their place; `wrong` says that the new words make the text wrong."""

    start: int
    end: int
    new: str = ""
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """A claim with its label and kind; `other` is the number of a second sentence that its evidence must show."""

    claim: str
    label: str
    kind: str
    wrong: Spans | None = ()
    other: int | None = None


def rewrite(text: str, changes: Sequence[Change], label: str, kind: str, other: int | None = None) -> Iterator[Draft]:
    """Yield the text with the changes, or nothing where they overlap, change nothing or leave no proper sentence."""
    ordered = sorted(changes, key=lambda change: (change.start, change.end))
    if any(after.start < before.end for before, after in pairwise(ordered)):
        return
    for draft in compose(pieces_of(text, ordered), label, kind, other):
        if plain(draft.claim) != plain(text):
            yield draft


def compose(pieces: Sequence[Piece], label: str, kind: str, other: int | None = None) -> Iterator[Draft]:
    """Yield the claim that the pieces form, or nothing where they form no proper sentence."""
    made = sentence_of(pieces)
    if made is not None:
        yield Draft(made[0], label, kind, made[1], other)


def plain(text: str) -> str:
    """Return the words of a text in lower case, without punctuation."""
    return " ".join(re.findall(r"\w+", text.lower()))


def pieces_of(text: str, changes: Sequence[Change]) -> list[Piece]:
    """Cut a text at its changes, which are in order and apart."""
    pieces, at = [], 0
    for change in changes:
        pieces += [Piece(text[at : change.start]), Piece(change.new, change.wrong)]
        at = change.end
    return [*pieces, Piece(text[at:])]


def sentence_of(pieces: Sequence[Piece]) -> tuple[str, Spans] | None:
    """Join pieces to a sentence with its wrong spans; None where it is broken, too short or too long."""
    text, flags = _joined(_with_articles(pieces))
    for leftover in _LEFTOVERS:
        text, flags = _without(leftover, text, flags)
    if not text or not is_whole(text):
        return None
    if text[-1] not in '.!?"”':
        text, flags = f"{text}.", [*flags, False]
    return text[0].upper() + text[1:], spans_of(text, flags)


def is_whole(text: str) -> bool:
    """Return whether a text could be a sentence: its length, its brackets and quotation marks, its last word."""
    words = len(text.split())
    balanced = text.count('"') % 2 == 0 and all(text.count(a) == text.count(b) for a, b in ("()", "[]", "“”"))
    return MIN_WORDS <= words <= MAX_WORDS and balanced and not _UNFINISHED.search(text) and not _BROKEN.search(text)


def is_prose(text: str) -> bool:
    """Return whether a text is one sentence of running words: no heading, list or piece of one."""
    words = text.split()
    letters = sum(len(w) for w in words if w.isalpha())
    begins = text[:1].isupper() or text[:1].isdigit()
    return (
        begins
        and not _HEADING.match(text)
        and text.rstrip()[-1:] in '.!"”'
        and letters > 0.6 * len(text.replace(" ", ""))
        and "|" not in text
    )


def spans_of(text: str, flags: Sequence[bool]) -> Spans:
    """Return the runs of flagged characters, without white space at their ends."""
    spans = []
    for found in re.finditer("x+", "".join("x" if flag else " " for flag in flags)):
        run = text[found.start() : found.end()]
        start = found.start() + len(run) - len(run.lstrip())
        if run.strip():
            spans.append((start, start + len(run.strip())))
    return tuple(spans)


def article_for(following: str) -> str:
    """Return "a" or "an", whichever fits the words that follow."""
    return "an" if _VOWEL_SOUND.match(following.lstrip('"“(').lower()) else "a"


def _with_articles(pieces: Sequence[Piece]) -> list[Piece]:
    """Make "a" or "an" at the end of a piece fit the next words."""
    fitted = list(pieces)
    for i, piece in enumerate(pieces[:-1]):
        following = "".join(p.text for p in pieces[i + 1 :]).lstrip()
        if following and (found := _ARTICLE.search(piece.text)):
            article = found[1] + article_for(following)[1:]
            fitted[i] = Piece(piece.text[: found.start()] + article + " ", piece.wrong)
    return fitted


def _joined(pieces: Sequence[Piece]) -> tuple[str, list[bool]]:
    return "".join(p.text for p in pieces), [p.wrong for p in pieces for _ in p.text]


def _without(pattern: re.Pattern[str], text: str, flags: list[bool]) -> tuple[str, list[bool]]:
    """Delete what the pattern finds, from the text and from its flags."""
    deleted = {i for found in pattern.finditer(text) for i in range(*found.span())}
    if not deleted:
        return text, flags
    kept = [i for i in range(len(text)) if i not in deleted]
    return "".join(text[i] for i in kept), [flags[i] for i in kept]
