"""What the splitter's network should say of a sentence, and batches of that.

This module imports torch: import it only where it is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from propcite.attribution.english import FUNCTION_WORDS
from propcite.attribution.propositions.network import OWN_ROLE, Network, SentencePieces, padded
from propcite.attribution.propositions.parses import RELATIONS, TAGS
from propcite.attribution.propositions.training.examples import Example

IGNORED = -100  # target of a word without one
READ_AT_ONCE = 256  # sentences that are turned into word pieces together

_TAG_NUMBERS = {tag: number for number, tag in enumerate(TAGS)}
_RELATION_NUMBERS = {relation: number for number, relation in enumerate(RELATIONS)}


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """A sentence's pieces and targets: pairs (w, w) and weights (w) of words, their roles, and the tokens' parse."""

    style: str
    pieces: SentencePieces
    pairs: npt.NDArray[np.bool_]
    weights: npt.NDArray[np.float32]
    roles: list[int]
    tags: list[int]
    heads: list[int]
    relations: list[int]


@dataclass(frozen=True, slots=True)
class Targets:
    """A batch's targets: pairs and their weights (b, w, w), roles (b, w), each token's tag, head and relation (b, g).

    Where there is no word, token or parse, the target is IGNORED.
    """

    pairs: Tensor
    weights: Tensor
    roles: Tensor
    tags: Tensor
    heads: Tensor
    relations: Tensor


def rows_of(network: Network, examples: Sequence[Example]) -> Iterator[TrainingRow]:
    """Yield what the network reads and should say, per example."""
    for first in range(0, len(examples), READ_AT_ONCE):
        some = examples[first : first + READ_AT_ONCE]
        pieces = network.pieces([e.sentence for e in some], [e.words for e in some], [e.tokens for e in some])
        yield from map(row_of, some, pieces)


def row_of(example: Example, pieces: SentencePieces) -> TrainingRow:
    """Build the targets of a sentence: only the rows of words that represent a claim are trained.

    The rows of a claim with n such words are weighted by n ** -0.5.
    """
    n = len(pieces.words)
    pairs, weights = np.zeros((n, n), np.bool_), np.zeros(n, np.float32)
    roles = [IGNORED] * n
    own = claims_by_word(example, n) if example.propositions else []
    for word, claim in enumerate(own):
        if claim is None:
            roles[word] = min(sum(word in p for p in example.propositions), 2)
        else:
            roles[word] = OWN_ROLE
            pairs[word, [w for w in claim if w < n]] = True
            weights[word] = own.count(claim) ** -0.5
    return TrainingRow(example.style, pieces, pairs, weights, roles, *_parse_targets(example, len(pieces.tokens)))


def _parse_targets(example: Example, n: int) -> tuple[list[int], list[int], list[int]]:
    parse = example.parse
    if parse is None:
        return [IGNORED] * n, [IGNORED] * n, [IGNORED] * n
    return (
        [_TAG_NUMBERS.get(tag, 0) for tag in parse.tags[:n]],
        [head if head < n else IGNORED for head in parse.heads[:n]],
        [_RELATION_NUMBERS.get(relation, 0) for relation in parse.relations[:n]],
    )


def targets(rows: Sequence[TrainingRow], device: torch.device) -> Targets:
    """Put the targets of sentences together."""
    longest = max([1, *(len(row.roles) for row in rows)])
    pairs = np.zeros((len(rows), longest, longest), np.float32)
    weights = np.zeros_like(pairs)
    for number, row in enumerate(rows):
        n = len(row.roles)
        pairs[number, :n, :n] = row.pairs
        weights[number, :n, :n] = row.weights[:, None]
    lists = ([row.roles for row in rows], [row.tags for row in rows], [row.heads for row in rows])
    tensors = [torch.from_numpy(pairs), torch.from_numpy(weights)]
    tensors += [padded(column, IGNORED) for column in (*lists, [row.relations for row in rows])]
    return Targets(*(tensor.to(device, non_blocking=True) for tensor in tensors))


def claims_by_word(example: Example, n: int) -> list[frozenset[int] | None]:
    """Return the claim that each of the first n words represents; None for words that represent none.

    A word in only one claim represents that claim.  A claim without such a word is represented by the content word
    that the fewest other claims share, the last one of these.

    >>> from propcite.attribution.propositions.metrics import word_spans
    >>> words = tuple(word_spans("Ada lived in Oslo, Norway"))
    >>> lived, lies = frozenset({0, 1, 2, 3}), frozenset({3, 4})
    >>> example = Example("Ada lived in Oslo, Norway", words, (lived, lies), "")
    >>> [claim and sorted(claim) for claim in claims_by_word(example, 5)]
    [[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3], None, [3, 4]]
    """
    holders = [[p for p in example.propositions if word in p] for word in range(n)]
    own = [claims[0] if len(claims) == 1 else None for claims in holders]
    for claim in sorted(example.propositions, key=lambda p: (max(p), len(p))):
        if claim in own:
            continue
        free = [w for w in claim if w < n and own[w] is None and _is_content(example, w)]
        if free:
            own[min(free, key=lambda w: (len(holders[w]), -w))] = claim
    return own


def _is_content(example: Example, word: int) -> bool:
    return example.words[word].of(example.sentence).lower() not in FUNCTION_WORDS
