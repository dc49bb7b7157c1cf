"""Where one text denies what the other says: by a "not", or by a word that means the opposite."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from functools import cache

from propcite.attribution.english.words.content import FUNCTION_WORDS, plain_words, stem
from propcite.attribution.english.words.exclusive import DENYING, RELATING, STRONGER
from propcite.attribution.english.words.overlap import share_found, telling_words

_NO_ONE = re.compile(r"\bno[\s-]one\b", re.IGNORECASE)
_DENIES_NOTHING = re.compile(r"\bno\.?\s?(?=\d)|\bnot (?:only|just|merely|solely|the only)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")
_SUBORDINATE = frozenset("if why whether who which that because although though unless when while where as".split())
CLAUSE = 5  # so many words before a "not" a word may stand that makes its clause another's
SPEAKS_OF_IT = 0.6  # a sentence with so much of the claim's words is the one whose "not" counts
NEAR = 4  # so many words from an opposed word its subject or object may stand
NEGATIONS = frozenset(
    "not no never none nothing nobody nowhere neither nor without cannot n't hardly unable failed fails lack".split()
)


def negation_differs(claim: str, evidence: str) -> bool:
    """Whether one of the two negates what the other affirms.

    Only the sentence of the evidence that speaks of the claim is read, of it the stretch that holds the claim's words,
    and two words before it: a "not" that belongs to another clause says nothing.  Where both deny something, or one
    of them twice, there is no telling.

    >>> negation_differs("The gates were closed.", "The gates were not closed, though the water rose.")
    True
    >>> negation_differs("The gates were closed.", "No one was hurt because the gates were closed.")
    False
    >>> negation_differs("It is cheap.", "It is not only cheap but fast, says report No. 7.")
    False
    """
    said = _read(claim)
    wanted = {stem(word) for word in said if word not in FUNCTION_WORDS and word not in NEGATIONS}
    sentences = [_read(sentence) for sentence in _SENTENCE_END.split(evidence)]
    speaking = [s for s in sentences if len(sentences) == 1 or share_found(wanted, map(stem, s)) >= SPEAKS_OF_IT]
    return bool(speaking) and all(_differs(said, wanted, sentence) for sentence in speaking)


def _differs(said: Sequence[str], wanted: Set[str], sentence: Sequence[str]) -> bool:
    """Whether one side has no negation and the other denies once a word that both have."""
    given = _stretch(said, wanted, sentence)
    if given is None or _is_denying(said) == _is_denying(given):
        return False
    return _denials(said, set(map(stem, given))) == 1 or _denials(given, wanted) == 1


def _stretch(said: Sequence[str], wanted: Set[str], sentence: Sequence[str]) -> Sequence[str] | None:
    """The part of the sentence that holds the claim's words.

    Where these are scattered there is none, for there is no telling what a "not" between them negates.
    """
    places = [i for i, word in enumerate(sentence) if stem(word) in wanted]
    if not places or places[-1] - places[0] > 2 * len(said) + 4:
        return None
    return sentence[max(0, places[0] - 2) : places[-1] + 1]


def _read(text: str) -> list[str]:
    """The words; what looks like a "no" and denies nothing is gone."""
    return plain_words(_DENIES_NOTHING.sub(" ", _NO_ONE.sub("nobody", text)))


def _is_denying(text: Iterable[str]) -> bool:
    return any(word in NEGATIONS for word in text)


def _denials(text: Sequence[str], known: Set[str]) -> int:
    """How many negations stand before a word that the other side has too, in a main clause."""
    return sum(
        word in NEGATIONS
        and _SUBORDINATE.isdisjoint(text[max(0, i - CLAUSE) : i])
        and not known.isdisjoint(_denied(text[i + 1 :]))
        for i, word in enumerate(text)
    )


def _denied(rest: Sequence[str]) -> list[str]:
    """What a negation before these words denies: the first that says something."""
    return [stem(word) for word in rest if word not in FUNCTION_WORDS and not word.endswith("ly")][:1]


@cache
def _opposites() -> dict[str, list[tuple[frozenset[str], frozenset[str], bool]]]:
    """For each stem: those that say the same, those that say the opposite, and whether the pair turns round."""
    table: dict[str, list[tuple[frozenset[str], frozenset[str], bool]]] = {}
    for rows, turns, one_way in ((DENYING, False, False), (RELATING, True, False), (STRONGER, False, True)):
        for row in rows:
            sides = [frozenset(stem(word) for word in side.split()) for side in row.split("|")]
            for side in sides[:1] if one_way else sides:
                others = frozenset[str]().union(*(other for other in sides if other != side))
                for word in side:
                    table.setdefault(word, []).append((side, others, turns))
    return table


def opposed_words(claim: str, evidence: str, *, share: float) -> tuple[str, str] | None:
    """The claim's word and the evidence's that says the opposite of the same thing, as each writes it.

    The evidence must hold that share of the claim's other content words, and those next to the claim's word must
    stand near the opposite.  Where there are none, all other words must be the same.

    >>> opposed_words("Sales rose in the spring.", "Sales fell in the spring.", share=0.6)
    ('rose', 'fell')
    >>> opposed_words("She is his sister.", "She is his mother.", share=0.6)
    ('sister', 'mother')
    >>> opposed_words("Oslo lies north of Bergen.", "Bergen lies south of Oslo.", share=0.6) is None
    True
    """
    said, given = re.findall(r"[^\W_]+", claim), re.findall(r"[^\W_]+", evidence)
    said_stems, given_stems = [stem(w.lower()) for w in said], [stem(w.lower()) for w in given]
    telling = set(telling_words(claim))
    for at, word in enumerate(said_stems):
        for side, others, turns in _opposites().get(word, ()):
            rest = telling - {word}
            if side & set(given_stems) or others & set(said_stems):
                continue
            if rest and share_found(rest, given_stems) < share:
                continue
            before = next((w for w in reversed(said_stems[:at]) if w in rest), "")
            after = next((w for w in said_stems[at + 1 :] if w in rest), "")
            for place, other in enumerate(given_stems):
                left = given_stems[max(0, place - NEAR) : place]
                right = given_stems[place + 1 : place + 1 + NEAR]
                if not turns:
                    left = right = left + right
                near = (not before or before in left) and (not after or after in right)
                near = near if rest else _in_the_same_words(said_stems, at, given_stems, place)
                if other in others and near and not _negation_elsewhere(claim, evidence, said[at], given[place]):
                    return said[at], given[place]
    return None


def _in_the_same_words(said: Sequence[str], at: int, given: Sequence[str], place: int) -> bool:
    """Whether all words around the one stand around the other: "she is his sister" tells nothing else to go by."""
    first = place - at
    return first >= 0 and [*said[:at], *said[at + 1 :]] == [*given[first:place], *given[place + 1 : first + len(said)]]


def _negation_elsewhere(claim: str, evidence: str, word: str, opposite: str) -> bool:
    """ "It did not rise" and "it fell" say the same: one is negated, the words opposed."""
    said, given = (
        _read(re.sub(rf"\b{gone}\b", " ", text, count=1)) for text, gone in ((claim, word), (evidence, opposite))
    )
    wanted = {stem(word) for word in said if word not in FUNCTION_WORDS and word not in NEGATIONS}
    stretch = _stretch(said, wanted, given)
    return _is_denying([*said, *given]) if stretch is None else _is_denying(said) != _is_denying(stretch)


def denial_in_other_words(claim: str, evidence: str, *, share: float) -> bool:
    """Whether the one denies the opposite of what the other says: "was not approved", "was rejected"."""
    bare = " ".join(word for word in plain_words(claim) if word not in NEGATIONS)
    other = " ".join(word for word in plain_words(evidence) if word not in NEGATIONS)
    return negation_differs(claim, evidence) and opposed_words(bare, other, share=share) is not None
