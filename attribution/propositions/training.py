"""Train the learned splitter: rows of sentences with their propositions in, a file of a few megabytes out.

A row is {"sentence", "propositions": [text…]} or, if people marked words, {"sentence", "tokens", "token_indices"}.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from propcite.attribution.english import FUNCTION_WORDS
from propcite.attribution.errors import AttributionError
from propcite.attribution.propositions.metrics import align, token_spans, word_spans
from propcite.attribution.propositions.network import OWN_ROLE, Network, fingerprint
from propcite.retrieval.encoding.bundled import bundled_model
from propcite.retrieval.jsonl import numbered_lines
from propcite.retrieval.saving import atomic_write
from propcite.retrieval.text import Span
from propcite.retrieval.training import without_denormals

STYLE_UNKNOWN = 0.5  # share of rows read without their style, so that `any` is learned from all styles but `clause`
SPAN_REPEATS = 3  # rows with marked words are few and exact: each is read this often per epoch
ONE_IN = 4  # of the many rows of clauses, and of the facts read as sentences, an epoch reads one in four
BATCH = 16
_DETOKENIZING = (
    (re.compile(r"(?:``|'') (.+?) (?:''|``)"), r'"\1"'),
    (re.compile(r" ([,;:.!?)\]%]|(?:n't|['’](?:s|re|ve|ll|d|m))\b)"), r"\1"),
    (re.compile(r"([(\[$£€]) "), r"\1"),
)
PAIR_WEIGHT = 2.0  # of the pairs' loss, relative to the roles'


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence with its words and the word numbers of each proposition."""

    sentence: str
    words: tuple[Span, ...]
    propositions: tuple[frozenset[int], ...]
    style: str
    facts: tuple[str, ...] = ()  # the propositions as people wrote them, if each is a sentence


def read_examples(path: Path) -> list[Example]:
    """Read all rows of a JSON lines file; an error names the line of a bad row."""
    examples = []
    for number, line in numbered_lines(path):
        try:
            examples.append(_parse_example(json.loads(line)))
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise AttributionError(f"{path}, line {number}: this row is invalid: {error!r}") from error
    return [e for e in examples if e.words and e.propositions]


def _parse_example(row: dict[str, Any]) -> Example:
    row = _detokenize_row(row) if str(row.get("style", "")).startswith("split") else row
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


def _whole_fact(text: str) -> Example:
    """Make an example of a fact that must not be split."""
    words = tuple(word_spans(text))
    return Example(text, words, (frozenset(range(len(words))),) if words else (), "atomic")


def _detokenize_row(row: dict[str, Any]) -> dict[str, Any]:
    return row | {
        "sentence": _detokenize(str(row["sentence"])),
        "propositions": [_detokenize(p) for p in row["propositions"]],
    }


def _detokenize(text: str) -> str:
    """Remove the spaces around punctuation that a tokenized data set has.

    >>> _detokenize("Ada , the poet 's daughter ( 1815 - 1852 ) , wrote `` Notes '' .")
    'Ada, the poet\\'s daughter (1815 - 1852), wrote "Notes".'
    """
    for wrong, right in _DETOKENIZING:
        text = wrong.sub(right, text)
    return text


def _words_of(tokens: Sequence[Span], words: Sequence[Span]) -> frozenset[int]:
    return frozenset(i for i, word in enumerate(words) if any(word.overlaps(token) for token in tokens))


def is_held_out(sentence: str) -> bool:
    """Return whether a sentence belongs to the quarter that is held out for evaluation: the same in every run."""
    return hashlib.sha256(sentence.encode()).digest()[0] % 4 == 0


@dataclass(frozen=True, slots=True)
class Targets:
    """A batch's targets: pairs and their weights (b, w, w), roles (b, w) with -100 where there is no word."""

    pairs: Tensor
    weights: Tensor
    roles: Tensor


def targets(examples: Sequence[Example], num_words: Sequence[int]) -> Targets:
    """Build the targets of a batch: only the rows of words that represent a claim are trained.

    The rows of a claim with n such words are weighted by n ** -0.5.
    """
    max_words = max(1, *num_words)
    pairs = torch.zeros(len(examples), max_words, max_words)
    weights, roles = torch.zeros_like(pairs), torch.full((len(examples), max_words), -100)
    for b, (example, n) in enumerate(zip(examples, num_words, strict=True)):
        own = claims_by_word(example, n)
        for word in range(n):
            holders = sum(word in p for p in example.propositions)
            claim = own[word]
            roles[b, word] = OWN_ROLE if claim is not None else min(holders, 2)
            if claim is not None:
                pairs[b, word, [w for w in claim if w < n]] = 1.0
                weights[b, word, :n] = own.count(claim) ** -0.5
    return Targets(pairs, weights, roles)


def claims_by_word(example: Example, n: int) -> list[frozenset[int] | None]:
    """Return the claim that each of the first n words represents; None for words that represent none.

    A word in only one claim represents that claim.  A claim without such a word is represented by the content word
    that the fewest other claims share, the last one of these.

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


def loss(pairs: Tensor, roles: Tensor, target: Targets) -> Tensor:
    """Return the weighted cross-entropy of the pairs plus the cross-entropy of the roles."""
    each = F.binary_cross_entropy_with_logits(pairs, target.pairs, reduction="none") * target.weights
    of_pairs = each.sum() / target.weights.sum().clamp(min=1.0)
    of_roles = F.cross_entropy(roles.flatten(0, 1), target.roles.flatten(), ignore_index=-100)
    return PAIR_WEIGHT * of_pairs + of_roles


def train(
    examples: Sequence[Example],
    out: Path,
    *,
    epochs: int = 5,
    batch_size: int = BATCH,
    learning_rate: float = 1e-3,
    seed: int = 0,
    progress: Callable[[int, int, float], None] = lambda *_: None,
) -> Path:
    """Train on these examples; the weights are written atomically after every epoch.

    `progress` gets each step's number, the number of all steps and the loss.
    """
    random.seed(seed)
    torch.manual_seed(seed)
    network = Network(bundled_model()).train()
    seen = {fingerprint(e.sentence) for e in examples}
    steps = num_steps(examples, epochs, batch_size)
    optimizer = torch.optim.AdamW(network.trained_parameters().values(), lr=learning_rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1, s / 50) * max(0.02, 1 - s / steps))
    step = 0
    with without_denormals():
        for epoch in range(epochs):
            for batch in _batches(epoch_rows(examples, epoch), batch_size):
                value = _batch_loss(network, batch)
                optimizer.zero_grad()
                torch.autograd.backward(value)
                torch.nn.utils.clip_grad_norm_(network.trained_parameters().values(), 1.0)
                optimizer.step()
                schedule.step()
                step += 1
                progress(step, steps, value.item())
            with atomic_write(out, AttributionError) as new:
                network.save(new, seen)
    return out


def _batch_loss(network: Network, batch: Sequence[Example]) -> Tensor:
    styles = [_draw_style(e.style) for e in batch]
    inputs = network.encode([e.sentence for e in batch], [e.words for e in batch], styles)
    pairs, roles = network(inputs)
    return loss(pairs, roles, targets(batch, inputs.num_words))


def _draw_style(style: str) -> str:
    return "any" if style != "clause" and random.random() < STYLE_UNKNOWN else style


def epoch_rows(examples: Sequence[Example], epoch: int) -> list[Example]:
    """Return the rows of an epoch: marked rows several times, clauses and single facts in turns."""
    rows: list[Example] = []
    for number, example in enumerate(examples):
        turn = (number + epoch) % ONE_IN == 0
        if example.style == "clause":
            rows += [example] * turn
        else:
            rows += [example] * (SPAN_REPEATS if example.style == "span" else 1)
            if turn and example.facts:
                rows.append(_whole_fact(example.facts[(number + epoch) // ONE_IN % len(example.facts)]))
    return rows


def num_steps(examples: Sequence[Example], epochs: int, batch_size: int = BATCH) -> int:
    return sum(math.ceil(len(epoch_rows(examples, epoch)) / batch_size) for epoch in range(epochs))


def _batches(rows: Sequence[Example], size: int) -> Iterator[list[Example]]:
    """Yield all rows in random order, in batches of similar length."""
    order = random.sample(rows, len(rows))
    batches = []
    for first in range(0, len(order), 20 * size):
        near = sorted(order[first : first + 20 * size], key=lambda e: len(e.sentence))
        batches += [near[i : i + size] for i in range(0, len(near), size)]
    random.shuffle(batches)
    yield from batches
