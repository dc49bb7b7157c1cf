"""Which words of one text are which of another: equal forms, equal words told apart by their neighbours."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from propcite.attribution.english.grammar.verbs import IRREGULAR
from propcite.attribution.english.words import FUNCTION_WORDS, MONTHS, NUMBER_WORDS, SCALES, stem
from propcite.attribution.propositions.sentence import LETTER

WINDOW = 3  # words on each side that break ties between equal words: a 7 x 7 filter
NEIGHBOUR = 0.01  # what an equal neighbour counts; 36 of them stay below one equal word
IN_ORDER = 0.001  # what it counts more where both texts have the two words in the same order (our own tie-break)
ADJACENT = 0.02  # what it counts more where the two stand directly before or after: "Grammy Awards" (our own, too)
SHORTEST_ROOT = 4  # letters that two words of one family share at least: "Chin-a" and "Chin-ese"

_CHAR = r"[\w\u0300-\u036f]"  # with the accents that stand as characters of their own
_WORD = re.compile(rf"n['’]t\b|{_CHAR}+?(?=n['’]t\b)|{_CHAR}+(?:['’.,]{_CHAR}+)*")
NEGATIONS = frozenset("not no never none nobody nothing neither nor without".split())
_FUNCTION = (FUNCTION_WORDS | {"ca", "wo", "n't", "n’t", "cannot"}) - NUMBER_WORDS.keys()

_OFFSETS = [(down, right) for down in range(-WINDOW, WINDOW + 1) for right in range(-WINDOW, WINDOW + 1)]
_AROUND = [
    (down, right, NEIGHBOUR + IN_ORDER * (down * right > 0) + ADJACENT * (down == right and abs(down) == 1))
    for down, right in _OFFSETS
    if down and right
]
_IRREGULAR_VERBS = {
    told: base for base, *others in reversed(IRREGULAR) for told in others if told not in {"-", "lay", "bore"}
}
_IRREGULAR_NOUNS = dict(
    pair.split("/")
    for pair in """
    men/man women/woman children/child people/person feet/foot teeth/tooth mice/mouse geese/goose lives/life wives/wife
    leaves/leaf halves/half wolves/wolf knives/knife phenomena/phenomenon criteria/criterion bacteria/bacterium
    analyses/analysis theses/thesis crises/crisis ca/can wo/will better/good best/good worse/bad worst/bad died/die
    dying/die death/die dead/die tv/television
    """.split()
)
_ORDINALS = {
    word: f"{number}th"
    for number, word in enumerate(
        """
        first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
        fifteenth sixteenth seventeenth eighteenth nineteenth twentieth
        """.split(),
        start=1,
    )
}
_FULL_MONTHS = {
    name: next(full for full, other in MONTHS.items() if other == number) for name, number in MONTHS.items()
}
_KNOWN = {
    **{word: stem(base) for word, base in chain(_IRREGULAR_VERBS.items(), _IRREGULAR_NOUNS.items())},
    **{name: stem(full) for name, full in _FULL_MONTHS.items()},
    **{word: str(value) for word, value in NUMBER_WORDS.items()},
    **_ORDINALS,
    **dict.fromkeys(("n't", "cannot"), "not"),
    **dict.fromkeys(("am", "is", "are", "was", "were", "been", "being"), "be"),
    **dict.fromkeys(("has", "had", "having"), "have"),
}
_CLITIC = re.compile(r"['’](?:s|ll|ve|re|d|m)?$")
_FIGURES = re.compile(r"\d[\d.,]*")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_DOTTED = re.compile(r"\w(?:\.\w)+")
_ENDINGS = frozenset(
    "|e|ed|er|ers|or|ors|ion|ions|ing|s|es|al|ic|ical|an|ans|n|ns|ian|ians|ist|ists|ism|y|ly|ment|ments|ive|ure|ance|ence"
    "|ant|ent|ial|ation|ations|ition|tion|tions|ption|th|age|ages|ied|ies|ity|ous|ful|ness|en|ery|ry|red|ish|a|ese".split(
        "|"
    )
)


class Word(NamedTuple):
    """A word of a text: where it stands, how it is written, and its form."""

    start: int
    end: int
    written: str
    form: str
    is_content: bool
    is_number: bool
    is_name: bool

    @property
    def is_exact(self) -> bool:
        """Whether no other word may stand for it."""
        return self.is_number or self.is_name or self.form in NEGATIONS


def words_in(text: str) -> list[Word]:
    found = [m for m in _WORD.finditer(text) if LETTER.search(m.group())]
    return [_word(m, opens=number == 0) for number, m in enumerate(found)]


def _word(found: re.Match[str], opens: bool) -> Word:
    written = found.group()
    low = written.lower()
    content = _CLITIC.sub("", low) not in _FUNCTION
    number = _FIGURES.fullmatch(written) is not None or (low in NUMBER_WORDS and low != "one") or low in SCALES
    name = content and not number and any(c.isupper() for c in (written[1:] if opens else written))
    return Word(
        *found.span(), written, form(written), content, number, name or (not number and any(map(str.isdigit, written)))
    )


@lru_cache(maxsize=65_536)
def form(word: str) -> str:
    """What a word has in common with its other forms: a stem, a verb's base, digits for a number told in words.

    >>> form("written") == form("wrote") == form("writes"), form("Fourteen"), form("1,250"), form("Sánchez")
    (True, '14', '1250', 'sanchez')
    """
    low = _CLITIC.sub("", word.lower())
    known = _KNOWN.get(low)
    if known is not None:
        return known
    if low[:1].isdigit():
        return _ORDINAL.sub(r"\1th", low.replace(",", ""))
    if not low.isascii():
        low = "".join(c for c in unicodedata.normalize("NFKD", low) if not unicodedata.combining(c)) or low
    return low.replace(".", "") if _DOTTED.fullmatch(low) else stem(low)


@lru_cache(maxsize=65_536)
def akin(one: str, other: str) -> bool:
    """Whether two words share a root and differ in how they are derived from it.

    >>> akin("directed", "director"), akin("Italian", "Italy"), akin("Austria", "Australia")
    (True, True, False)
    """
    a, b = one.lower(), other.lower()
    shared = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return any(cut >= SHORTEST_ROOT and a[cut:] in _ENDINGS and b[cut:] in _ENDINGS for cut in (shared, shared - 1))


def match(wanted: Sequence[str], offered: Sequence[str]) -> dict[int, int]:
    """For each wanted word its equal among the offered: every word used once, the likeliest neighbourhoods together.

    This is sub-sentence-encoder's alignment: a Hungarian assignment over equality plus a little for each equal pair in
    the four quadrants around.  Equal words form groups that cannot compete, so each group is assigned by itself.

    >>> match(["the", "dog"], ["the", "cat", "saw", "the", "dog"])
    {0: 3, 1: 4}
    """
    places: dict[str, list[int]] = defaultdict(list)
    for place, word in enumerate(offered):
        places[word].append(place)
    rows: dict[str, list[int]] = defaultdict(list)
    for place, word in enumerate(wanted):
        if word in places:
            rows[word].append(place)
    pairs: dict[int, int] = {}
    for word, group in rows.items():
        if len(group) == len(places[word]) == 1:
            pairs[group[0]] = places[word][0]
        else:
            pairs.update(_assigned(group, places[word], wanted, offered))
    return pairs


def nearness(wanted: Sequence[str], offered: Sequence[str], row: int, column: int) -> float:
    """How alike the neighbourhoods of two equal words are: their equal pairs, weighted."""
    total = 0.0
    for down, right, weight in _AROUND:
        i, j = row + down, column + right
        if 0 <= i < len(wanted) and 0 <= j < len(offered) and wanted[i] == offered[j]:
            total += weight
    return total


def _assigned(
    rows: Sequence[int], columns: Sequence[int], wanted: Sequence[str], offered: Sequence[str]
) -> list[tuple[int, int]]:
    scores = [[1.0 + nearness(wanted, offered, row, column) for column in columns] for row in rows]
    if len(rows) == 1:
        return [(rows[0], columns[max(range(len(columns)), key=scores[0].__getitem__)])]
    if len(columns) == 1:
        return [(rows[max(range(len(rows)), key=lambda row: scores[row][0])], columns[0])]
    from scipy.optimize import linear_sum_assignment

    taken = zip(*linear_sum_assignment(scores, maximize=True), strict=True)
    return [(rows[row], columns[column]) for row, column in taken]
