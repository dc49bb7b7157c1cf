"""A sentence as words with one-letter tags, so that patterns of words can be told by looking at a string.

The tags, each given by closed classes, endings, capitals and the neighbours (there is no model here):
`D` determiner, `J` adjective, `N` noun, `X` name, `U` number, `p` possessive 's, `O` of, `P` preposition, `T` to,
`R` subject pronoun, `K` object pronoun, `B` finite be, `b` other be, `H` have, `M` modal or do, `Y` it's,
`V` finite verb, `E` past or participle, `L` participle, `G` -ing, `I` infinitive, `a` adverb, `n` not, `c` and,
`u` but, `o` or, `S` subordinator, `W` relative pronoun, `t` that, `Q` quoted, `z` in brackets, `k` a comma inside
a name or date, and `, ; : - .` for themselves; `y` for any other mark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar import verbs
from propcite.attribution.english.grammar.context import join_names, settle

_TOKEN = re.compile(
    r"(?:[^\W\d_]\.){2,}|['’]s\b|\d+(?:[.,:/’'\-–]\d+)*(?:%|[^\W\d_]+(?:-\w+)*)?|\w+(?:['’&.\-‑]\w+)*|&quot;|''|``|--|°\w?|\S"
)
_CLOSED: dict[str, str] = {}
for _tag, _class in (
    ("a", lex.ADVERBS),
    ("P", lex.PREPOSITIONS),
    ("D", lex.DETERMINERS),
    ("U", lex.NUMBER_WORDS),
    ("J", lex.ADJECTIVES - lex.DETERMINERS - lex.NUMBER_WORDS),
    ("R", lex.SUBJECTS - {"one"}),
    ("K", lex.OBJECTS),
    ("B", lex.BE),
    ("H", lex.HAVE),
    ("M", lex.MODALS),
    ("Y", lex.CONTRACTED),
    ("S", lex.SUBORDINATORS),
    ("W", lex.RELATIVES),
    ("L", verbs.PARTICIPLES),
    ("E", verbs.PAST_OR_PARTICIPLE),
    ("V", verbs.PAST_ONLY),
):
    for _word in _class:
        _CLOSED[_word] = _tag
_CLOSED |= {"of": "O", "to": "T", "not": "n", "never": "a", "and": "c", "&": "k", "or": "o", "nor": "o", "but": "u"}
_CLOSED |= {"be": "b", "been": "b", "being": "G", "having": "G", "that": "t", "so": "a", "there": "R"}
_CLOSED |= {
    "such": "P",
    "whose": "W",
    "'s": "p",
    "’s": "p",
    "'": "p",
    "’": "p",
    "having": "G",
    "used": "E",
    "both": "D",
}
_MARKS = {
    ",": ",",
    ";": ";",
    ":": ":",
    "–": "-",
    "—": "-",
    "--": "-",
    "-": "k",
    "$": "U",
    "£": "U",
    "€": "U",
    ".": ".",
    "!": ".",
    "?": ".",
    "…": ".",
    "%": "N",
}
_QUOTES = {'"': '"', "''": "''", "``": "''", "“": "”", "«": "»", "&quot;": "&quot;", "„": "“"}
_NO_CLAUSE_AFTER_SO = frozenset("that far long much many called as to on named".split())
_OPENING = {"(": ")", "[": "]"}


@dataclass(frozen=True, slots=True)
class Tagged:
    """The words of a sentence, their places and their tags; `tags[i]` belongs to `words[i]`."""

    words: list[str]
    lows: list[str]
    places: list[tuple[int, int]]
    tags: str


def tag(text: str, blank: str) -> Tagged:
    """The words of `blank` (the text with white space where marks were taken out), tagged.

    >>> tag("Ada wrote it.", "Ada wrote it.").tags
    'XVR.'
    """
    places = _tokens(blank)
    words = [text[start:end] for start, end in places]
    lows = [word.lower() for word in words]
    tags = [_alone(word, low, first=not at) for at, (word, low) in enumerate(zip(words, lows, strict=True))]
    _mask(words, tags)
    _phrases(lows, tags)
    _join_clauses(blank, places, lows, tags)
    if tags[1:2] == [","] and lows[0] in lex.ANSWERS:
        tags[1] = ":"
    if len(tags) > 1 and tags[0] == "X" and tags[1] == "," and lows[0].endswith("ly"):
        tags[0] = "a"
    join_names(lows, tags)
    settle(lows, tags)
    return Tagged(words, lows, places, "".join(tags))


def retagged(s: Tagged, start: int, end: int) -> Tagged:
    """The words from `start` to `end` tagged by themselves: what stood in brackets, without its brackets."""
    words, lows = s.words[start:end], s.lows[start:end]
    tags = [_alone(word, low, first=not at) for at, (word, low) in enumerate(zip(words, lows, strict=True))]
    _phrases(lows, tags)
    settle(lows, tags)
    return Tagged(words, lows, s.places[start:end], "".join(tags))


def _join_clauses(blank: str, places: list[tuple[int, int]], lows: list[str], tags: list[str]) -> None:
    """`, yet` and `, so` that join clauses; a hyphen between spaces is a dash."""
    for at in range(1, len(tags) - 1):
        joins = lows[at] == "yet" or (lows[at] == "so" and lows[at + 1] not in _NO_CLAUSE_AFTER_SO)
        if joins and tags[at - 1] == "," and tags[at] == "a":
            tags[at] = "u"
        elif (
            tags[at] not in "Qz"
            and lows[at] == "-"
            and blank[places[at][0] - 1].isspace()
            and blank[places[at][1]].isspace()
        ):
            tags[at] = "k" if tags[at - 1] == tags[at + 1] == "U" else "-"


def _tokens(text: str) -> list[tuple[int, int]]:
    """Words and marks; the point of an abbreviation or an initial stays with its word."""
    found = [match.span() for match in _TOKEN.finditer(text)]
    joined: list[tuple[int, int]] = []
    for at, (start, end) in enumerate(found):
        last = joined[-1] if joined else (0, 0)
        if text[start:end] == "." and last[1] == start and at + 1 < len(found) and _shortened(text[last[0] : start]):
            joined[-1] = (last[0], end)
        else:
            joined.append((start, end))
    return joined


def _shortened(word: str) -> bool:
    return word.lower() in lex.ABBREVIATIONS or (len(word) == 1 and word.isupper())


def _alone(word: str, low: str, first: bool) -> str:
    """The tag of a word without its neighbours; `3`, `0` and `5` wait for them (third person, base, cut/put/set)."""
    head = word[0]
    if head.isdigit():
        return "U"
    if head == "°":
        return "N"
    if not head.isalpha():
        return _CLOSED.get(low) or _MARKS.get(word, "y")
    if head.isupper() and not first and word != "I":
        return "X"
    closed = _CLOSED.get(low)
    if closed:
        return closed
    if head.isupper() and (not first or not _has_verb_ending(low)):
        return "X"
    return _by_ending(low)


def _has_verb_ending(low: str) -> bool:
    """`Directed`, `Using`: a first word that is not a name although it has a capital."""
    return low in verbs.GERUNDS or (low.endswith("ed") and bool({low[:-1], low[:-2], low[:-3]} & verbs.BASE_VERBS))


def _by_ending(low: str) -> str:
    if low in verbs.SAME_FORMS:
        return "5"
    if low in verbs.BASE_VERBS or low.endswith(("ify", "ize")):
        return "0"
    if low in verbs.THIRD_PERSON or low.endswith(("izes", "ifies")):
        return "3"
    if low.endswith("ed") and len(low) > 3 and low not in verbs.NOT_PAST:
        return "E"
    if low.endswith("ing") and len(low) > 4 and low not in verbs.NOT_GERUND:
        return "G"
    if low.endswith("ly") and low not in lex.NOT_ADVERB:
        return "a"
    if low.endswith(lex.ADJECTIVE_ENDINGS) and low not in lex.NOUNS_LIKE_ADJECTIVES:
        return "J"
    if "-" in low and low.endswith(lex.COMPOUND_ENDINGS):
        return "J"
    return "N"


def _mask(words: list[str], tags: list[str]) -> None:
    """What stands in quotation marks or brackets is one thing: nothing is cut inside it."""
    at = 0
    while at < len(words):
        word = words[at]
        closing, inside = (_QUOTES[word], "Q") if word in _QUOTES else (_OPENING.get(word, ""), "z")
        end = _find(words, closing, at + 1) if closing else -1
        if end < 0:
            at += 1
            continue
        tags[at : end + 1] = inside * (end + 1 - at)
        if inside == "Q" and words[end - 1] == ",":
            tags[end] = ","  # "A," and "B": the comma stands inside the marks
        at = end + 1


def _find(words: list[str], wanted: str, start: int) -> int:
    try:
        return words.index(wanted, start, start + 120)
    except ValueError:
        return -1


_FIXED = (
    (("as", "well", "as"), "ccc"),
    (("as", "soon", "as"), "SSS"),
    (("as", "long", "as"), "SSS"),
    (("even", "though"), "aS"),
    (("as", "though"), "PS"),
    (("as", "if"), "PS"),
    (("so", "that"), "SS"),
    (("such", "as"), "PP"),
    (("such", "that"), "SS"),
    (("because", "of"), "PP"),
    (("due", "to"), "PP"),
    (("according", "to"), "PP"),
    (("in", "order", "to"), "PPT"),
    (("rather", "than"), "PP"),
    (("more", "than"), "DD"),
    (("less", "than"), "DD"),
    (("at", "least"), "PD"),
    (("no", "longer"), "aa"),
    (("each", "other"), "KK"),
    (("in", "which"), "WW"),
    (("of", "which"), "WW"),
    (("of", "whom"), "WW"),
    (("for", "which"), "WW"),
    (("at", "which"), "WW"),
    (("on", "which"), "WW"),
    (("during", "which"), "WW"),
    (("to", "which"), "WW"),
    (("from", "which"), "WW"),
    (("with", "which"), "WW"),
    (("with", "whom"), "WW"),
    (("by", "which"), "WW"),
)
_STARTS: dict[str, list[tuple[tuple[str, ...], str]]] = {}
for _phrase, _tags in _FIXED:
    _STARTS.setdefault(_phrase[0], []).append((_phrase, _tags))


def _phrases(lows: list[str], tags: list[str]) -> None:
    for at, low in enumerate(lows):
        for phrase, given in _STARTS.get(low, ()):
            if tags[at] not in "Qz" and (at or phrase[0] != "as") and tuple(lows[at : at + len(phrase)]) == phrase:
                tags[at : at + len(phrase)] = given
                break
