"""Train the learned splitter: sentences with their propositions in, a file of a few megabytes out.

A row is {"sentence", "propositions": [text…]} or, where people marked words, {"sentence", "tokens", "token_indices"}.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from propcite.attribution.english.words import FUNCTION_WORDS
from propcite.attribution.errors import AttributionError
from propcite.attribution.propositions.metrics import align, token_spans, word_spans
from propcite.attribution.propositions.network import OWN, Network, fingerprint
from propcite.retrieval.encoding.checkpoints import bundled_model
from propcite.retrieval.jsonl import numbered_lines
from propcite.retrieval.saving import written
from propcite.retrieval.text import Span
from propcite.retrieval.training import without_denormals

STYLE_UNKNOWN = 0.5  # the share of rows read without their style, so that `any` is learned from all but `clause`
MARKED_TIMES = 3  # rows with marked words are few and exact: each counts so often
ONE_IN = 4  # of the many pairs of clauses, and of the facts that are read as sentences, an epoch takes one in so many
BATCH = 16
_APART = (
    (re.compile(r"(?:``|'') (.+?) (?:''|``)"), r'"\1"'),
    (re.compile(r" ([,;:.!?)\]%]|(?:n't|['’](?:s|re|ve|ll|d|m))\b)"), r"\1"),
    (re.compile(r"([(\[$£€]) "), r"\1"),
)
PAIR_SHARE = 2.0  # what the pairs' loss counts beside the roles'


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence, its words, and the words of each proposition by number."""

    sentence: str
    words: tuple[Span, ...]
    propositions: tuple[frozenset[int], ...]
    style: str
    facts: tuple[str, ...] = ()  # the propositions as people told them, where each is a sentence


def read_examples(path: Path) -> list[Example]:
    """All rows of a file of JSON lines; a bad row is named with its line."""
    examples = []
    for number, line in numbered_lines(path):
        try:
            examples.append(_example(json.loads(line)))
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise AttributionError(f"{path}, line {number}: {error!r} is wrong with this row") from error
    return [e for e in examples if e.words and e.propositions]


def _example(row: dict[str, Any]) -> Example:
    row = _joined(row) if str(row.get("style", "")).startswith("split") else row
    sentence = str(row["sentence"])
    words = word_spans(sentence)
    if "token_indices" in row:
        tokens = token_spans(sentence, row["tokens"])
        sets = [_words_of([tokens[i] for i in indices], words) for indices in row["token_indices"]]
        style = "span"
    else:
        sets = [frozenset(align(text, sentence)) for text in row["propositions"]]
        style = "clause" if str(row.get("style", "")).startswith("split") else "atomic"
    facts = tuple(row["propositions"]) if style == "atomic" else ()
    return Example(sentence, tuple(words), tuple(dict.fromkeys(s for s in sets if s)), style, facts)


def _single(text: str) -> Example:
    """A fact that people wrote, as a sentence that is to stay whole."""
    words = tuple(word_spans(text))
    return Example(text, words, (frozenset(range(len(words))),) if words else (), "atomic")


def _joined(row: dict[str, Any]) -> dict[str, Any]:
    """A row of a set whose tokens stand apart, as people write."""
    return row | {
        "sentence": _written(str(row["sentence"])),
        "propositions": [_written(p) for p in row["propositions"]],
    }


def _written(text: str) -> str:
    """Text with its marks where they belong.

    >>> _written("Ada , the poet 's daughter ( 1815 - 1852 ) , wrote `` Notes '' .")
    'Ada, the poet\\'s daughter (1815 - 1852), wrote "Notes".'
    """
    for wrong, right in _APART:
        text = wrong.sub(right, text)
    return text


def _words_of(tokens: Sequence[Span], words: Sequence[Span]) -> frozenset[int]:
    return frozenset(i for i, word in enumerate(words) if any(word.overlaps(token) for token in tokens))


def is_held_out(sentence: str) -> bool:
    """Whether a sentence belongs to the quarter that is kept for measuring: the same in every run."""
    return hashlib.sha256(sentence.encode()).digest()[0] % 4 == 0


@dataclass(frozen=True, slots=True)
class Targets:
    """What a batch should say: pairs and their weights (b, w, w), roles (b, w) with -100 where there is no word."""

    pairs: Tensor
    weights: Tensor
    roles: Tensor


def targets(examples: Sequence[Example], num_words: Sequence[int]) -> Targets:
    """Only rows of words that one claim alone holds are taught; a claim with many such words counts by their root."""
    most = max(1, *num_words)
    pairs, weights = torch.zeros(len(examples), most, most), torch.zeros(len(examples), most, most)
    roles = torch.full((len(examples), most), -100)
    for b, (example, n) in enumerate(zip(examples, num_words, strict=True)):
        own = anchored(example, n)
        for word in range(n):
            holders = sum(word in p for p in example.propositions)
            claim = own[word]
            roles[b, word] = OWN if claim is not None else min(holders, 2)
            if claim is not None:
                pairs[b, word, [w for w in claim if w < n]] = 1.0
                weights[b, word, :n] = own.count(claim) ** -0.5
    return Targets(pairs, weights, roles)


def anchored(example: Example, n: int) -> list[frozenset[int] | None]:
    """The claim that each of the first n words stands for: its only one, or a claim that has no word of its own.

    Such a claim takes of its content words the one that fewest others share, the last of those.

    >>> words = tuple(word_spans("Ada lived in Oslo, Norway"))
    >>> lived, lies = frozenset({0, 1, 2, 3}), frozenset({3, 4})
    >>> [told and sorted(told) for told in anchored(Example("Ada lived in Oslo, Norway", words, (lived, lies), ""), 5)]
    [[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3], None, [3, 4]]
    """
    holders = [[p for p in example.propositions if word in p] for word in range(n)]
    own = [held[0] if len(held) == 1 else None for held in holders]
    for claim in sorted(example.propositions, key=lambda p: (max(p), len(p))):
        if claim in own:
            continue
        free = [w for w in claim if w < n and own[w] is None and _is_content(example, w)]
        if free:
            own[min(free, key=lambda w: (len(holders[w]), -w))] = claim
    return own


def _is_content(example: Example, word: int) -> bool:
    return example.words[word].of(example.sentence).lower() not in FUNCTION_WORDS


def loss(pairs: Tensor, roles: Tensor, wanted: Targets) -> Tensor:
    """Cross-entropy of the pairs, weighted, and of the roles."""
    each = F.binary_cross_entropy_with_logits(pairs, wanted.pairs, reduction="none") * wanted.weights
    of_pairs = each.sum() / wanted.weights.sum().clamp(min=1.0)
    of_roles = F.cross_entropy(roles.flatten(0, 1), wanted.roles.flatten(), ignore_index=-100)
    return PAIR_SHARE * of_pairs + of_roles


def train(
    examples: Sequence[Example],
    out: Path,
    *,
    epochs: int = 5,
    batch_size: int = BATCH,
    learning_rate: float = 1e-3,
    seed: int = 0,
    report: Callable[[int, int, float], None] | None = None,
) -> Path:
    """Train on these examples and write the weights; the file is written after every epoch, complete or not at all."""
    with without_denormals():
        _train(examples, out, epochs, batch_size, learning_rate, seed, report)
    return out


def _train(
    examples: Sequence[Example],
    out: Path,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    seed: int,
    report: Callable[[int, int, float], None] | None,
) -> None:
    random.seed(seed)
    torch.manual_seed(seed)
    network = Network(bundled_model()).train()
    seen = {fingerprint(e.sentence) for e in examples}
    steps = num_steps(examples, epochs, batch_size)
    optimizer = torch.optim.AdamW(network.trained().values(), lr=learning_rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1, s / 50) * max(0.02, 1 - s / steps))
    step = 0
    for epoch in range(epochs):
        for batch in _batches(epoch_rows(examples, epoch), batch_size):
            styles = [_told(e.style) for e in batch]
            read = network.read([e.sentence for e in batch], [e.words for e in batch], styles)
            pairs, roles = network(read)
            value = loss(pairs, roles, targets(batch, read.num_words))
            optimizer.zero_grad()
            torch.autograd.backward(value)
            torch.nn.utils.clip_grad_norm_(network.trained().values(), 1.0)
            optimizer.step()
            schedule.step()
            step += 1
            if report is not None:
                report(step, steps, value.item())
        _save(network, out, seen)


def _told(style: str) -> str:
    return "any" if style != "clause" and random.random() < STYLE_UNKNOWN else style


def epoch_rows(examples: Sequence[Example], epoch: int) -> list[Example]:
    """What an epoch reads: marked rows several times, pairs of clauses and single facts in turns."""
    rows: list[Example] = []
    for number, example in enumerate(examples):
        turn = (number + epoch) % ONE_IN == 0
        if example.style == "clause":
            rows += [example] * turn
        else:
            rows += [example] * (MARKED_TIMES if example.style == "span" else 1)
            if turn and example.facts:
                rows.append(_single(example.facts[(number + epoch) // ONE_IN % len(example.facts)]))
    return rows


def num_steps(examples: Sequence[Example], epochs: int, batch_size: int = BATCH) -> int:
    return sum(math.ceil(len(epoch_rows(examples, epoch)) / batch_size) for epoch in range(epochs))


def _save(network: Network, out: Path, seen: Collection[int]) -> None:
    with written(out, AttributionError) as new:
        network.save(new, seen)


def _batches(rows: Sequence[Example], size: int) -> Iterator[list[Example]]:
    """All rows in random order; those of a batch are of like length."""
    order = random.sample(rows, len(rows))
    batches = []
    for first in range(0, len(order), 20 * size):
        near = sorted(order[first : first + 20 * size], key=lambda e: len(e.sentence))
        batches += [near[i : i + size] for i in range(0, len(near), size)]
    random.shuffle(batches)
    yield from batches
