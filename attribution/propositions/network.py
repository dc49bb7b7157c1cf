"""The learned splitter's network: MiniLM with low-rank changes scores pairs of words for one claim, and words' roles.

This module imports torch and transformers: import it only where they are needed.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer

from propcite.attribution.errors import AttributionError
from propcite.attribution.propositions.parses import RELATIONS, TAGS, Parse, tree_of
from propcite.retrieval.encoding.loading import hide_progress_bars
from propcite.retrieval.text import Span

RANK = 32
HEAD_WIDTH = 160  # dimensions in which two words are compared
PARSE_WIDTH = 128  # dimensions in which a token and its head are compared
MAX_DISTANCE = 32  # between words; larger distances count as this one
MAX_PIECES = 250  # word pieces of a sentence
NUM_ROLES = 3  # of a word: in no claim, one claim's own, shared by several
OWN_ROLE = 1
STYLES = {"atomic": 1, "span": 2, "any": 3, "clause": 4}  # ids of unused tokens, which tell how finely to split

_SURROGATES = re.compile("[\ud800-\udfff]")  # no tokenizer accepts them
_SEEN = "seen"  # name of the fingerprints in a file


def fingerprint(sentence: str) -> int:
    """Return a number that identifies a sentence, regardless of case, punctuation and spacing."""
    letters = "".join(char for char in sentence.lower() if char.isalnum())
    return int.from_bytes(hashlib.sha256(letters.encode(errors="replace")).digest()[:4], signed=True)


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


@dataclass(frozen=True, slots=True)
class ParseLogits:
    """Logits of each token's tag (b, g, tags), head (b, g, g), and its relation to any head."""

    tags: Tensor
    heads: Tensor
    below: Tensor
    above: Tensor


class LowRank(nn.Module):
    """A frozen linear layer plus a trained change of low rank.  (…, in) -> (…, out)"""

    def __init__(self, linear: nn.Linear, rank: int) -> None:
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        changed: Tensor = self.linear(x) + 2.0 * (x @ self.down.T) @ self.up.T
        return changed

    def merged(self) -> nn.Linear:
        """Add the change to the linear layer and return that."""
        self.linear.weight.data += 2.0 * self.up.data @ self.down.data
        return self.linear


class Grammar(nn.Module):
    """Reads the grammar from the states of tokens: tags, heads, relations."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.tag = nn.Linear(width, len(TAGS))
        self.below = nn.Sequential(nn.Linear(width, PARSE_WIDTH), nn.GELU())
        self.above = nn.Sequential(nn.Linear(width, PARSE_WIDTH), nn.GELU())
        self.head = nn.Parameter(0.02 * torch.randn(PARSE_WIDTH + 1, PARSE_WIDTH + 1))
        self.distance = nn.Embedding(2 * MAX_DISTANCE + 1, 1)
        nn.init.zeros_(self.distance.weight)
        self.relation = nn.Linear(2 * PARSE_WIDTH, len(RELATIONS))

    def forward(self, tokens: Tensor) -> ParseLogits:
        below, above = self.below(tokens), self.above(tokens)
        one = torch.ones_like(below[..., :1])
        heads = torch.cat([below, one], -1) @ self.head @ torch.cat([above, one], -1).transpose(1, 2)
        return ParseLogits(self.tag(tokens), heads + _by_distance(self.distance, tokens), below, above)

    def relations(self, logits: ParseLogits, heads: Tensor) -> Tensor:
        """Return logits (b, g, relations) of each token's relation to the head with the given number (b, g)."""
        above = torch.gather(logits.above, 1, heads.unsqueeze(-1).expand(-1, -1, PARSE_WIDTH))
        return torch.as_tensor(self.relation(torch.cat([logits.below, above], -1)))


def _by_distance(weights: nn.Embedding, words: Tensor) -> Tensor:
    """Return what the distance adds to the score of each two words.  (b, w, …) -> (w, w)"""
    positions = torch.arange(words.shape[1], device=words.device)
    distances = (positions[None] - positions[:, None]).clamp(-MAX_DISTANCE, MAX_DISTANCE) + MAX_DISTANCE
    return torch.as_tensor(weights(distances)).squeeze(-1)


class Network(nn.Module):
    """Computes logits (b, w, w) that word j is in the claim whose own word is i, (b, w, 3) of roles, and of a parse."""

    def __init__(self, base: str, rank: int = RANK) -> None:
        super().__init__()
        hide_progress_bars()
        self.tokenizer: Any = AutoTokenizer.from_pretrained(base)
        self.encoder: Any = AutoModel.from_pretrained(base).requires_grad_(False)
        for layer in self.encoder.encoder.layer:
            for owner, name in _linears(layer):
                setattr(owner, name, LowRank(getattr(owner, name), rank))
        width = self.encoder.config.hidden_size
        self.holder = nn.Sequential(nn.Linear(width, HEAD_WIDTH), nn.GELU())
        self.held = nn.Sequential(nn.Linear(width, HEAD_WIDTH), nn.GELU())
        self.compare = nn.Parameter(0.02 * torch.randn(HEAD_WIDTH + 1, HEAD_WIDTH + 1))
        self.distance = nn.Embedding(2 * MAX_DISTANCE + 1, 1)
        nn.init.zeros_(self.distance.weight)
        self.role = nn.Linear(width, NUM_ROLES)
        self.grammar = Grammar(width)
        self.parses = True  # False for weights of a training without parses
        self.seen: frozenset[int] = frozenset()

    def forward(self, batch: SentenceBatch) -> tuple[Tensor, Tensor, ParseLogits]:
        states = self.encoder(input_ids=batch.ids, attention_mask=batch.mask).last_hidden_state
        words, tokens = _states_at(states, batch.first), _states_at(states, batch.tokens)
        one = torch.ones_like(words[..., :1])
        left = torch.cat([self.holder(words), one], -1)
        right = torch.cat([self.held(words), one], -1)
        pairs = left @ self.compare @ right.transpose(1, 2) + _by_distance(self.distance, words)
        return pairs, self.role(words), self.grammar(tokens)

    def encode(
        self,
        sentences: Sequence[str],
        words: Sequence[Sequence[Span]],
        tokens: Sequence[Sequence[Span]],
        styles: Sequence[str],
    ) -> SentenceBatch:
        """Return a batch; words and tokens beyond the longest input are not counted."""
        tokenizer = self.tokenizer
        rows, firsts, token_firsts = [], [], []
        for sentence, spans, marks, style in zip(sentences, words, tokens, styles, strict=True):
            encoding = tokenizer(
                _SURROGATES.sub("?", sentence),
                add_special_tokens=False,
                return_offsets_mapping=True,
                truncation=True,
                max_length=MAX_PIECES,
            )
            rows.append([tokenizer.cls_token_id, STYLES[style], *encoding["input_ids"], tokenizer.sep_token_id])
            firsts.append(_first_pieces(encoding["offset_mapping"], spans))
            token_firsts.append(_first_pieces(encoding["offset_mapping"], marks))
        length = max(map(len, rows))
        return SentenceBatch(
            ids=torch.tensor([row + [0] * (length - len(row)) for row in rows]),
            mask=torch.tensor([[1] * len(row) + [0] * (length - len(row)) for row in rows]),
            first=_padded(firsts),
            num_words=[len(first) for first in firsts],
            tokens=_padded(token_firsts),
            num_tokens=[len(first) for first in token_firsts],
        )

    def read(self, logits: ParseLogits, num_tokens: Sequence[int]) -> list[Parse]:
        """Return the parse of each sentence of a batch."""
        heads = torch.zeros(logits.tags.shape[:2], dtype=torch.long)
        for number, n in enumerate(num_tokens):
            heads[number, :n] = torch.tensor(tree_of(logits.heads[number, :n, :n].numpy()), dtype=torch.long)
        tags, relations = logits.tags.argmax(-1), self.grammar.relations(logits, heads).argmax(-1)
        return [
            Parse(
                tuple(TAGS[tag] for tag in tags[number, :n].tolist()),
                tuple(heads[number, :n].tolist()),
                tuple(RELATIONS[relation] for relation in relations[number, :n].tolist()),
            )
            for number, n in enumerate(num_tokens)
        ]

    def trained_parameters(self) -> dict[str, Tensor]:
        return {name: p for name, p in self.named_parameters() if p.requires_grad}

    def save(self, path: Path, seen: Collection[int]) -> None:
        """Write the trained weights, and the fingerprints of the sentences that they were trained on."""
        trained = {n: p for n, p in self.trained_parameters().items() if self.parses or not n.startswith("grammar.")}
        tensors = {name: p.detach().half().contiguous() for name, p in trained.items()}
        save_file({**tensors, _SEEN: torch.tensor(sorted(seen), dtype=torch.int32)}, str(path))

    def start_from(self, path: Path) -> None:
        """Take the trained weights of a file of the same rank, to train them further."""
        tensors = {name: tensor.float() for name, tensor in _tensors(path).items() if name != _SEEN}
        try:
            unexpected = self.load_state_dict(tensors, strict=False).unexpected_keys
        except RuntimeError as error:
            raise AttributionError(f"the splitter {path} has other sizes: train a new one") from error
        if unexpected:
            raise AttributionError(f"{path} is no splitter ({unexpected[0]}): give a file of propcite train splitter")

    @classmethod
    def load(cls, path: Path, base: str) -> Network:
        """Load a trained network, with its low-rank changes merged into the base."""
        tensors = _tensors(path)
        rank = tensors["encoder.encoder.layer.0.attention.self.query.down"].shape[0]
        network = cls(base, rank)
        seen = tensors.pop(_SEEN, torch.zeros(0, dtype=torch.int32))
        network.seen = frozenset(seen.tolist())
        network.parses = any(name.startswith("grammar.") for name in tensors)
        expected = {name for name in network.trained_parameters() if network.parses or not name.startswith("grammar.")}
        misfits = expected ^ tensors.keys()
        if misfits:
            raise AttributionError(f"the splitter {path} does not fit its base ({sorted(misfits)[0]}): train it again")
        network.load_state_dict({name: t.float() for name, t in tensors.items()}, strict=False)
        for layer in network.encoder.encoder.layer:
            for owner, name in _linears(layer):
                setattr(owner, name, getattr(owner, name).merged())
        return network.eval()


def _tensors(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(str(path))
    except Exception as error:  # safetensors has its own exception types
        raise AttributionError(f"cannot read the splitter {path} ({error}): reinstall PropCite") from error


def _states_at(states: Tensor, places: Tensor) -> Tensor:
    """(b, t, d), (b, n) -> (b, n, d)"""
    return torch.gather(states, 1, places.unsqueeze(-1).expand(-1, -1, states.shape[-1]))


def _padded(rows: Sequence[list[int]]) -> Tensor:
    longest = max([1, *map(len, rows)])
    return torch.tensor([row + [0] * (longest - len(row)) for row in rows])


def _linears(layer: Any) -> list[tuple[Any, str]]:
    attention = layer.attention.self
    return [
        (attention, "query"),
        (attention, "key"),
        (attention, "value"),
        (layer.attention.output, "dense"),
        (layer.intermediate, "dense"),
        (layer.output, "dense"),
    ]


def _first_pieces(offsets: Sequence[tuple[int, int]], words: Sequence[Span]) -> list[int]:
    """Return the position of each word's first piece, after [CLS] and the style's token; fewer if truncated."""
    positions, piece = [], 0
    for word in words:
        while piece < len(offsets) and offsets[piece][1] <= word.start:
            piece += 1
        if piece == len(offsets):
            break
        positions.append(piece + 2)
    return positions
