"""Which sentences of two texts belong together: copies first, then those that are alike in place, then elsewhere."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from propcite.attribution.versions.words import plain_words, spaced, word_set
from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.granularity import best_matches
from propcite.retrieval.interrupting import check_interrupt

Pairs = dict[int, int]  # the number of a right sentence by that of a left one


def copies(left: Sequence[str], right: Sequence[str]) -> tuple[Pairs, Pairs]:
    """Pair sentences of the same words: those in the order of both texts, and those that moved."""
    ours, theirs = list(map(plain_words, left)), list(map(plain_words, right))
    in_order: Pairs = {}
    for block in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks():
        in_order |= {block.a + i: block.b + i for i in range(block.size)}
    free: dict[str, deque[int]] = defaultdict(deque)
    taken = set(in_order.values())
    for number, words in enumerate(theirs):
        if number not in taken:
            free[words].append(number)
    moved = {i: free[words].popleft() for i, words in enumerate(ours) if i not in in_order and free[words]}
    return in_order, moved


def cut_elsewhere(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[range, range]]:
    """Yield neighbouring sentences that are the other side's, word for word, cut at other places.

    >>> list(cut_elsewhere(["It rained.", "We left: at nine."], ["It rained.", "We left:", "at nine."]))
    [(range(1, 2), range(1, 3))]
    """
    in_place, _ = copies(left, right)
    for gap in gaps(in_place, len(left), len(right), {}):
        at, end = gap.right[0], gap.right[-1] + 1
        i = gap.left[0]
        while i <= gap.left[-1]:
            tries = (_same_from(left, i, gap.left[-1] + 1, right, j, end) for j in range(at, end))
            found = next(filter(None, tries), None)
            if found:
                yield found
                at = found[1].stop
            i = found[0].stop if found else i + 1


def _same_from(
    left: Sequence[str], i: int, left_end: int, right: Sequence[str], j: int, right_end: int
) -> tuple[range, range] | None:
    """Return how many sentences from these on have the same words together; None if they have not."""
    ours, theirs = plain_words(left[i]), plain_words(right[j])
    last, other = i + 1, j + 1
    while ours != theirs:
        if theirs.startswith(f"{ours} ") and last < left_end:
            ours, last = f"{ours} {spaced(left[last])}", last + 1
        elif ours.startswith(f"{theirs} ") and other < right_end:
            theirs, other = f"{theirs} {spaced(right[other])}", other + 1
        else:
            return None
    return range(i, last), range(j, other)


def word_likeness(left: Sequence[str], right: Sequence[str]) -> Floats:
    """Return the share of words that two sentences have in common, 0 to 1 (Dice).  -> (n, m)"""
    ours, theirs = [list(map(word_set, texts)) for texts in (left, right)]
    places: dict[str, int] = {}
    for words in [*ours, *theirs]:
        for word in words:
            places.setdefault(word, len(places))

    def rows(sets: Sequence[frozenset[str]]) -> Floats:
        table = np.zeros((len(sets), len(places)), np.float32)
        for number, words in enumerate(sets):
            table[number, [places[word] for word in words]] = 1.0
        return table

    one, other = rows(ours), rows(theirs)
    total = one.sum(axis=1)[:, None] + other.sum(axis=1)[None]
    shares: Floats = 2.0 * (one @ other.T) / np.maximum(total, 1.0)
    return shares


def vector_likeness(left: Sequence[TokenVectors], right: Sequence[TokenVectors]) -> Floats:
    """Return how alike sentences are by the vectors of their tokens, in both directions.  -> (n, m)

    A sentence without a token is like none.
    """
    known = [number for number, tokens in enumerate(right) if len(tokens)]
    likeness = np.zeros((len(left), len(right)), np.float32)
    if not known:
        return likeness
    all_right = np.concatenate([right[number].vectors for number in known])
    weights = np.concatenate([right[number].weights() for number in known])
    starts = np.cumsum([0, *(len(right[number]) for number in known[:-1])])
    for number, tokens in enumerate(left):
        check_interrupt()
        if len(tokens):
            similarities = all_right @ tokens.vectors.T
            forth = best_matches(similarities, starts) @ tokens.weights()
            back = np.add.reduceat(similarities.max(axis=1) * weights, starts)
            likeness[number, known] = (forth + back) / 2.0
    return likeness


def in_order(likeness: Floats, floor: float) -> Pairs:
    """Pair rows with columns so that no two pairs cross and the sum of their likeness is the largest possible.

    >>> in_order(np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.7]]), 0.5)
    {0: 0, 2: 1}
    """
    n, m = likeness.shape
    gains = np.where(likeness >= floor, likeness, 0.0)
    best = np.zeros((n + 1, m + 1), np.float32)
    for i in range(n):
        check_interrupt()
        best[i + 1, 1:] = np.maximum.accumulate(np.maximum(best[i, 1:], best[i, :-1] + gains[i]))
    pairs: Pairs = {}
    i, j = n, m
    while i and j:
        if best[i, j] == best[i - 1, j]:
            i -= 1
        elif best[i, j] == best[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs[i] = j
    return dict(sorted(pairs.items()))


def anywhere(likeness: Floats, floor: float) -> Pairs:
    """Pair rows with columns wherever they are, the most alike first, each once."""
    rows, columns = np.nonzero(likeness >= floor)
    pairs: Pairs = {}
    taken: set[int] = set()
    for number in np.argsort(-likeness[rows, columns], kind="stable"):
        i, j = int(rows[number]), int(columns[number])
        if i not in pairs and j not in taken:
            pairs[i] = j
            taken.add(j)
    return pairs


@dataclass(frozen=True, slots=True)
class Gap:
    """Sentences of both texts between two pairs."""

    left: list[int]
    right: list[int]


def gaps(pairs: Pairs, num_left: int, num_right: int, taken: Pairs) -> Iterator[Gap]:
    """Yield what both texts have between pairs that do not cross, without the sentences in `taken`."""
    before = (-1, -1)
    moved = set(taken.values())
    for after in [*sorted(pairs.items()), (num_left, num_right)]:
        left = [i for i in range(before[0] + 1, after[0]) if i not in taken]
        right = [j for j in range(before[1] + 1, after[1]) if j not in moved]
        if left and right:
            yield Gap(left, right)
        before = after
