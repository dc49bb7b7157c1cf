"""Match the words of one text with those of another: equal forms, where neighbours decide among equal words."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from propcite.attribution.english import FUNCTION_WORDS, MONTHS, NUMBER_WORDS, SCALES, stem, verbs
from propcite.attribution.propositions.sentence import LETTER

WINDOW = 3  # words on each side that break ties between equal words: a 7 x 7 filter
NEIGHBOUR = 0.01  # weight of an equal neighbour; 36 of them stay below one equal word
IN_ORDER = 0.001  # added if both texts have the two words in the same order (our own tie-break)
ADJACENT = 0.02  # added if the two are directly next to each other: "Grammy Awards" (our own, too)
MAX_COMPARED = 40_000  # pairs of equal words; among more, which belongs to which is chance
MIN_ROOT = 4  # letters that two related words share: "Chin-a" and "Chin-ese"

_CHAR = r"[\w\u0300-\u036f]"  # with combining accents
_WORD = re.compile(rf"n['’]t\b|{_CHAR}+?(?=n['’]t\b)|{_CHAR}+(?:['’.,]{_CHAR}+)*")
NEGATIONS = frozenset("not no never none nobody nothing neither nor without".split())
_FUNCTION = (FUNCTION_WORDS | {"ca", "wo", "n't", "n’t", "cannot"}) - NUMBER_WORDS.keys()

_OFFSETS = [(down, right) for down in range(-WINDOW, WINDOW + 1) for right in range(-WINDOW, WINDOW + 1)]
_AROUND = [
    (down, right, NEIGHBOUR + IN_ORDER * (down * right > 0) + ADJACENT * (down == right and abs(down) == 1))
    for down, right in _OFFSETS
    if down and right
]
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
_FORMS = {
    **{word: stem(base) for word, base in chain(verbs.BASE_OF_FORM.items(), _IRREGULAR_NOUNS.items())},
    **{name: stem(full) for name, full in _FULL_MONTHS.items()},
    **{word: str(value) for word, value in NUMBER_WORDS.items()},
    **_ORDINALS,
    **dict.fromkeys(("n't", "cannot"), "not"),
    **dict.fromkeys(("am", "is", "are", "was", "were", "been", "being"), "be"),
    **dict.fromkeys(("has", "had", "having"), "have"),
}
_CLITIC = re.compile(r"['’](?:s|ll|ve|re|d|m)?$")
_FIGURES = re.compile(r"\d[\d.,]*")
_ORDINAL = re.compile(r"(?<!\d)(\d++)(?:st|nd|rd|th)")
_DOTTED = re.compile(r"\w(?:\.\w)+")
_ENDINGS = frozenset(
    "|e|ed|er|ers|or|ors|ion|ions|ing|s|es|al|ic|ical|an|ans|n|ns|ian|ians|ist|ists|ism|y|ly|ment|ments|ive|ure|ance|ence"
    "|ant|ent|ial|ation|ations|ition|tion|tions|ption|th|age|ages|ied|ies|ity|ous|ful|ness|en|ery|ry|red|ish|a|ese".split(
        "|"
    )
)


class Word(NamedTuple):
    """A word of a text: where it is, how it is written, and its form, which inflections share."""

    start: int
    end: int
    written: str
    form: str
    is_content: bool
    is_number: bool
    is_name: bool

    @property
    def is_exact(self) -> bool:
        """Return whether no other word can paraphrase it."""
        return self.is_number or self.is_name or self.form in NEGATIONS


def words_in(text: str) -> list[Word]:
    matches = [match for match in _WORD.finditer(text) if LETTER.search(match.group())]
    return [_word(match, is_first=number == 0) for number, match in enumerate(matches)]


def _word(match: re.Match[str], *, is_first: bool) -> Word:
    written = match.group()
    low = written.lower()
    is_content = _CLITIC.sub("", low) not in _FUNCTION
    is_number = _FIGURES.fullmatch(written) is not None or (low in NUMBER_WORDS and low != "one") or low in SCALES
    is_name = is_content and not is_number and any(c.isupper() for c in (written[1:] if is_first else written))
    is_name = is_name or (not is_number and any(map(str.isdigit, written)))
    return Word(*match.span(), written, form(written), is_content, is_number, is_name)


@lru_cache(maxsize=65_536)
def form(word: str) -> str:
    """Return what a word shares with its other forms: a stem, a verb's base, digits for a number in words.

    >>> form("written") == form("wrote") == form("writes"), form("Fourteen"), form("1,250"), form("Sánchez")
    (True, '14', '1250', 'sanchez')
    """
    low = _CLITIC.sub("", word.lower())
    if (listed := _FORMS.get(low)) is not None:
        return listed
    if low[:1].isdigit():
        return _ORDINAL.sub(r"\1th", low.replace(",", ""))
    if not low.isascii():
        low = "".join(c for c in unicodedata.normalize("NFKD", low) if not unicodedata.combining(c)) or low
    return low.replace(".", "") if _DOTTED.fullmatch(low) else stem(low)


@lru_cache(maxsize=65_536)
def are_related(one: str, other: str) -> bool:
    """Return whether two words share a root and differ only in their endings.

    >>> are_related("directed", "director"), are_related("Italian", "Italy"), are_related("Austria", "Australia")
    (True, True, False)
    """
    a, b = one.lower(), other.lower()
    shared = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return any(cut >= MIN_ROOT and a[cut:] in _ENDINGS and b[cut:] in _ENDINGS for cut in (shared, shared - 1))


def match(query: Sequence[str], target: Sequence[str]) -> dict[int, int]:
    """Map the positions of query words to equal target words, each used once; the most similar neighbourhoods win.

    This is sub-sentence-encoder's alignment: a Hungarian assignment over equality plus a little for each equal pair in
    the four quadrants around.  Equal words form groups that do not compete, so each group is assigned separately.

    >>> match(["the", "dog"], ["the", "cat", "saw", "the", "dog"])
    {0: 3, 1: 4}
    """
    columns: dict[str, list[int]] = defaultdict(list)
    for position, word in enumerate(target):
        columns[word].append(position)
    rows: dict[str, list[int]] = defaultdict(list)
    for position, word in enumerate(query):
        if word in columns:
            rows[word].append(position)
    pairs: dict[int, int] = {}
    for word, group in rows.items():
        if len(group) == len(columns[word]) == 1:
            pairs[group[0]] = columns[word][0]
        else:
            pairs.update(_assigned(group, columns[word], query, target))
    return pairs


def nearness(query: Sequence[str], target: Sequence[str], row: int, column: int) -> float:
    """Return how similar the neighbourhoods of two equal words are: the weighted number of equal pairs."""
    total = 0.0
    for down, right, weight in _AROUND:
        i, j = row + down, column + right
        if 0 <= i < len(query) and 0 <= j < len(target) and query[i] == target[j]:
            total += weight
    return total


def _assigned(
    rows: Sequence[int], columns: Sequence[int], query: Sequence[str], target: Sequence[str]
) -> list[tuple[int, int]]:
    """Assign equal words by their neighbourhoods; in their order where there are too many of them to compare."""
    if len(rows) * len(columns) > MAX_COMPARED:
        return list(zip(rows, columns, strict=False))
    scores = [[1.0 + nearness(query, target, row, column) for column in columns] for row in rows]
    if len(rows) == 1:
        return [(rows[0], columns[max(range(len(columns)), key=scores[0].__getitem__)])]
    if len(columns) == 1:
        return [(rows[max(range(len(rows)), key=lambda row: scores[row][0])], columns[0])]
    from scipy.optimize import linear_sum_assignment

    pairs = zip(*linear_sum_assignment(scores, maximize=True), strict=True)
    return [(rows[row], columns[column]) for row, column in pairs]
