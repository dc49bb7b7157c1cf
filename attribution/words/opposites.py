"""Where one text denies what the other says: by a "not", or by a word that means the opposite."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from attribution.words.content import FUNCTION_WORDS, plain_words, stem
from attribution.words.overlap import share_found, telling_words

# Words of which the one side denies the other.  In the second table "A is north of B" is "B is south of A".
_DENYING = (
    "rise rose risen increase|fall fell fallen decrease",
    "approve accept|reject refuse postpone",
    "open|close",
    "start begin began begun|end finish",
    "allow permit|forbid forbade forbidden ban banned",
    "pass|fail",
    "gain|lose lost",
    "profit|loss",
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
    "more|less fewer",
    "higher|lower",
    "larger bigger|smaller",
    "north|south",
    "northern|southern",
    "east|west",
    "eastern|western",
)
_NO_ONE = re.compile(r"\bno[\s-]one\b", re.IGNORECASE)
NEAR = 4  # so many words from an opposed word its subject or object may stand
NEGATIONS = frozenset(
    "not no never none nothing nobody nowhere neither nor without cannot n't hardly unable failed fails lack".split()
)


def negation_differs(claim: str, evidence: str) -> bool:
    """Whether one of the two negates what the other affirms.

    Only the stretch of the evidence that holds the claim's words is read, and two words before it: a "not" that
    belongs to another clause says nothing.

    >>> negation_differs("The gates were closed.", "The gates were not closed, though the water rose.")
    True
    >>> negation_differs("The gates were closed.", "No one was hurt because the gates were closed.")
    False
    """
    said, given = (plain_words(_NO_ONE.sub("nobody", text)) for text in (claim, evidence))
    wanted = {stem(word) for word in said if word not in FUNCTION_WORDS and word not in NEGATIONS}
    places = [i for i, word in enumerate(given) if stem(word) in wanted]
    if not places or places[-1] - places[0] > 2 * len(said) + 4:
        return False  # the claim's words are scattered: no telling what a "not" between them negates
    return _is_negated(said) != _is_negated(given[max(0, places[0] - 2) : places[-1] + 1])


def _is_negated(text: Iterable[str]) -> bool:
    return sum(word in NEGATIONS for word in text) % 2 == 1


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
    telling = set(telling_words(claim))
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
    bare = " ".join(word for word in plain_words(claim) if word not in NEGATIONS)
    other = " ".join(word for word in plain_words(evidence) if word not in NEGATIONS)
    return negation_differs(claim, evidence) and opposed_words(bare, other, share=share) is not None
