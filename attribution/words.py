"""What plain words tell about a claim and its evidence: numbers, negation, overlap.  No model."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from functools import cache, lru_cache
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nltk.stem import PorterStemmer

WORD = re.compile(r"\w+(?:['’.,/-]\w+)*")
MONTHS = {
    name: number
    for number, names in enumerate(
        "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|"
        "september sep sept|october oct|november nov|december dec".split("|"),
        start=1,
    )
    for name in names.split()
}
NUMBER_WORDS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_TENS = "|".join(word for word, value in NUMBER_WORDS.items() if value >= 20)
_ONES = "|".join(word for word, value in NUMBER_WORDS.items() if 0 < value < 10)
# Thousands apart by a hard or a plain space ("480 000"; not "in 2019 480 came"), or by two dots or more.
_NARROW = "\u00a0\u2009\u202f"
_GROUPS = (
    rf"(?<!\d[{_NARROW}])\d{{1,3}}(?:[{_NARROW}]\d{{3}})+(?![{_NARROW}]?\d)"
    r"|(?<!\d )\d{1,3}(?: \d{3})+(?! ?\d)|\d{1,3}(?:\.\d{3}){2,}(?!\.?\d)"
)
_DIGITS = rf"(?<![\w.])[-−]?(?:(?:{_GROUPS})|(?:\d{{1,3}}(?:,\d{{2,3}})*,\d{{3}}(?!\d)|\d+)(?:\.\d+)?)"
SUFFIXES = {"k": "thousand", "m": "million", "mn": "million", "bn": "billion", "b": "billion", "tn": "trillion"}
# "m" is a million only beside a currency: "3m" alone is three metres.
_SUFFIX = r"(?:(?ai:k|bn|tn)\b|(?ai:mn?|b)\b(?=\s(?:euros?|dollars?|pounds?)\b))"
_CURRENCY = r"[$€£¥]\s?"
SHORT_SCALE = re.compile(
    rf"(?P<money>{_CURRENCY}{_DIGITS})\s?(?P<of_money>(?ai:k|mn?|bn?|tn))\b|(?P<digits>{_DIGITS})(?P<suffix>{_SUFFIX})"
)
DAY_FIRST = re.compile(
    r"(?<![\w./])(?:(0?[1-9]|[12]\d|3[01])\.(0?[1-9]|1[0-2])\.(\d{4})|(1[3-9]|2\d|3[01])/(0?[1-9]|1[0-2])/(\d{4}))"
    r"(?![\w/]|\.\d)"
)
ISO_DATE = re.compile(r"\b(\d{4})-(0[1-9]|1[0-2])-(\d{2})\b")
MONTH_NAMES = "January February March April May June July August September October November December".split()
CLOCK = re.compile(r"(?<![\w.:])\d{1,2}:\d{2}(?![\w:])")
_SCALE = rf"(?:[-\s](?ai:{'|'.join(SCALES)})s?\b)"
# "one" and "a" are numbers only before a scale: "one of them" states none.
_SPELT = (
    rf"(?:\b(?ai:{_TENS})[-\s](?ai:{_ONES})\b|\b(?ai:{'|'.join(w for w in NUMBER_WORDS if w != 'one')})\b"
    rf"|\b(?ai:an?|one)\b(?={_SCALE}))"
)
NUMBER = re.compile(rf"(?:(?P<digits>{_DIGITS})|(?P<words>{_SPELT}))(?P<scale>{_SCALE}{{0,3}})")
_JOINS = re.compile(r"[-\s](?:and\s)?")
_MONTH = r"(?:" + "|".join(sorted((m.capitalize() for m in MONTHS), key=len, reverse=True)) + r")\b"
# A number as a person would quote it: with its currency, its unit or its month.
NUMBER_WITH_UNIT = re.compile(
    rf"{CLOCK.pattern}|{ISO_DATE.pattern}|{DAY_FIRST.pattern}|{_CURRENCY}{_DIGITS}\s?(?ai:k|mn?|bn?|tn)\b"
    rf"|{_DIGITS}{_SUFFIX}(?:\s(?:euros?|dollars?|pounds?)\b)?|(?:{_CURRENCY})?(?:{_DIGITS}|{_SPELT}){_SCALE}{{0,3}}(?:{_JOINS.pattern}{_SPELT}{_SCALE}{{0,3}})*"
    rf"(?:\s?%|\s(?:percent|per cent|{_MONTH}))?"
    rf"(?:\s(?:euros?|dollars?|pounds?|met(?:re|er)s?|years?|months?|weeks?|days?|hours?|°C|km|m³/s|mm|cm|m)\b)?"
    rf"|\b{_MONTH}(?:\s\d{{1,4}})?"
)
ORDINALS = dict(
    enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(),
        start=1,
    )
)
TOLD_IN_WORDS = re.compile(
    r"(?<![\w.,])(?:(?P<half>50(?:\s?%|\s(?:percent|per cent)\b))|(?P<nth>\d{1,2})(?:st|nd|rd|th)\b)"
)
UNITS = {
    name: (family, unit)
    for family, units in {
        "length": "m metre metres meter meters|km kilometre kilometres kilometer kilometers|mm millimetre millimetres|"
        "cm centimetre centimetres centimeter centimeters|mile miles|foot feet ft|inch inches|yard yards",
        "mass": "kg kilogram kilograms kilo kilos|g gram grams|tonne tonnes|pound pounds lb lbs",
        "time": "second seconds|minute minutes min mins|hour hours|day days|week weeks|month months|year years",
        "heat": "°C|°F",
        "share": "% percent",
    }.items()
    for unit in units.split("|")
    for name in unit.split()
} | {"percentage points": ("share", "points"), "percentage point": ("share", "points")}
MEASURE = re.compile(
    rf"(?<![$€£¥])(?<![$€£¥]\s)(?P<number>(?:{_DIGITS}|{_SPELT}){_SCALE}{{0,3}})[\s-]?"
    rf"(?P<unit>{'|'.join(sorted(UNITS, key=len, reverse=True))})(?![\w/])"
)
# Words of which the one side denies the other.  In the second table "A is north of B" is "B is south of A".
_DENYING = (
    "rise rose risen increase|fall fell fallen decrease",
    "approve accept|reject refuse postpone",
    "open|close",
    "start begin began begun|end finish",
    "allow permit|forbid forbade forbidden ban banned",
    "pass|fail",
    "gain|lose lost",
    "arrive|leave left",
    "true|false",
    "likely|unlikely",
    "legal|illegal",
    "alive|dead",
    "first|last",
    "minimum|maximum",
    "born|died",
    "gold|silver|bronze",
)
_RELATING = (
    "win won|lose lost",
    "buy bought|sell sold",
    "above|below",
    "more|less",
    "higher|lower",
    "larger bigger|smaller",
    "north|south",
    "northern|southern",
    "east|west",
    "eastern|western",
)
NEAR = 4  # so many words from an opposed word its subject or object may stand
HEDGE = re.compile(
    r"\b(?:may|might|could(?! not\b| n't)|if|plan(?:s|ned|ning)? to|propos(?:es?|ed|ing) (?:to|that)"
    r"|(?:is|are|was|were|been) (?:planned|proposed))\b"
)
_UNSURE = frozenset(
    "may might could can would should if possibly perhaps likely plan plans planned planning propose proposes proposed "
    "proposal expected intended intends potential possible".split()
)
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")
NEGATIONS = frozenset(
    "not no never none nothing neither nor without cannot n't hardly unable failed fails lack".split()
)
FUNCTION_WORDS = frozenset(
    "a an the and or but if of in on at to for from by with about as into over after before between through during is "
    "are was were be been being am has have had do does did will would can could may might must shall should it its "
    "he she they them their his her this that these those which who whom whose what when where why how there here "
    "than then so such also not no nor only own same too very just i you we us our your my me him s t".split()
)


@cache
def _stemmer() -> PorterStemmer:
    # Imported late: nltk takes two seconds to load, and brings scipy and scikit-learn where they are installed.
    from nltk.stem import PorterStemmer

    return PorterStemmer()


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    return str(_stemmer().stem(word))


def content_words(text: str) -> list[str]:
    """Stems of the words that carry meaning, in order; numbers stay as they are.

    >>> content_words("The gates were raised in 2024.")
    ['gate', 'rais', '2024']
    """
    words = (match.group().lower().replace("’", "'").removesuffix("'s") for match in WORD.finditer(text))
    return [stem(word) for word in words if word not in FUNCTION_WORDS]


def numbers(text: str) -> set[str]:
    """The numbers a text states, digits or words, in one spelling; a month counts as the number it is.

    >>> sorted(numbers("Fourteen gates cost $1,250.50 in May"))
    ['1250.5', '14', 'month 5']
    >>> sorted(numbers("two hundred and fifty of 1.2 million"))
    ['1200000', '250']
    >>> sorted(numbers("£52.1m by 31.12.2027"))
    ['2027', '31', '52100000', 'month 12']
    """
    text = DAY_FIRST.sub(_date_in_words, SHORT_SCALE.sub(_scale_in_words, text))
    text = ISO_DATE.sub(lambda m: f"{int(m[3])} {MONTH_NAMES[int(m[2]) - 1]} {m[1]}", text)
    times = set(CLOCK.findall(text))
    found = {format(value.normalize(), "f") for value in _values(CLOCK.sub(" ", text))}
    # "may" and "march" are months only with a capital: "it may march" holds no date.
    months = {f"month {MONTHS[w.lower()]}" for w in re.findall(r"[A-Z][a-z]+", text) if w.lower() in MONTHS}
    return found | times | months


def _date_in_words(found: re.Match[str]) -> str:
    day, month, year = (part for part in found.groups() if part)
    return f"{int(day)} {MONTH_NAMES[int(month) - 1]} {year}"


def _scale_in_words(found: re.Match[str]) -> str:
    digits, suffix = found["money"] or found["digits"], found["of_money"] or found["suffix"]
    return f"{digits} {SUFFIXES[suffix.lower()]}"


def missing_numbers(claim: str, evidence: str) -> set[str]:
    """The claim's numbers that the evidence states nowhere; "half" states 50%, and "second" states "2nd".

    >>> missing_numbers("50% of the 2nd gate broke.", "Half of the second gate broke.")
    set()
    """
    given = set(_plain_words(evidence))

    def told(found: re.Match[str]) -> str:
        word = "half" if found["half"] else ORDINALS.get(int(found["nth"]), "")
        return " " if word in given else found.group()

    return numbers(TOLD_IN_WORDS.sub(told, claim)) - numbers(evidence)


def _values(text: str) -> list[Decimal]:
    """Each number's value; words after a larger scale belong to the same number."""
    values: list[Decimal] = []
    end = limit = 0
    for term in NUMBER.finditer(text):
        scale = prod(SCALES[word.lower().removesuffix("s")] for word in re.findall(r"\w+", term["scale"]))
        value = _base(term) * scale
        if term["words"] and 0 < value < limit and _JOINS.fullmatch(text[end : term.start()]):
            values[-1] += value
        else:
            values.append(value)
        end, limit = term.end(), scale
    return values


def _base(term: re.Match[str]) -> Decimal:
    if term["digits"]:
        digits = re.sub(rf"[, {_NARROW}]", "", term["digits"]).replace("−", "-")
        return Decimal(digits.replace(".", "") if digits.count(".") > 1 else digits)
    return Decimal(sum(NUMBER_WORDS.get(word, 1) for word in re.findall(r"\w+", term["words"].lower())))


def negation_differs(claim: str, evidence: str) -> bool:
    """Whether one of the two negates what the other affirms.

    Only the stretch of the evidence that holds the claim's words is read, and two words before it: a "not" that
    belongs to another clause says nothing.

    >>> negation_differs("The gates were closed.", "The gates were not closed, though the water rose.")
    True
    >>> negation_differs("The gates were closed.", "No one was hurt because the gates were closed.")
    False
    """
    said, given = _plain_words(claim), _plain_words(evidence)
    wanted = {stem(word) for word in said if word not in FUNCTION_WORDS and word not in NEGATIONS}
    places = [i for i, word in enumerate(given) if stem(word) in wanted]
    if not places or places[-1] - places[0] > 2 * len(said) + 4:
        return False  # the claim's words are scattered: no telling what a "not" between them negates
    return _is_negated(said) != _is_negated(given[max(0, places[0] - 2) : places[-1] + 1])


def _plain_words(text: str) -> list[str]:
    return re.findall(r"n't|[^\W_]+", text.lower().replace("’", "'").replace("n't", " n't"))


def _is_negated(text: Iterable[str]) -> bool:
    return sum(word in NEGATIONS for word in text) % 2 == 1


def stands_in(claim: str, evidence: str) -> bool:
    """Whether the evidence holds the claim's very words, one after the other."""
    return f" {' '.join(_plain_words(claim))} " in f" {' '.join(_plain_words(evidence))} "


def plain_share(claim: str, evidence: str) -> float:
    """The share of the claim's content words, numbers left out, that the evidence holds."""
    wanted = _without_numbers(claim)
    if wanted:
        return share_found(wanted, content_words(evidence))
    said, given = ([w for w in _plain_words(text) if not w[0].isdigit()] for text in (claim, evidence))
    return float(said == given)


def _without_numbers(text: str) -> list[str]:
    return [word for word in content_words(text) if not any(map(str.isdigit, word)) and word not in _number_stems()]


@cache
def _number_stems() -> frozenset[str]:
    return frozenset(stem(word) for word in (*NUMBER_WORDS, *SCALES))


@cache
def _opposites() -> dict[str, list[tuple[frozenset[str], frozenset[str], bool]]]:
    """For each stem: those that say the same, those that say the opposite, and whether the pair turns round."""
    table: dict[str, list[tuple[frozenset[str], frozenset[str], bool]]] = {}
    for rows, turns in ((_DENYING, False), (_RELATING, True)):
        for row in rows:
            sides = [frozenset(stem(word) for word in side.split()) for side in row.split("|")]
            for side in sides:
                others = frozenset[str]().union(*(other for other in sides if other != side))
                for word in side:
                    table.setdefault(word, []).append((side, others, turns))
    return table


def opposed_words(claim: str, evidence: str, *, share: float) -> tuple[str, str] | None:
    """The claim's word and the evidence's that says the opposite of the same thing, as each writes it.

    The evidence must hold that share of the claim's other content words, and those next to the claim's word must
    stand near the opposite.

    >>> opposed_words("Sales rose in the spring.", "Sales fell in the spring.", share=0.6)
    ('rose', 'fell')
    >>> opposed_words("Oslo lies north of Bergen.", "Bergen lies south of Oslo.", share=0.6) is None
    True
    """
    said, given = re.findall(r"[^\W_]+", claim), re.findall(r"[^\W_]+", evidence)
    said_stems, given_stems = [stem(w.lower()) for w in said], [stem(w.lower()) for w in given]
    telling = set(_without_numbers(claim))
    for at, word in enumerate(said_stems):
        for side, others, turns in _opposites().get(word, ()):
            rest = telling - {word}
            if not rest or side & set(given_stems) or others & set(said_stems):
                continue
            if share_found(rest, given_stems) < share:
                continue
            before = next((w for w in reversed(said_stems[:at]) if w in rest), "")
            after = next((w for w in said_stems[at + 1 :] if w in rest), "")
            for place, other in enumerate(given_stems):
                left = given_stems[max(0, place - NEAR) : place]
                right = given_stems[place + 1 : place + 1 + NEAR]
                if not turns:
                    left = right = left + right
                near = (not before or before in left) and (not after or after in right)
                if other in others and near and not _negation_elsewhere(claim, evidence, said[at], given[place]):
                    return said[at], given[place]
    return None


def _negation_elsewhere(claim: str, evidence: str, word: str, opposite: str) -> bool:
    """ "It did not rise" and "it fell" say the same: one is negated, the words opposed."""
    rest, given = (re.sub(rf"\b{gone}\b", " ", text, count=1) for text, gone in ((claim, word), (evidence, opposite)))
    return negation_differs(rest, given)


def denial_in_other_words(claim: str, evidence: str, *, share: float) -> bool:
    """Whether the one denies the opposite of what the other says: "was not approved", "was rejected"."""
    bare = " ".join(word for word in _plain_words(claim) if word not in NEGATIONS)
    other = " ".join(word for word in _plain_words(evidence) if word not in NEGATIONS)
    return negation_differs(claim, evidence) and opposed_words(bare, other, share=share) is not None


def other_unit(claim: str, evidence: str) -> tuple[str, str] | None:
    """A number that both state, in units of one kind that differ, as each writes it.

    >>> other_unit("The path is 3 miles long.", "The path is 3 km long.")
    ('3 miles', '3 km')
    """
    given = list(_measures(evidence))
    for value, family, unit, quote in _measures(claim):
        same = [(u, q) for v, f, u, q in given if (v, f) == (value, family)]
        if same and all(u != unit for u, _ in same):
            return quote, same[0][1]
    return None


def _measures(text: str) -> Iterable[tuple[frozenset[str], str, str, str]]:
    for found in MEASURE.finditer(text):
        yield frozenset(numbers(found["number"])), *UNITS[found["unit"]], found.group()


def only_hedged(claim: str, evidence: str, *, share: float) -> bool:
    """Whether the claim states for a fact what every sentence of the evidence that speaks of it holds for possible.

    >>> only_hedged("The barrier cost ten million.", "The barrier could cost ten million.", share=0.6)
    True
    """
    if _UNSURE & set(re.findall(r"[^\W_]+", re.sub(r"\bMay\b", " ", claim).lower())):
        return False
    sentences = _SENTENCE_END.split(evidence)
    speaking = [sentence for sentence in sentences if plain_share(claim, sentence) >= share]
    return bool(speaking) and all(_is_hedged(claim, sentence) for sentence in speaking)


def _is_hedged(claim: str, sentence: str) -> bool:
    wanted = set(_without_numbers(claim))
    given = re.findall(r"n't|[^\W_]+|,", re.sub(r"\bMay\b", " ", sentence).lower().replace("’", "'"))
    places = [i for i, word in enumerate(given) if stem(word) in wanted]
    if not places or places[-1] - places[0] > 2 * len(_plain_words(claim)) + 4:
        return False
    start = max(0, places[0] - 2)
    for i in range(start, places[-1] + 1):
        if not HEDGE.match(" ".join(given[i : i + 3])):
            continue
        following = next((w for w in given[i + 1 :] if w not in FUNCTION_WORDS and w != ","), "")
        first = next((j + 1 for j in range(i, -1, -1) if given[j] == ","), 0)
        last = next((j for j in range(i, len(given)) if given[j] == ","), len(given))
        own = i == 0 or given[i - 1] not in ("that", "which", "who")
        if stem(following) in wanted or (own and any(first <= place < last for place in places)):
            return True
    return False


def share_found(wanted: Iterable[str], given: Iterable[str]) -> float:
    """The share of `wanted` that is in `given`; 1 when nothing is wanted."""
    wanted_set, given_set = set(wanted), set(given)
    return len(wanted_set & given_set) / len(wanted_set) if wanted_set else 1.0
