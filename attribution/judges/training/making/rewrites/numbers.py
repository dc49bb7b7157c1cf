"""Move a number to another noun of the sentence, change it, change its unit, or turn its bound round."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import permutations
from typing import TYPE_CHECKING

from propcite.attribution.judges.training.making.entities import entities_in, shape_of
from propcite.attribution.judges.training.making.example import CONTRADICTED, UNSUPPORTED
from propcite.attribution.judges.training.making.phrases import is_question, replaced
from propcite.attribution.judges.training.making.rewriting import Change, Draft, rewrite

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_UNITS = (  # of one kind and one number, so that another one reads as well
    "miles kilometres",
    "miles kilometers",
    "km mi",
    "metres feet yards",
    "meters feet yards",
    "inches centimetres",
    "inches centimeters",
    "kilograms pounds",
    "kg lb",
    "mg g",
    "seconds minutes",
    "minutes hours",
    "hours days",
    "days weeks",
    "weeks months",
    "months years",
    "years decades",
    "acres hectares",
    "thousand million",
    "million billion",
    "billion trillion",
    "dollars euros",
    "litres gallons",
    "liters gallons",
)
_UNITS_OF: dict[str, list[str]] = {}
for _row in _UNITS:
    for _unit in _row.split():
        _UNITS_OF.setdefault(_unit, []).extend(u for u in _row.split() if u != _unit)
_FIGURE = re.compile(r"(?<!\w)\d+(?:[.,]\d+)*(?!\w)")
_BOUNDS = (  # two words and those that turn them round
    (("more", "than"), "fewer than"),
    (("fewer", "than"), "more than"),
    (("less", "than"), "more than"),
    (("at", "least"), "at most"),
    (("at", "most"), "at least"),
    (("up", "to"), "at least"),
    (("over",), "under"),
)


def number_moved(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Give a counted noun the number of another noun of the sentence."""
    counted = [t for t in doc if _is_count(t)]
    pairs = [(a, b) for a, b in permutations(counted, 2) if a.head != b.head and _differ(a, b)]
    if pairs and not is_question(doc):
        own, other = rng.choice(pairs)
        change = Change(own.idx, own.idx + len(own), other.lower_, wrong=True)
        yield from rewrite(doc.text, [change], UNSUPPORTED, "number_moved")


def unit_changed(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Put another unit behind a number."""
    units = [t for t in doc if t.i and t.lower_ in _UNITS_OF and (doc[t.i - 1].like_num or doc[t.i - 1].pos_ == "NUM")]
    units = [t for t in units if not (t.i + 1 < len(doc) and doc[t.i + 1].text[0] in "-/")]
    if units and not is_question(doc):
        unit = rng.choice(units)
        said = {t.lower_ for t in doc}
        others = [u for u in _UNITS_OF[unit.lower_] if u not in said]
        if others:
            yield from rewrite(doc.text, [replaced(unit, rng.choice(others))], UNSUPPORTED, "unit_changed")


def figure_changed(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Change one number a little: a year by a few, another figure in one of its digits."""
    found = [(e, m) for e in entities_in(doc) if e.is_number and (m := _FIGURE.search(e.text))]
    if found and not is_question(doc):
        entity, figure = rng.choice(found)
        start = entity.start + figure.start()
        new = _other_figure(figure[0], rng)
        if new not in doc.text:
            change = Change(start, start + len(figure[0]), new, wrong=True)
            yield from rewrite(doc.text, [change], CONTRADICTED, "figure")


def bound_turned(doc: Doc, rng: random.Random) -> Iterator[Draft]:
    """Turn "more than 300" into "fewer than 300", and the like."""
    found = [(span, new) for words, new in _BOUNDS for span in _before_number(doc, words)]
    if found:
        (start, end), new = rng.choice(found)
        first, last = doc[start], doc[end - 1]
        change = Change(first.idx, last.idx + len(last), new.capitalize() if start == 0 else new, wrong=True)
        yield from rewrite(doc.text, [change], CONTRADICTED, "bound_turned")


def _other_figure(figure: str, rng: random.Random) -> str:
    if re.fullmatch(r"1[5-9]\d\d|20[0-2]\d", figure):
        return str(int(figure) + rng.choice((-1, 1)) * rng.randint(1, 12))
    at = rng.choice([i for i, c in enumerate(figure) if c.isdigit()])
    other = rng.choice([d for d in "123456789" if d != figure[at]])
    return figure[:at] + other + figure[at + 1 :]


def _before_number(doc: Doc, words: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yield where the words stand directly before a number that is counted, not dated."""
    for i in range(len(doc) - len(words)):
        end = i + len(words)
        behind = doc[end]
        number = behind.pos_ == "NUM" or behind.text in "$£€"
        counted = number and behind.ent_type_ not in ("DATE", "TIME") and behind.lower_ != "one"
        if words == ("over",) and not behind.text[-1].isdigit() and behind.text not in "$£€":
            continue
        negated = i > 0 and doc[i - 1].lower_ in ("no", "not", "n't", "further")
        if counted and not negated and tuple(t.lower_ for t in doc[i:end]) == words:
            yield i, end


def _is_count(token: Token) -> bool:
    whole = token.i == 0 or token.nbor(-1).pos_ not in ("NUM", "SYM")
    plural = token.head.tag_ == "NNS" and token.head.i == token.i + 1
    return token.dep_ == "nummod" and token.lower_ != "one" and plural and whole and token.head.ent_type_ != "DATE"


def _differ(one: Token, other: Token) -> bool:
    same_shape = shape_of(one.text, "CARDINAL") == shape_of(other.text, "CARDINAL")
    return same_shape and one.lower_ != other.lower_ and one.head.lemma_ != other.head.lemma_
