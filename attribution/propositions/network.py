"""The learned splitter's network: MiniLM with low-rank changes, a pair of words to one claim, a word to its role.

Torch and transformers load with this module: whoever needs them imports it late.
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
from propcite.retrieval.encoding.checkpoints import quiet
from propcite.retrieval.text import Span

RANK = 32
HEAD = 160  # the width in which two words are compared
FAR = 32  # words apart from which distance no longer counts
LONGEST = 250  # word pieces of a sentence that are read
ROLES = 3  # of a word: in no claim, one claim's own, shared by several
OWN = 1
STYLES = {
    "atomic": 1,
    "span": 2,
    "any": 3,
    "clause": 4,
}  # the vocabulary's unused tokens: how finely the annotators split


_HALVES = re.compile("[\ud800-\udfff]")  # of a pair: no text to a tokenizer
_SEEN = "seen"  # the name under which a file keeps the fingerprints


def fingerprint(sentence: str) -> int:
    """A number by which a sentence is known again, however its marks are spaced."""
    letters = "".join(char for char in sentence.lower() if char.isalnum())
    return int.from_bytes(hashlib.sha256(letters.encode(errors="replace")).digest()[:4], signed=True)


@dataclass(frozen=True, slots=True)
class Sentences:
    """A batch as the network reads it: ids and mask (b, t), the first piece of each word (b, w), words of each."""

    ids: Tensor
    mask: Tensor
    first: Tensor
    num_words: list[int]


class LowRank(nn.Module):
    """A linear layer that is not trained, plus a trained change of low rank.  (…, in) -> (…, out)"""

    def __init__(self, linear: nn.Linear, rank: int) -> None:
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        changed: Tensor = self.linear(x) + 2.0 * (x @ self.down.T) @ self.up.T
        return changed

    def merged(self) -> nn.Linear:
        self.linear.weight.data += 2.0 * self.up.data @ self.down.data
        return self.linear


class Network(nn.Module):
    """From a sentence to (b, w, w) logits that word j is in the claim whose own word is i, and (b, w, 3) of roles."""

    def __init__(self, base: str, rank: int = RANK) -> None:
        super().__init__()
        quiet()
        self.tokenizer: Any = AutoTokenizer.from_pretrained(base)
        self.encoder: Any = AutoModel.from_pretrained(base).requires_grad_(False)
        for layer in self.encoder.encoder.layer:
            for owner, name in _linears(layer):
                setattr(owner, name, LowRank(getattr(owner, name), rank))
        width = self.encoder.config.hidden_size
        self.holder = nn.Sequential(nn.Linear(width, HEAD), nn.GELU())
        self.held = nn.Sequential(nn.Linear(width, HEAD), nn.GELU())
        self.compare = nn.Parameter(0.02 * torch.randn(HEAD + 1, HEAD + 1))
        self.distance = nn.Embedding(2 * FAR + 1, 1)
        nn.init.zeros_(self.distance.weight)
        self.role = nn.Linear(width, ROLES)
        self.seen: frozenset[int] = frozenset()

    def forward(self, batch: Sentences) -> tuple[Tensor, Tensor]:
        states = self.encoder(input_ids=batch.ids, attention_mask=batch.mask).last_hidden_state
        words = torch.gather(states, 1, batch.first.unsqueeze(-1).expand(-1, -1, states.shape[-1]))
        one = torch.ones_like(words[..., :1])
        left = torch.cat([self.holder(words), one], -1)
        right = torch.cat([self.held(words), one], -1)
        places = torch.arange(words.shape[1], device=words.device)
        apart = (places[None] - places[:, None]).clamp(-FAR, FAR) + FAR
        pairs = left @ self.compare @ right.transpose(1, 2) + self.distance(apart).squeeze(-1)
        return pairs, self.role(words)

    def read(self, sentences: Sequence[str], words: Sequence[Sequence[Span]], styles: Sequence[str]) -> Sentences:
        """Words whose pieces do not fit are not among `num_words`."""
        tokenizer = self.tokenizer
        rows, firsts = [], []
        for sentence, spans, style in zip(sentences, words, styles, strict=True):
            read = tokenizer(
                _HALVES.sub("?", sentence),
                add_special_tokens=False,
                return_offsets_mapping=True,
                truncation=True,
                max_length=LONGEST,
            )
            rows.append([tokenizer.cls_token_id, STYLES[style], *read["input_ids"], tokenizer.sep_token_id])
            firsts.append(_first_pieces(read["offset_mapping"], spans))
        length, most = max(map(len, rows)), max(1, *map(len, firsts))
        return Sentences(
            ids=torch.tensor([row + [0] * (length - len(row)) for row in rows]),
            mask=torch.tensor([[1] * len(row) + [0] * (length - len(row)) for row in rows]),
            first=torch.tensor([first + [0] * (most - len(first)) for first in firsts]),
            num_words=[len(first) for first in firsts],
        )

    def trained(self) -> dict[str, Tensor]:
        return {name: p for name, p in self.named_parameters() if p.requires_grad}

    def save(self, path: Path, seen: Collection[int]) -> None:
        """The trained weights, and the fingerprints of the sentences that they were learned from."""
        tensors = {name: p.detach().half().contiguous() for name, p in self.trained().items()}
        save_file({**tensors, _SEEN: torch.tensor(sorted(seen), dtype=torch.int32)}, str(path))

    @classmethod
    def load(cls, path: Path, base: str) -> Network:
        """The trained network, its low-rank changes merged into the base."""
        try:
            tensors = load_file(str(path))
        except Exception as error:  # safetensors raises its own kinds
            raise AttributionError(f"the splitter {path} cannot be read ({error}): reinstall PropCite") from error
        rank = tensors["encoder.encoder.layer.0.attention.self.query.down"].shape[0]
        network = cls(base, rank)
        seen = tensors.pop(_SEEN, torch.zeros(0, dtype=torch.int32))
        network.seen = frozenset(seen.tolist())
        missing = network.trained().keys() ^ tensors.keys()
        if missing:
            raise AttributionError(f"the splitter {path} does not fit its base ({sorted(missing)[0]}): train it anew")
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
    """The place of each word's first piece behind [CLS] and the style's token; shorter where the text was cut."""
    places, piece = [], 0
    for word in words:
        while piece < len(offsets) and offsets[piece][1] <= word.start:
            piece += 1
        if piece == len(offsets):
            break
        places.append(piece + 2)
    return places
