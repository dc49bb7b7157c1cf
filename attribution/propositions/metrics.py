"""Segmentation metrics as PropSegmEnt defines them, and the alignment that scores free-text gold propositions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from propcite.attribution.english import stem
from propcite.attribution.propositions.matching import match
from propcite.retrieval.text import Span

MIN_JACCARD = 0.8  # from which PropSegmEnt counts two propositions as the same

_WORD = re.compile(r"\w+(?:['’.,-]\w+)*")

TokenSet = AbstractSet[int]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well predicted propositions agree with gold propositions.

    >>> Agreement(0.5, 1.0).f1
    0.6666666666666666
    """

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def jaccard(one: TokenSet, other: TokenSet) -> float:
    """Return the number of shared tokens divided by that of all tokens; 0 for two empty sets.

    >>> jaccard({1, 2, 3}, {2, 3, 4})
    0.5
    """
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def num_matches(predicted: Sequence[TokenSet], gold: Sequence[TokenSet], threshold: float = MIN_JACCARD) -> int:
    """Return the largest number of pairs (one predicted, one gold, each used once) with at least this Jaccard.

    >>> num_matches([{1, 2, 3, 4}, {1, 2, 3, 4, 5}], [{1, 2, 3, 4, 5}, {7}])
    1
    """
    if not predicted or not gold:
        return 0
    same = np.array([[jaccard(p, g) >= threshold for g in gold] for p in predicted])
    rows, columns = linear_sum_assignment(same, maximize=True)
    return int(same[rows, columns].sum())


def agreement(predicted: Sequence[TokenSet], gold: Sequence[TokenSet], threshold: float = MIN_JACCARD) -> Agreement:
    """Return precision and recall of one sentence's propositions; a threshold of 1 requires exact matches.

    >>> agreement([{1, 2, 3, 4}, {8, 9}], [{1, 2, 3, 4, 5}, {5, 6}, {9}, {10}])
    Agreement(precision=0.5, recall=0.25)
    """
    matches = num_matches(predicted, gold, threshold)
    return Agreement(matches / len(predicted) if predicted else 0.0, matches / len(gold) if gold else 0.0)


def macro_average(sentences: Iterable[Agreement]) -> Agreement:
    """Return the means over sentences; a corpus's F1 is that of its mean precision and mean recall.

    >>> macro_average([Agreement(1.0, 0.5), Agreement(0.0, 0.0)])
    Agreement(precision=0.5, recall=0.25)
    """
    agreements = list(sentences)
    if not agreements:
        return Agreement(0.0, 0.0)
    return Agreement(
        sum(a.precision for a in agreements) / len(agreements),
        sum(a.recall for a in agreements) / len(agreements),
    )


def token_coverage(predicted: Iterable[TokenSet], gold: Iterable[TokenSet]) -> float:
    """Return the share of the gold propositions' tokens that a predicted proposition contains; 1 if there are none.

    >>> token_coverage([{1, 2}, {2, 3}], [{1, 2, 3, 4}])
    0.75
    """
    required: set[int] = set().union(*gold)
    covered: set[int] = set().union(*predicted)
    return len(required & covered) / len(required) if required else 1.0


def word_spans(sentence: str) -> list[Span]:
    """Return the words: letters and digits, joined by hyphens, points, commas and apostrophes between them.

    >>> [span.of("It's 3.5 km, about.") for span in word_spans("It's 3.5 km, about.")]
    ["It's", '3.5', 'km', 'about']
    """
    return [Span(*match.span()) for match in _WORD.finditer(sentence)]


def token_spans(sentence: str, tokens: Sequence[str]) -> list[Span]:
    """Return where a data set's tokens are in the sentence, in order; ValueError if one is missing.

    >>> [(span.start, span.end) for span in token_spans("It's here.", ["It", "'s", "here"])]
    [(0, 2), (2, 4), (5, 9)]
    """
    spans, at = [], 0
    for token in tokens:
        start = sentence.index(token, at)
        at = start + len(token)
        spans.append(Span(start, at))
    return spans


def tokens_within(tokens: Sequence[Span], spans: Collection[Span]) -> set[int]:
    """Return the numbers of the tokens that the spans overlap.

    >>> sorted(tokens_within([Span(0, 3), Span(4, 7), Span(8, 11)], [Span(0, 2), Span(8, 11)]))
    [0, 2]
    """
    return {i for i, token in enumerate(tokens) if any(token.overlaps(span) for span in spans)}


def align(proposition: str, sentence: str) -> set[int]:
    """Return the numbers of the sentence's words that a free-text proposition was made from.

    Words match if their stems are equal; of several equal words the one with the most similar neighbours is taken.

    >>> sorted(align("Ada was a mathematician.", "Ada, a poet's daughter, was a gifted mathematician."))
    [0, 4, 5, 7]
    """
    return set(match(_stems(proposition), _stems(sentence)).values())


def _stems(text: str) -> list[str]:
    return [_stem(span.of(text).lower()) for span in word_spans(text)]


def _stem(word: str) -> str:
    return stem(word.removesuffix("'s").removesuffix("’s"))
