"""Turn a statement into questions that it answers, by rule: "The bridge was opened in 1990." → "When was …?".

The grammar of `attribution.english` parts a clause into subject, verbs and phrases.  A question leaves one phrase out
and puts the words that ask for it in front.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from propcite.app.overview.subjects import Spelling, agrees, as_inside, is_person, is_plural, stands_alone
from propcite.attribution.english import (
    DAY_NAMES,
    MONTHS,
    Fact,
    Frame,
    Piece,
    Tagged,
    Unit,
    frame,
    lexicon,
    verbs,
)

MAX_LEAD_WORDS = 6

ORDER = ("what", "who", "much", "measure", "many", "why", "when", "often", "where")  # the most telling first

BE = frozenset("is are was were".split())
_HAVE = {"has": "does", "have": "do", "had": "did"}
_DENIES = lexicon.words("not never no none nobody nothing only hardly neither nor without except unless n't cannot")
_CONTRASTS = ("against ", "compared ", "including ", "unlike ", "instead ", "rather ")
_ABOUT = frozenset("about over some nearly around almost roughly up to at least most more less than".split())
_MONEY = frozenset("€ $ £ euros euro dollars pounds".split())
_MEASURES = {"long": "long", "high": "high", "tall": "tall", "wide": "wide", "deep": "deep", "old": "old"}
_PLACED = frozenset("at in near".split())
_LOCATED = frozenset("located situated housed kept held stored built displayed buried found born shown sold".split())
_OFTEN = re.compile(r"(?:every|each|once|twice|(?:two|three|four|\d+) times)\b.*", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:1[0-9]|20)\d\d\b")
_DATING = lexicon.words(
    "in on at since until the early late mid spring summer autumn winter beginning end middle of year years and day"
)
_LEADS = tuple(f"{word} " for word in "By In On At For With Under During After Before Since Until Unlike".split())
REFERS = re.compile(r"\b(?:this|that|these|those|such|it|its|their|them|which|following|above|below)\b", re.IGNORECASE)
_RELATIVE = re.compile(r"\b(?:who|whom|whose|which)\b")
_LINKS = re.compile(
    r"(?:By|In|On|For) (?:contrast|extension|addition|general|particular|example|turn|fact|practice|other words)\b"
)
_ASIDE = frozenset("now still later then also therefore however thus".split())  # adverbs that a question leaves out
_SINCE = re.compile(r"from [\w ]*\d{4}")
_AT_HOUR = re.compile(r"at \d{1,2}[:.]\d\d$")
_BECAUSE = re.compile(r"because\s+(?!of\b)\w+", re.IGNORECASE)
_PASTS = {verbs.past_of(base): base for base in verbs.BASE_VERBS}
_PARTICIPLES = {participle: base for base, _, participle in verbs.IRREGULAR if participle != "-"} | _PASTS


@dataclass(frozen=True, slots=True)
class Form:
    """A question and what it asks for, one of ORDER."""

    question: str
    asks: str


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause whose parts are written out: `help` is the verb that goes before the subject, `rest` what follows it.

    `given` are the verbs as they stand, `behind` is all that follows them, and `lead` what stood before the subject.
    A phrase of one that `is_listed` does not stand for all of it.
    """

    text: str
    tagged: Tagged
    subject: str
    given: tuple[str, ...]
    help: str
    rest: str
    behind: str
    lead: str
    units: tuple[Unit, ...]
    is_copula: bool
    names_person: bool
    is_listed: bool

    @classmethod
    def of(cls, text: str, tagged: Tagged, fact: Fact, spelling: Spelling) -> Clause | None:
        """Return the clause; None where its subject does not stand alone, or its verb is not known."""
        framed = frame(tagged, fact)
        if framed is None or not _in_one_piece(framed):
            return None
        subject, given = _written(text, tagged, framed.subject), _written(text, tagged, framed.verbs).split()
        given = [word for word in given if word.lower() not in _ASIDE]
        lead = _lead(text, tagged, fact, framed.subject)
        if lead is None or not given or not stands_alone(tagged, framed.subject, subject, spelling):
            return None
        turned = _turned(given, is_copula=framed.is_copula)
        if turned is None or not agrees(subject, turned[0]):
            return None
        own = as_inside(subject, tagged, framed.subject, spelling)
        while own.rpartition(" ")[2] in _ASIDE:
            own = own.rpartition(" ")[0]
        behind = _written(text, tagged, tuple(_after(framed.verbs[-1], fact)))
        listed = any(u.tail or u.instead_of is not None or u.of_list is not None for u in framed.units)
        return cls(
            text,
            tagged,
            own,
            tuple(given),
            *turned,
            behind,
            lead,
            units=framed.units,
            is_copula=framed.is_copula,
            names_person=is_person(tagged, framed.subject),
            is_listed=listed,
        )

    def forms(self) -> Iterator[Form]:
        """Yield the questions that ask for one phrase."""
        if self.is_listed:
            return
        for at, unit in enumerate(self.units):
            words = self._words(unit)
            for asks, before in _asked_for(words, unit, self):
                yield Form(self._question(before, at), asks)
            if unit.is_object and not unit.needs and (counted := self._counted(unit)):
                yield Form(self._question(counted, at), "much" if counted == "How much" else "many")
        yield from self._measured()
        yield from self._who()

    def _words(self, unit: Unit) -> str:
        return _written(self.text, self.tagged, (*unit.needs, *unit.pieces)).strip(" ,")

    def _others(self, without: int | None) -> str:
        """Return the phrases behind the verbs but one; leads are left out, since they may stand aside."""
        kept: list[str] = []
        for at, unit in enumerate(self.units):
            words = self._words(unit)
            if unit.joint or words.startswith(_CONTRASTS):
                break  # what follows may belong to it
            left_out = any(one.match(words) for one in (_BECAUSE, _AT_HOUR, _SINCE))
            if at != without and not unit.is_lead and not left_out:
                kept.append(words)
        return " ".join(kept)

    def _question(self, before: str, without: int | None) -> str:
        lead = "" if without is not None and self.units[without].is_lead else self.lead
        others = "" if self.rest == "have" else self._others(without)  # they may tell of what one has
        return asked(before, self.help, self.subject, self.rest, others, lead)

    def _counted(self, unit: Unit) -> str:
        """Return what asks for the number that an object begins with; empty where it begins with none."""
        tokens = [at for piece in unit.pieces for at in range(piece.start, piece.end)]
        while tokens and self.tagged.lows[tokens[0]] in _ABOUT:
            tokens = tokens[1:]
        if len(tokens) < 2 or self.tagged.tags[tokens[0]] != "U" or self.is_copula or self.rest == "see":
            return ""
        lows = [self.tagged.lows[at] for at in tokens]
        if _MONEY & set(lows):
            return "How much" if set(lows) <= _MONEY | set(lows[:4]) and len(lows) <= 4 else ""
        rest = next((k for k, at in enumerate(tokens) if self.tagged.tags[at] != "U"), None)
        if rest is None or self.tagged.tags[tokens[rest]] not in "NJX" or lows[rest] in lexicon.MONTHS or "%" in lows:
            return ""
        head = next((k for k, at in enumerate(tokens) if k > rest and self.tagged.tags[at] in "OP"), len(tokens)) - 1
        if lows[0] in ("one", "1", "half") or not is_plural(lows[head]):
            return ""
        place = self.tagged.places
        return f"How many {self.text[place[tokens[rest]][0] : place[tokens[-1]][1]]}"

    def _measured(self) -> Iterator[Form]:
        """Yield what asks for the measure of the subject: "is 300 metres long"."""
        objects = [unit for unit in self.units if unit.is_object or unit.is_quality]
        if not self.is_copula or not objects or len(self.given) != 1 or self.help not in BE:
            return
        pieces = [piece for unit in objects for piece in (*unit.needs, *unit.pieces)]
        tokens = [at for piece in pieces for at in range(piece.start, piece.end)]
        lows = [self.tagged.lows[at] for at in tokens]
        while lows and lows[0] in _ABOUT:
            lows, tokens = lows[1:], tokens[1:]
        if len(lows) > 2 and self.tagged.tags[tokens[0]] == "U" and (measure := _MEASURES.get(lows[-1])):
            yield Form(asked(f"How {measure}", self.help, self.subject), "measure")

    def _who(self) -> Iterator[Form]:
        """Yield what asks who did it: of an active clause its subject, of a passive one what follows "by"."""
        is_deed = self.help in ("did", "does") and self.given[0].lower() not in verbs.REPORTING
        others = self._others(None)
        if self.names_person and self.units and not self.is_copula and is_deed and not _RELATIVE.search(others):
            yield Form(asked("Who", " ".join(self.given), "", "", others), "who")
        for at, unit in enumerate(self.units):
            words, base = self._words(unit), _PARTICIPLES.get(self.given[-1].lower())
            tags = "".join(self.tagged.tags[piece.start : piece.end] for piece in unit.pieces)
            passive = self.help in ("was", "were") and len(self.given) == 2
            if base and passive and re.fullmatch(r"P[DJNXc]*X[DJNXc]*", tags) and words.startswith("by "):
                yield Form(asked("Who", verbs.past_of(base), self.subject, "", self._others(at)), "who")


def _in_one_piece(framed: Frame) -> bool:
    """Return whether the verbs follow the subject at once: not in "Ada, who won, came"."""
    subject, first = framed.subject, framed.verbs[0]
    pieces = [*subject, first]
    joined = all(one.say is None and one.end == following.start for one, following in pairwise(pieces))
    return bool(subject) and first.say is None and joined


def _lead(text: str, tagged: Tagged, fact: Fact, subject: Fact) -> str | None:
    """Return what stands before the subject as it is written at the end; None where it is more than a short phrase."""
    start = fact[0].start
    before = text[tagged.places[start][0] : tagged.places[subject[0].start][0]].strip(" ,")
    if not before or not tagged.tags[start : subject[0].start].strip(",a"):
        return ""  # "Usually, ..."
    short = before.startswith(_LEADS) and "," not in before and len(before.split()) <= MAX_LEAD_WORDS
    if _LINKS.match(before):
        return ""
    return f"{before[0].lower()}{before[1:]}" if short and not REFERS.search(before) else None


def _after(last: Piece, fact: Fact) -> Iterator[Piece]:
    """Yield what follows a piece of a fact."""
    for piece in fact:
        if piece.start >= last.end:
            yield piece
        elif piece.end > last.end:
            yield Piece(last.end, piece.end)


def _asked_for(words: str, unit: Unit, clause: Clause) -> Iterator[tuple[str, str]]:
    """Yield what a phrase tells of, and the words that ask for it: a time, how often, a reason, a place."""
    low = words.lower()
    each = [word.strip(",") for word in low.split()] or [""]
    first, last = each[0], each[-1]
    dated = any(_YEAR.fullmatch(word) or word in MONTHS or word in DAY_NAMES for word in each)
    plain = all(word in _DATING or word in MONTHS or word in DAY_NAMES or word.isdecimal() for word in each)
    has_object = clause.is_copula and any(one.is_object for one in clause.units)
    if first in ("in", "on", "since", "until", "at") and dated and plain and not has_object:
        yield "when", {"since": "Since when", "until": "Until when"}.get(first, "When")
    elif _OFTEN.fullmatch(low) and last in lexicon.TIME_NOUNS and not unit.is_object:
        yield "often", "How often"
    elif _BECAUSE.match(words):
        yield "why", "Why"
    elif first in _PLACED and not dated and not unit.is_lead and _tells_place(words, clause):
        yield "where", "Where"


def _tells_place(words: str, clause: Clause) -> bool:
    named = any(word[:1].isupper() for word in words.split()[1:])
    return named and clause.help in BE and clause.given[-1].lower() in _LOCATED


def asked(*parts: str) -> str:
    return f"{' '.join(part for part in parts if part).rstrip(' ,;.')}?"


def _written(text: str, tagged: Tagged, pieces: Fact) -> str:
    """Return the words of these pieces as the sentence writes them."""
    shown = (
        piece.say if piece.say is not None else text[tagged.places[piece.start][0] : tagged.places[piece.end - 1][1]]
        for piece in _joined(pieces)
        if piece.say is not None or piece.end > piece.start
    )
    return " ".join(shown)


def _joined(pieces: Fact) -> Fact:
    """Join single words that stand next to each other."""
    out: list[Piece] = []
    for piece in pieces:
        last = out[-1] if out else None
        if last and last.say is None and piece.say is None and last.end == piece.start:
            out[-1] = Piece(last.start, piece.end)
        else:
            out.append(piece)
    return tuple(out)


def _turned(given: list[str], *, is_copula: bool) -> tuple[str, str] | None:
    """Return the verb that goes before the subject, and the others; None where the first verb is not known.

    >>> _turned(["was", "finished"], is_copula=False), _turned(["carries"], is_copula=False)
    (('was', 'finished'), ('does', 'carry'))
    """
    first, rest = given[0].lower(), " ".join(given[1:])
    if first in lexicon.BE or first in lexicon.MODALS or (first in _HAVE and rest and not is_copula):
        return first, rest
    if first in _HAVE:
        return _HAVE[first], "have"
    if first in verbs.THIRD_PERSON:
        return "does", f"{verbs.THIRD_PERSON[first]} {rest}".strip()
    if first in verbs.SAME_FORMS or first in _PASTS:
        return "did", f"{_PASTS.get(first, first)} {rest}".strip()
    return ("do", f"{first} {rest}".strip()) if first in verbs.BASE_VERBS else None
