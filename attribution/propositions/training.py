"""Train the learned splitter: rows of sentences with their propositions in, a file of a few megabytes out.

A row is {"sentence", "propositions": [text…]} or, if people marked words, {"sentence", "tokens", "token_indices"}.
Rows of {"sentences": [text…]} teach only grammar: one sentence of each is read.  A spaCy pipeline parses all sentences.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from propcite.attribution.english import FUNCTION_WORDS, tag
from propcite.attribution.errors import AttributionError
from propcite.attribution.propositions.metrics import align, token_spans, word_spans
from propcite.attribution.propositions.network import OWN_ROLE, Network, ParseLogits, fingerprint
from propcite.attribution.propositions.parses import RELATIONS, TAGS, Parse, parse_of_tokens
from propcite.retrieval.encoding.bundled import bundled_model
from propcite.retrieval.jsonl import numbered_lines
from propcite.retrieval.saving import atomic_write
from propcite.retrieval.text import Span
from propcite.retrieval.training import without_denormals

if TYPE_CHECKING:
    from spacy.language import Language

STYLE_UNKNOWN = 0.5  # share of rows read without their style, so that `any` is learned from all styles but `clause`
SPAN_REPEATS = 3  # rows with marked words are few and exact: each is read this often per epoch
ONE_IN = 4  # of the many rows of clauses, of grammar, and of the facts read as sentences, an epoch reads one in four
READ_LENGTHS = range(40, 350)  # characters of a sentence that teaches only grammar
BATCH = 16
_DETOKENIZING = (
    (re.compile(r"(?:``|'') (.+?) (?:''|``)"), r'"\1"'),
    (re.compile(r" ([,;:.!?)\]%]|(?:n't|['’](?:s|re|ve|ll|d|m))\b)"), r"\1"),
    (re.compile(r"([(\[$£€]) "), r"\1"),
)
PAIR_WEIGHT = 2.0  # of the pairs' loss, relative to the roles'
PARSE_WEIGHT = 1.0  # of the losses of tags, heads and relations
IGNORED = -100  # target of a word without one


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence with its words and the word numbers of each proposition."""

    sentence: str
    words: tuple[Span, ...]
    propositions: tuple[frozenset[int], ...]
    style: str
    facts: tuple[str, ...] = ()  # the propositions as people wrote them, if each is a sentence
    parse: Parse | None = None

    @property
    def tokens(self) -> list[Span]:
        return [Span(*place) for place in tag(self.sentence, self.sentence).places]


def read_examples(path: Path) -> list[Example]:
    """Read all rows of a JSON lines file; an error names the line of a bad row."""
    examples = []
    for number, line in numbered_lines(path):
        try:
            examples.append(_parse_example(json.loads(line)))
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise AttributionError(f"{path}, line {number}: this row is invalid: {error!r}") from error
    return [e for e in examples if e.words and (e.propositions or e.style == "grammar")]


def with_parses(examples: Sequence[Example], parser: Language, advance: Callable[[], None]) -> Iterator[Example]:
    """Yield the examples with the parses of their sentences."""
    docs = parser.pipe((e.sentence for e in examples), disable=["ner", "lemmatizer"])
    for example, doc in zip(examples, docs, strict=True):
        parsed = [
            (token.idx, token.idx + len(token), token.tag_, token.head.i, token.dep_ if token.dep_ else "-")
            for token in doc
        ]
        places = [(span.start, span.end) for span in example.tokens]
        yield replace(example, parse=parse_of_tokens(places, parsed))
        advance()


def _parse_example(row: dict[str, Any]) -> Example:
    if "sentences" in row and "propositions" not in row:
        return _grammar_example([str(text) for text in row["sentences"]])
    row = _detokenize_row(row) if str(row.get("style", "")).startswith("split") else row
    sentence = str(row["sentence"])
    words = word_spans(sentence)
    if "token_indices" in row:
        tokens = token_spans(sentence, row["tokens"])
        sets = [_words_of([tokens[i] for i in indices], words) for indices in row["token_indices"]]
        style = "span"
    else:
        sets = [frozenset(align(text, sentence)) for text in row["propositions"]]
        style = "clause" if "split" in str(row.get("style", "")) else "atomic"
    facts = tuple(row["propositions"]) if style == "atomic" else ()
    return Example(sentence, tuple(words), tuple(dict.fromkeys(s for s in sets if s)), style, facts)


def _grammar_example(sentences: Sequence[str]) -> Example:
    """Make an example of the row's sentence that its digest draws."""
    fitting = [text for text in sentences if len(text) in READ_LENGTHS and text[0].isupper() and text[-1] in ".!?"]
    drawn = min(fitting, key=lambda text: hashlib.sha256(text.encode()).digest(), default="")
    return Example(drawn, tuple(word_spans(drawn)), (), "grammar")


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
    """A batch's targets: pairs and their weights (b, w, w), roles (b, w), each token's tag, head and relation (b, g).

    Where there is no word, token or parse, the target is IGNORED.
    """

    pairs: Tensor
    weights: Tensor
    roles: Tensor
    tags: Tensor
    heads: Tensor
    relations: Tensor


def targets(examples: Sequence[Example], num_words: Sequence[int], num_tokens: Sequence[int]) -> Targets:
    """Build the targets of a batch: only the rows of words that represent a claim are trained.

    The rows of a claim with n such words are weighted by n ** -0.5.
    """
    max_words = max(1, *num_words)
    pairs = torch.zeros(len(examples), max_words, max_words)
    weights, roles = torch.zeros_like(pairs), torch.full((len(examples), max_words), IGNORED)
    for b, (example, n) in enumerate(zip(examples, num_words, strict=True)):
        if not example.propositions:
            continue
        own = claims_by_word(example, n)
        for word in range(n):
            holders = sum(word in p for p in example.propositions)
            claim = own[word]
            roles[b, word] = OWN_ROLE if claim is not None else min(holders, 2)
            if claim is not None:
                pairs[b, word, [w for w in claim if w < n]] = 1.0
                weights[b, word, :n] = own.count(claim) ** -0.5
    return Targets(pairs, weights, roles, *_parse_targets(examples, num_tokens))


def _parse_targets(examples: Sequence[Example], num_tokens: Sequence[int]) -> list[Tensor]:
    rows: list[list[list[int]]] = [[], [], []]
    longest = max([1, *num_tokens])
    for example, n in zip(examples, num_tokens, strict=True):
        parse = example.parse
        heads = [] if parse is None else [h if h < n else IGNORED for h in parse.heads[:n]]
        tags = [] if parse is None else [TAGS.index(t) if t in TAGS else 0 for t in parse.tags[:n]]
        relations = [] if parse is None else [RELATIONS.index(r) if r in RELATIONS else 0 for r in parse.relations[:n]]
        for column, row in zip(rows, (tags, heads, relations), strict=True):
            column.append(row + [IGNORED] * (longest - len(row)))
    return [torch.tensor(column) for column in rows]


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
    """Return the weighted cross-entropy of the pairs plus that of the roles; 0 without propositions."""
    each = F.binary_cross_entropy_with_logits(pairs, target.pairs, reduction="none") * target.weights
    of_pairs = each.sum() / target.weights.sum().clamp(min=1.0)
    return PAIR_WEIGHT * of_pairs + _cross_entropy(roles, target.roles)


def parse_loss(network: Network, logits: ParseLogits, target: Targets) -> Tensor:
    """Return the cross-entropies of tags, heads and relations together; 0 without parses."""
    is_token = torch.arange(logits.heads.shape[-1]) < (target.tags != IGNORED).sum(-1, keepdim=True)
    heads = logits.heads.masked_fill(~is_token.unsqueeze(1), -1e4)
    relations = network.grammar.relations(logits, target.heads.clamp(min=0))
    total = _cross_entropy(logits.tags, target.tags) + _cross_entropy(heads, target.heads)
    return total + _cross_entropy(relations, target.relations)


def _cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    total = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=IGNORED, reduction="sum")
    return total / (target != IGNORED).sum().clamp(min=1)


def train(
    examples: Sequence[Example],
    out: Path,
    *,
    epochs: int = 5,
    batch_size: int = BATCH,
    learning_rate: float = 1e-3,
    seed: int = 0,
    start: Path | None = None,
    progress: Callable[[int, int, float], None] = lambda *_: None,
) -> Path:
    """Train on these examples; the weights are written atomically after every epoch.

    `start` is a file of weights to train further.  `progress` gets each step's number, that of all steps, and the loss.
    """
    random.seed(seed)
    torch.manual_seed(seed)
    network = Network(bundled_model()).train()
    if start is not None:
        network.start_from(start)
    network.parses = any(e.parse for e in examples)
    seen = {fingerprint(e.sentence) for e in examples if e.propositions}
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
    inputs = network.encode([e.sentence for e in batch], [e.words for e in batch], [e.tokens for e in batch], styles)
    pairs, roles, parses = network(inputs)
    target = targets(batch, inputs.num_words, inputs.num_tokens)
    return loss(pairs, roles, target) + PARSE_WEIGHT * parse_loss(network, parses, target)


def _draw_style(style: str) -> str:
    return "any" if style == "grammar" or (style != "clause" and random.random() < STYLE_UNKNOWN) else style


def epoch_rows(examples: Sequence[Example], epoch: int) -> list[Example]:
    """Return the rows of an epoch: marked rows several times, clauses, single facts and grammar in turns."""
    rows: list[Example] = []
    for number, example in enumerate(examples):
        turn = (number + epoch) % ONE_IN == 0
        if example.style in {"clause", "grammar"}:
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
