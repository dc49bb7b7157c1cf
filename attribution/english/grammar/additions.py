"""What a clause adds to itself: a cause, a comparison, a `which` that nothing names.

Such words say nothing without the clause before them, but that clause may be right where they are not: it is told
alone, and then with them.
"""

from __future__ import annotations

from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar.phrases import FINITE, Piece, aside_end, group_end, own_verb
from propcite.attribution.english.grammar.tagging import Tagged

_CAUSES = frozenset({"because", "since", "as", "otherwise"})
_FOCUS = lex.words(
    "mainly partly largely mostly primarily chiefly probably perhaps possibly simply just only precisely"
)
_PAIRS = frozenset({
    ("because", "of"), ("due", "to"), ("owing", "to"), ("thanks", "to"), ("compared", "with"), ("compared", "to"),
    ("up", "from"), ("down", "from"), ("enough", "for"), ("enough", "to"), ("followed", "by"), ("more", "than"),
    ("less", "than"), ("fewer", "than"), ("bringing", "the"), ("instead", "of"), ("well", "above"), ("well", "below"),
})  # fmt: skip
_MOVES = lex.words(
    "rise fall increase decrease drop gain loss decline reduction growth share total ratio rate saving jump"
)
_EFFECTS = lex.words("""
    meaning making putting causing resulting leading allowing giving bringing leaving creating ensuring enabling
    forcing
""")
_THEM = frozenset({"it", "them", "which", "whom", "these", "this", "that", "those"})
_MORE = lex.words("more less about roughly almost nearly around some only up down just over under twice")


def gives_cause(s: Tagged, verb: int, at: int, end: int) -> bool:
    """Whether `because` with a clause of its own begins here, maybe with `mainly` before it and no comma."""
    if s.tags[at - 1] in "a," and (s.tags[at - 1] == "," or s.lows[at - 1] in _FOCUS):
        return False  # it was told of at that word
    cause = at
    while cause < end and (s.lows[cause] in _FOCUS or s.lows[cause : cause + 2] == ["in", "part"]):
        cause += 1 + (s.lows[cause] == "in")
    if cause >= end or s.lows[cause] != "because" or s.tags[cause] != "S" or cause + 2 >= end:
        return False
    if denied(s, verb, at) or s.lows[at - 1] in {"likely", "reason", "part"}:
        return False  # "did not leave because ...": the leaving may be right
    if group_end(s, verb, at) == at:
        return s.tags[verb] not in "BY" or s.tags[at - 1] in "ELGI"  # "this is because" is not "this is"
    return True


def denied(s: Tagged, start: int, end: int) -> bool:
    return any(
        s.tags[at] == "n" or s.lows[at] in lex.DENYING or s.lows[at].endswith(("n't", "n’t"))
        for at in range(start, end)
    )


def adds(s: Tagged, verb: int, at: int, end: int) -> bool:
    """Whether the words from the mark at `at` to the end only add to the clause before them."""
    if s.tags[at] not in ",-":
        return gives_cause(s, verb, at, end)
    if s.tags[at] == "-":
        return s.tags[verb:end].count("-") == 1 and s.tags[at + 1 : at + 2] not in ("c", "o") and end - at > 2
    first = at + 1
    while first < end - 1 and s.tags[first] == "a" and s.lows[first] not in _CAUSES | {"up", "down", "well"}:
        first += 1
    low, pair = s.lows[first], tuple(s.lows[first : first + 2])
    if low in _CAUSES and s.tags[first : first + 2] not in ("PP", "cc"):
        return s.tags[first] == "S" or own_verb(s, first + 1, end) is not None
    if low in _EFFECTS:
        return end - first > 2
    if s.tags[first : first + 2] in ("PW", "WW"):
        return own_verb(s, first + 2, end) is not None
    if s.tags[first] == "W":
        return (
            low in {"which", "who", "where"}
            and aside_end(s, at, end) is None
            and bool(set(s.tags[first + 1 : end]) & (FINITE | {"E"}))
        )
    return pair in _PAIRS or _tells_part(s, first, end) or _tells_move(s, first, end) or _tells_with(s, first, end)


def _tells_part(s: Tagged, first: int, end: int) -> bool:
    """`half of it ...`, `two of which ...`."""
    of = s.tags.find("O", first, min(end, first + 4))
    return of > first and s.lows[of + 1 : of + 2] != [] and s.lows[of + 1] in _THEM


def _tells_move(s: Tagged, first: int, end: int) -> bool:
    """`a rise of 3%`."""
    return s.lows[first] in {"a", "an"} and any(low in _MOVES for low in s.lows[first + 1 : min(end, first + 4)])


def _tells_with(s: Tagged, first: int, end: int) -> bool:
    """`with the rest going to schools`."""
    return s.lows[first] == "with" and "," not in s.tags[first:end] and bool(set(s.tags[first:end]) & set("GEB"))


def tells_amount(s: Tagged, pronoun: int) -> bool:
    """`which is €16.9 million more`: a measure told of a measure."""
    if s.lows[pronoun] != "which" or s.tags[pronoun + 1 : pronoun + 2] != "B":
        return False
    at = pronoun + 2
    while at < len(s.tags) and (s.tags[at] == "a" or s.lows[at] in _MORE or s.lows[at] == "than"):
        at += 1
    return s.tags[at : at + 1] == "U"


def amount_before(s: Tagged, end: int, floor: int) -> Piece | None:
    """The measure that ends here: `€3.84 million`, `32 minutes`, `4.3 square metres`."""
    at = end
    while at > floor + 1 and s.tags[at - 1] in "NJ" and end - at < 2:
        at -= 1
    if s.tags[at - 1] != "U":
        return None
    while at > floor + 1 and s.tags[at - 1] == "U":
        at -= 1
    year = at == end - 1 and len(s.lows[at]) == 4 and s.lows[at].isdigit()
    return None if year else Piece(at, end)
