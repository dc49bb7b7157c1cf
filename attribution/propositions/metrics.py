"""Segmentation measures as PropSegmEnt defines them, and the alignment that scores free-text gold propositions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from propcite.attribution.english.words import stem
from propcite.attribution.propositions.matching import match
from propcite.retrieval.text import Span

SAME = 0.8  # the Jaccard from which PropSegmEnt calls two propositions the same

_WORD = re.compile(r"\w+(?:['’.,-]\w+)*")

TokenSet = AbstractSet[int]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well predicted propositions agree with gold ones.

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
    """Shared tokens by all tokens; two empty sets share nothing.

    >>> jaccard({1, 2, 3}, {2, 3, 4})
    0.5
    """
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def num_matches(predicted: Sequence[TokenSet], gold: Sequence[TokenSet], threshold: float = SAME) -> int:
    """The most pairs (one predicted, one gold, each used once) whose Jaccard reaches the threshold.

    >>> num_matches([{1, 2, 3, 4}, {1, 2, 3, 4, 5}], [{1, 2, 3, 4, 5}, {7}])
    1
    """
    if not predicted or not gold:
        return 0
    same = np.array([[jaccard(p, g) >= threshold for g in gold] for p in predicted])
    rows, columns = linear_sum_assignment(same, maximize=True)
    return int(same[rows, columns].sum())


def agreement(predicted: Sequence[TokenSet], gold: Sequence[TokenSet], threshold: float = SAME) -> Agreement:
    """Precision and recall of one sentence's propositions; a threshold of 1 asks for exact matches.

    >>> agreement([{1, 2, 3, 4}, {8, 9}], [{1, 2, 3, 4, 5}, {5, 6}, {9}, {10}])
    Agreement(precision=0.5, recall=0.25)
    """
    matches = num_matches(predicted, gold, threshold)
    return Agreement(matches / len(predicted) if predicted else 0.0, matches / len(gold) if gold else 0.0)


def macro(sentences: Iterable[Agreement]) -> Agreement:
    """Plain means over sentences; the F1 of a corpus is that of its mean precision and mean recall.

    >>> macro([Agreement(1.0, 0.5), Agreement(0.0, 0.0)])
    Agreement(precision=0.5, recall=0.25)
    """
    counted = list(sentences)
    if not counted:
        return Agreement(0.0, 0.0)
    return Agreement(
        sum(a.precision for a in counted) / len(counted),
        sum(a.recall for a in counted) / len(counted),
    )


def token_coverage(predicted: Iterable[TokenSet], gold: Iterable[TokenSet]) -> float:
    """The share of the gold propositions' tokens that some predicted proposition holds; 1 when there is none.

    >>> token_coverage([{1, 2}, {2, 3}], [{1, 2, 3, 4}])
    0.75
    """
    wanted: set[int] = set().union(*gold)
    held: set[int] = set().union(*predicted)
    return len(wanted & held) / len(wanted) if wanted else 1.0


def word_spans(sentence: str) -> list[Span]:
    """The words that `align` counts: letters and digits, held together by inner hyphens, points and apostrophes.

    >>> [span.of("It's 3.5 km, about.") for span in word_spans("It's 3.5 km, about.")]
    ["It's", '3.5', 'km', 'about']
    """
    return [Span(*found.span()) for found in _WORD.finditer(sentence)]


def token_spans(sentence: str, tokens: Sequence[str]) -> list[Span]:
    """Where tokens stand that a data set lists in their order; ValueError where one is not in the sentence.

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
    """Which tokens the spans hold, wholly or in part.

    >>> sorted(tokens_within([Span(0, 3), Span(4, 7), Span(8, 11)], [Span(0, 2), Span(8, 11)]))
    [0, 2]
    """
    return {i for i, token in enumerate(tokens) if any(token.overlaps(span) for span in spans)}


def align(proposition: str, sentence: str) -> set[int]:
    """The sentence's words, by number, that a proposition told in its own words was made from.

    Words are the same when their stems are; of several equal words the one in the likelier neighbourhood is taken.

    >>> sorted(align("Ada was a mathematician.", "Ada, a poet's daughter, was a gifted mathematician."))
    [0, 4, 5, 7]
    """
    return set(match(_stems(proposition), _stems(sentence)).values())


def _stems(text: str) -> list[str]:
    return [_stem(span.of(text).lower()) for span in word_spans(text)]


def _stem(word: str) -> str:
    return stem(word.removesuffix("'s").removesuffix("’s"))
