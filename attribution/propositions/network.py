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
from propcite.retrieval.encoding.loading import hide_progress_bars
from propcite.retrieval.text import Span

RANK = 32
HEAD_WIDTH = 160  # dimensions in which two words are compared
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
    """The network's input: ids and mask (b, t), the position of each word's first piece (b, w), and word counts."""

    ids: Tensor
    mask: Tensor
    first: Tensor
    num_words: list[int]


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


class Network(nn.Module):
    """Computes logits (b, w, w) that word j is in the claim whose own word is i, and logits (b, w, 3) of roles."""

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
        self.seen: frozenset[int] = frozenset()

    def forward(self, batch: SentenceBatch) -> tuple[Tensor, Tensor]:
        states = self.encoder(input_ids=batch.ids, attention_mask=batch.mask).last_hidden_state
        words = torch.gather(states, 1, batch.first.unsqueeze(-1).expand(-1, -1, states.shape[-1]))
        one = torch.ones_like(words[..., :1])
        left = torch.cat([self.holder(words), one], -1)
        right = torch.cat([self.held(words), one], -1)
        positions = torch.arange(words.shape[1], device=words.device)
        distances = (positions[None] - positions[:, None]).clamp(-MAX_DISTANCE, MAX_DISTANCE) + MAX_DISTANCE
        pairs = left @ self.compare @ right.transpose(1, 2) + self.distance(distances).squeeze(-1)
        return pairs, self.role(words)

    def encode(self, sentences: Sequence[str], words: Sequence[Sequence[Span]], styles: Sequence[str]) -> SentenceBatch:
        """Return a batch; words beyond the longest input are not counted in `num_words`."""
        tokenizer = self.tokenizer
        rows, firsts = [], []
        for sentence, spans, style in zip(sentences, words, styles, strict=True):
            encoding = tokenizer(
                _SURROGATES.sub("?", sentence),
                add_special_tokens=False,
                return_offsets_mapping=True,
                truncation=True,
                max_length=MAX_PIECES,
            )
            rows.append([tokenizer.cls_token_id, STYLES[style], *encoding["input_ids"], tokenizer.sep_token_id])
            firsts.append(_first_pieces(encoding["offset_mapping"], spans))
        length, max_words = max(map(len, rows)), max(1, *map(len, firsts))
        return SentenceBatch(
            ids=torch.tensor([row + [0] * (length - len(row)) for row in rows]),
            mask=torch.tensor([[1] * len(row) + [0] * (length - len(row)) for row in rows]),
            first=torch.tensor([first + [0] * (max_words - len(first)) for first in firsts]),
            num_words=[len(first) for first in firsts],
        )

    def trained_parameters(self) -> dict[str, Tensor]:
        return {name: p for name, p in self.named_parameters() if p.requires_grad}

    def save(self, path: Path, seen: Collection[int]) -> None:
        """Write the trained weights, and the fingerprints of the sentences that they were trained on."""
        tensors = {name: p.detach().half().contiguous() for name, p in self.trained_parameters().items()}
        save_file({**tensors, _SEEN: torch.tensor(sorted(seen), dtype=torch.int32)}, str(path))

    @classmethod
    def load(cls, path: Path, base: str) -> Network:
        """Load a trained network, with its low-rank changes merged into the base."""
        try:
            tensors = load_file(str(path))
        except Exception as error:  # safetensors has its own exception types
            raise AttributionError(f"cannot read the splitter {path} ({error}): reinstall PropCite") from error
        rank = tensors["encoder.encoder.layer.0.attention.self.query.down"].shape[0]
        network = cls(base, rank)
        seen = tensors.pop(_SEEN, torch.zeros(0, dtype=torch.int32))
        network.seen = frozenset(seen.tolist())
        misfits = network.trained_parameters().keys() ^ tensors.keys()
        if misfits:
            raise AttributionError(f"the splitter {path} does not fit its base ({sorted(misfits)[0]}): train it again")
        network.load_state_dict({name: t.float() for name, t in tensors.items()}, strict=False)
        for layer in network.encoder.encoder.layer:
            for owner, name in _linears(layer):
                setattr(owner, name, getattr(owner, name).merged())
        return network.eval()


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
