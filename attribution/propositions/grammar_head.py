"""The head that reads the grammar of tokens from their states: tags, heads, relations.

This module imports torch: import it only where it is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from propcite.attribution.propositions.parses import RELATIONS, TAGS, Parse, tree_of

MAX_DISTANCE = 32  # between words; larger distances count as this one


@dataclass(frozen=True, slots=True)
class ParseLogits:
    """Logits of each token's tag (b, g, tags), head (b, g, g), and its relation to any head."""

    tags: Tensor
    heads: Tensor
    below: Tensor
    above: Tensor


class Grammar(nn.Module):
    """Reads the grammar from the states of tokens: tags, heads, relations."""

    def __init__(self, states_width: int, width: int) -> None:
        super().__init__()
        self.tag = nn.Linear(states_width, len(TAGS))
        self.below = nn.Sequential(nn.Linear(states_width, width), nn.GELU())
        self.above = nn.Sequential(nn.Linear(states_width, width), nn.GELU())
        self.head = nn.Parameter(0.02 * torch.randn(width + 1, width + 1))
        self.distance = nn.Embedding(2 * MAX_DISTANCE + 1, 1)
        nn.init.zeros_(self.distance.weight)
        self.relation = nn.Linear(2 * width, len(RELATIONS))

    def forward(self, tokens: Tensor) -> ParseLogits:
        below, above = self.below(tokens), self.above(tokens)
        one = torch.ones_like(below[..., :1])
        heads = torch.cat([below, one], -1) @ self.head @ torch.cat([above, one], -1).transpose(1, 2)
        return ParseLogits(self.tag(tokens), heads + by_distance(self.distance, tokens), below, above)

    def relations(self, logits: ParseLogits, heads: Tensor) -> Tensor:
        """Return logits (b, g, relations) of each token's relation to the head with the given number (b, g)."""
        above = torch.gather(logits.above, 1, heads.unsqueeze(-1).expand(-1, -1, logits.above.shape[-1]))
        return torch.as_tensor(self.relation(torch.cat([logits.below, above], -1)))

    def read(self, logits: ParseLogits, num_tokens: Sequence[int]) -> list[Parse]:
        """Return the parse of each sentence of a batch."""
        heads = torch.zeros(logits.tags.shape[:2], dtype=torch.long)
        scores = logits.heads.cpu().numpy()
        for number, n in enumerate(num_tokens):
            heads[number, :n] = torch.tensor(tree_of(scores[number, :n, :n]), dtype=torch.long)
        tags = logits.tags.argmax(-1).tolist()
        relations = self.relations(logits, heads.to(logits.above.device)).argmax(-1).tolist()
        return [
            Parse(
                tuple(TAGS[tag] for tag in tags[number][:n]),
                tuple(heads[number, :n].tolist()),
                tuple(RELATIONS[relation] for relation in relations[number][:n]),
            )
            for number, n in enumerate(num_tokens)
        ]


def by_distance(weights: nn.Embedding, words: Tensor) -> Tensor:
    """Return what the distance adds to the score of each two words.  (b, w, …) -> (w, w)"""
    positions = torch.arange(words.shape[1], device=words.device)
    distances = (positions[None] - positions[:, None]).clamp(-MAX_DISTANCE, MAX_DISTANCE) + MAX_DISTANCE
    return torch.as_tensor(weights(distances)).squeeze(-1)
