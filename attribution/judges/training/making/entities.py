"""Names and numbers of parsed sentences, and which of them could stand in each other's place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from propcite.attribution.english import MONTH_NAMES, NUMBER_WORDS
from propcite.attribution.judges.training.making.rewriting import Change, plain

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

NUMBERS = frozenset({"DATE", "CARDINAL", "QUANTITY", "PERCENT", "MONEY", "ORDINAL", "TIME"})
NAMES = frozenset({"PERSON", "ORG", "GPE", "LOC", "NORP", "FAC", "EVENT", "WORK_OF_ART", "PRODUCT"})
_GROUPS = {"GPE": "PLACE", "LOC": "PLACE", "FAC": "PLACE"}
_MONTH = re.compile(rf"\b(?:{'|'.join(MONTH_NAMES)})\b")
_SPELLED = re.compile(rf"\b(?:{'|'.join(w for w in NUMBER_WORDS if w not in ('zero', 'one'))})\b", re.IGNORECASE)
_VAGUE = re.compile(
    r"\b(?:today|annual|annually|recent|now|current|previous|following|next|last|this|that|these|those|same|one|once|"
    r"half|several|many|few|daily|weekly|monthly|yearly|day|earlier|later|ago|old|age|aged|least|most|more)\b",
    re.IGNORECASE,
)
_MAX_NAME_WORDS = 6


@dataclass(frozen=True, slots=True)
class Entity:
    """A name or number of a sentence: its characters, its group, and the shape that its replacement must have."""

    text: str
    start: int
    end: int
    group: str
    shape: str
    sentence: int = 0

    @property
    def is_number(self) -> bool:
        return self.group in NUMBERS

    def fits(self, other: Entity) -> bool:
        """Return whether another entity could stand here and would say something else."""
        return self.group == other.group and self.shape == other.shape and differ(self.text, other.text)

    def put(self, text: str, *, wrong: bool = True) -> Change:
        spelled = _SPELLED.fullmatch(text) is not None and self.start > 0
        return Change(self.start, self.end, text.lower() if spelled else text, wrong)


def entities_in(doc: Doc, sentence: int = 0) -> list[Entity]:
    """Return the entities that can be replaced: proper names, and figures of a clear shape."""
    return [entity for span in doc.ents for entity in _usable(span, sentence)]


def _usable(span: Span, sentence: int) -> Iterator[Entity]:
    text = re.sub(r"['’]s?$", "", span.text.strip())
    group = _GROUPS.get(span.label_, span.label_)
    if span.label_ in NUMBERS:
        start = span.start_char + span.text.find(text)
        shape = "" if _is_reference(span) else shape_of(text, group)
    else:
        text = re.sub(r"^(?:[Tt]he|an?) ", "", text)
        start = span.start_char + span.text.find(text)
        shape = name_shape(text, group) if span.label_ in NAMES and _is_complete(span) else ""
        shape = f"the {shape}" if shape and span.doc.text[:start].lower().endswith("the ") else shape
    if shape:
        yield Entity(text, start, start + len(text), group, shape, sentence)


def name_shape(text: str, group: str) -> str:
    """Return the shape of a name; empty for what is hardly one."""
    words = text.split()
    proper = text[:1].isupper() and len(words) <= _MAX_NAME_WORDS and not re.search(r"\d|[()\[\]\"“”,;:/]", text)
    if not proper or len(text) < 3 or not words[-1][0].isupper():
        return ""
    if text.isupper():
        return "initials" if group in ("ORG", "PRODUCT") else ""
    if group == "NORP":
        adjective = re.search(r"(?:an|ish|ese|ic|ch|ek|i)$", text)
        return "adjective" if adjective else "plural" if re.search(r"(?:an|ish|ic|ek|i|ing|uot)s$", text) else ""
    return "name" if len(words) > 1 else "word"


def _is_complete(span: Span) -> bool:
    """Return whether a name stands alone: no capital beside it, and no noun that it is a part of."""
    before, behind = span.doc[: span.start], span.doc[span.end :]
    longer = (len(before) > 1 and before[-1].pos_ == "PROPN") or (len(behind) > 0 and behind[0].text[:1].isupper())
    hyphen = any(t.text in ("-", "–", "/") for t in (*before[-1:], *behind[:1]))
    return not longer and not hyphen and (span.root.dep_ != "compound" or span.label_ == "NORP")


def _is_reference(span: Span) -> bool:
    """Return whether a number stands in brackets, as the number of a source does."""
    text = span.doc.text
    return text[: span.start_char].rstrip()[-1:] in ("[", "(") and text[span.end_char :].lstrip()[:1] in ("]", ")", ",")


def shape_of(text: str, group: str) -> str:
    """Return the shape of a number or date, such as "M 0, 0" for "May 5, 1921"; empty where it is vague."""
    if _VAGUE.search(text) or not (re.search(r"\d", text) or _SPELLED.search(text) or _MONTH.search(text)):
        return ""
    if group == "DATE" and re.fullmatch(r"1\d{3}|20\d\d", text):
        return "year"
    return _SPELLED.sub("n", re.sub(r"\d+(?:[.,]\d+)*", "0", _MONTH.sub("M", text))).lower()


def differ(one: str, other: str) -> bool:
    """Return whether two names share no word and neither is the other's initials."""
    a, b = plain(one).split(), plain(other).split()
    initials = {"".join(w[0] for w in words) for words in (a, b) if len(words) > 1}
    apart = not set(a) & set(b) and not initials & {"".join(a), "".join(b)}
    return bool(a and b) and apart and not one.startswith(other[:5]) and not other.startswith(one[:5])
