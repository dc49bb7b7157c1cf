"""The learned splitter's network: the judge's lower layers with low-rank changes score pairs of words for one claim.

Further heads score words' roles and read the grammar.  This module imports torch: import it only where it is needed.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from propcite.attribution.propositions.grammar_head import MAX_DISTANCE, Grammar, ParseLogits, by_distance
from propcite.attribution.propositions.grouped.writer import ClaimWriter
from propcite.retrieval.text import Span

LAYERS = 6  # of the judge, from below
RANK = 32
PAIR_WIDTH = 256  # dimensions in which two words are compared
PARSE_WIDTH = 192  # dimensions in which a token and its head are compared
SCALE = 2.0  # of the low-rank changes
MAX_PIECES = 250  # word pieces of a sentence
NUM_ROLES = 3  # of a word: in no claim, one claim's own, shared by several
OWN_ROLE = 1
STYLES = {"atomic": 0, "span": 1, "any": 2, "clause": 3}  # numbers of unused tokens, which tell how finely to split

_SURROGATES = re.compile("[\ud800-\udfff]")  # no tokenizer accepts them


def fingerprint(sentence: str) -> int:
    """Return a number that identifies a sentence, regardless of case, punctuation and spacing."""
    letters = "".join(char for char in sentence.lower() if char.isalnum())
    return int.from_bytes(hashlib.sha256(letters.encode(errors="replace")).digest()[:4], signed=True)


@dataclass(frozen=True, slots=True)
class SentencePieces:
    """A sentence's word pieces, and the positions of the first piece of each word and of each token of the grammar."""

    ids: list[int]
    words: list[int]
    tokens: list[int]


@dataclass(frozen=True, slots=True)
class SentenceBatch:
    """The network's input: ids and mask (b, t), the position of each word's first piece (b, w), and word counts.

    `tokens` (b, g) and `num_tokens` are the same for the tokens of the grammar, marks included.
    """

    ids: Tensor
    mask: Tensor
    first: Tensor
    num_words: list[int]
    tokens: Tensor
    num_tokens: list[int]


class LowRank(nn.Module):
    """A frozen linear layer plus a trained change of low rank.  (…, in) -> (…, out)"""

    def __init__(self, linear: nn.Linear, rank: int) -> None:
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        changed: Tensor = self.linear(x) + SCALE * (x @ self.down.T) @ self.up.T
        return changed

    def merged(self) -> nn.Linear:
        """Add the change to the linear layer and return that."""
        weight = self.linear.weight.data
        weight.copy_(weight.float() + SCALE * self.up.data.float() @ self.down.data.float())
        return self.linear


class Network(nn.Module):
    """Computes logits (b, w, w) that word j is in the claim whose own word is i, (b, w, 3) of roles, and of a parse.

    `writer` writes the claims from the states of tokens.
    The encoder may compute in a smaller precision; the heads compute in float32.
    """

    def __init__(
        self, encoder: Any, tokenizer: Any, *, rank: int = RANK, pair_width: int = PAIR_WIDTH,
        parse_width: int = PARSE_WIDTH,
    ) -> None:  # fmt: skip
        super().__init__()
        self.tokenizer = tokenizer
        self.encoder = encoder.requires_grad_(False)
        for owner, name, linear in _linears(encoder):
            setattr(owner, name, LowRank(linear, rank))
        width = encoder.config.hidden_size
        self.holder = nn.Sequential(nn.Linear(width, pair_width), nn.GELU())
        self.held = nn.Sequential(nn.Linear(width, pair_width), nn.GELU())
        self.compare = nn.Parameter(0.02 * torch.randn(pair_width + 1, pair_width + 1))
        self.distance = nn.Embedding(2 * MAX_DISTANCE + 1, 1)
        nn.init.zeros_(self.distance.weight)
        self.role = nn.Linear(width, NUM_ROLES)
        self.grammar = Grammar(width, parse_width)
        self.parses = True  # False for weights of a training without parses
        self.writer = ClaimWriter(width)
        self.writes = False  # True for weights of a training that taught to write claims
        self.seen: frozenset[int] = frozenset()
        self._padding = tokenizer.pad_token_id
        unused = tokenizer.convert_tokens_to_ids("[unused0]")
        self._style_ids = {style: unused + number for style, number in STYLES.items()}

    def forward(self, batch: SentenceBatch) -> tuple[Tensor, Tensor, ParseLogits]:
        return self.scores(self.states(batch), batch)

    def states(self, batch: SentenceBatch) -> Tensor:
        """Return the states of a batch's pieces, (b, t, d)."""
        return torch.as_tensor(self.encoder(input_ids=batch.ids, attention_mask=batch.mask).last_hidden_state)

    def scores(self, states: Tensor, batch: SentenceBatch) -> tuple[Tensor, Tensor, ParseLogits]:
        states = states.float()
        words, tokens = states_at(states, batch.first), states_at(states, batch.tokens)
        one = torch.ones_like(words[..., :1])
        left = torch.cat([self.holder(words), one], -1)
        right = torch.cat([self.held(words), one], -1)
        pairs = left @ self.compare @ right.transpose(1, 2) + by_distance(self.distance, words)
        return pairs, self.role(words), self.grammar(tokens)

    def pieces(
        self, sentences: Sequence[str], words: Sequence[Sequence[Span]], tokens: Sequence[Sequence[Span]]
    ) -> list[SentencePieces]:
        """Return the word pieces of sentences; words and tokens beyond the longest input have none."""
        if not sentences:
            return []
        encoding = self.tokenizer(
            [_SURROGATES.sub("?", sentence) for sentence in sentences],
            add_special_tokens=False, return_offsets_mapping=True, truncation=True, max_length=MAX_PIECES,
        )  # fmt: skip
        rows = zip(encoding["input_ids"], encoding["offset_mapping"], words, tokens, strict=True)
        return [
            SentencePieces(ids, _firsts(offsets, spans), _firsts(offsets, marks)) for ids, offsets, spans, marks in rows
        ]

    def batch(self, rows: Sequence[SentencePieces], styles: Sequence[str]) -> SentenceBatch:
        """Return the network's input, on its device."""
        begin, end = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        ids = [[begin, self._style_ids[style], *row.ids, end] for row, style in zip(rows, styles, strict=True)]
        device = self.role.weight.device
        return SentenceBatch(
            ids=padded(ids, self._padding).to(device, non_blocking=True),
            mask=padded([[1] * len(row) for row in ids]).to(device, non_blocking=True),
            first=padded([row.words for row in rows]).to(device, non_blocking=True),
            num_words=[len(row.words) for row in rows],
            tokens=padded([row.tokens for row in rows]).to(device, non_blocking=True),
            num_tokens=[len(row.tokens) for row in rows],
        )

    def encode(
        self, sentences: Sequence[str], words: Sequence[Sequence[Span]], tokens: Sequence[Sequence[Span]],
        styles: Sequence[str],
    ) -> SentenceBatch:  # fmt: skip
        """Return a batch; words and tokens beyond the longest input are not counted."""
        return self.batch(self.pieces(sentences, words, tokens), styles)

    def trained_parameters(self) -> dict[str, Tensor]:
        return {name: p for name, p in self.named_parameters() if p.requires_grad}

    def merge(self) -> None:
        """Add the low-rank changes to the layers that they belong to."""
        for module in list(self.encoder.modules()):
            for name, child in list(module.named_children()):
                if isinstance(child, LowRank):
                    setattr(module, name, child.merged())


def padded(rows: Sequence[list[int]], padding: int = 0) -> Tensor:
    """Return rows of different lengths as one tensor, of at least one column."""
    longest = max([1, *map(len, rows)])
    return torch.tensor([row + [padding] * (longest - len(row)) for row in rows])


def states_at(states: Tensor, places: Tensor) -> Tensor:
    """Return the states of the pieces at these places.  (b, t, d), (b, n) -> (b, n, d)"""
    return torch.gather(states, 1, places.unsqueeze(-1).expand(-1, -1, states.shape[-1]))


def _linears(encoder: Any) -> Iterator[tuple[Any, str, nn.Linear]]:
    """Yield the linear layers of an encoder's layers, with their owners and names."""
    for module in list(encoder.encoder.layer.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Linear):
                yield module, name, child


def _firsts(offsets: Sequence[tuple[int, int]], words: Sequence[Span]) -> list[int]:
    """Return the position of each word's first piece, after [CLS] and the style's token; fewer if truncated."""
    positions, piece = [], 0
    for word in words:
        while piece < len(offsets) and offsets[piece][1] <= word.start:
            piece += 1
        if piece == len(offsets):
            break
        positions.append(piece + 2)
    return positions
