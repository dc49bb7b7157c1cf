"""The queries' network while it learns: token vectors, and how much each token counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from propcite.retrieval.encoding.salience import Salience, idf
from propcite.retrieval.encoding.trained_networks import MARKERS, apply_difference, queries_of
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.text import Granularity
from propcite.retrieval.training.passages import Passages

MOST_TOKENS = 64  # of a query that is trained on


class Queries(nn.Module):
    """The network with the salience of its tokens.  Texts to unit vectors (b, q, d) and weights (b, q).

    A projection serves passages too, which have no network that learns.
    """

    def __init__(self, transformer: Any, rarity: Tensor, projection: Tensor | None = None) -> None:
        super().__init__()
        self.tokenizer = transformer.tokenizer
        self.network: Any = transformer.auto_model
        self.network.get_input_embeddings().requires_grad_(False)
        self.rarity = nn.Buffer(rarity)
        self.projection = None if projection is None else nn.Parameter(projection)
        dimension = self.network.config.hidden_size if projection is None else len(projection)
        self.direction = nn.Parameter(torch.zeros(dimension))
        self.head = nn.Parameter(torch.zeros(dimension + 1))  # the bias last
        with torch.no_grad():
            self.head[-1] = 1.0
        self.headed = False  # whether what it began with knew of passages' tokens

    def begin_with(self, start: Path) -> None:
        """The network and salience of a training before: what changed in the bundled base, or a model's folder."""
        from safetensors.torch import load_file

        if start.is_dir():
            weights, salience = queries_of(start, self.network)
            self.network.load_state_dict(weights)
        else:
            tensors = load_file(str(start))
            apply_difference(self.network, tensors, start)
            salience = Salience.of(tensors)
        with torch.no_grad():
            self.rarity.copy_(torch.from_numpy(salience.rarity))
            self.direction.copy_(torch.from_numpy(salience.direction))
            self.headed = salience.head is not None
            if salience.head is not None:
                self.head.copy_(torch.from_numpy(salience.head))

    def forward(self, texts: Sequence[str], level: Granularity) -> tuple[Tensor, Tensor]:
        marked = [MARKERS[level] + text for text in texts]
        read = self.tokenizer(marked, padding=True, truncation=True, max_length=MOST_TOKENS, return_tensors="pt")
        read = {name: t.to(self.rarity.device) for name, t in read.items()}
        vectors = self.projected(self.network(**read).last_hidden_state)
        weights = self.rarity[read["input_ids"]] * torch.exp(vectors @ self.direction) * read["attention_mask"]
        return vectors, weights

    def projected(self, vectors: Tensor) -> Tensor:
        """Unit vectors of the dimension that is compared.  (.., h) -> (.., d)"""
        return F.normalize(vectors if self.projection is None else vectors @ self.projection.T, dim=-1)

    def of_passages(self, tokens: Tensor) -> Tensor:
        """The salience of passages' tokens.  (n, d) -> (n,)"""
        return F.relu(tokens @ self.head[:-1] + self.head[-1])

    def salience(self, *, with_head: bool = False) -> Salience:
        head = self.head.detach().float().cpu().numpy() if with_head else None
        return Salience(self.rarity.float().cpu().numpy(), self.direction.detach().float().cpu().numpy(), head)


def rarity(passages: Passages, tokenizer: Any, size: int) -> Tensor:
    """The square root of each token's inverse document frequency, a sentence being a document; special ones get 1."""

    def sentences() -> Iterator[npt.NDArray[np.int64]]:
        for passage in map(passages.passage, range(len(passages))):
            texts = [s.span.of(passage.text) for s in passage.sentences]
            for ids in tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]:
                yield np.array(ids, np.int64)

    weights = np.sqrt(idf(sentences(), size))
    weights[tokenizer.all_special_ids] = 1.0
    return torch.from_numpy(weights)


def principal(passages: Passages, dimension: int, most: int = 200) -> Tensor:
    """The directions that hold most of some passages' tokens, where a projection begins.  -> (dimension, h)"""
    step = max(1, len(passages) // most)
    tokens = np.concatenate([passages.tokens(number).vectors for number in range(0, len(passages), step)])
    if dimension > tokens.shape[1]:
        raise RetrievalError(f"the base has {tokens.shape[1]} numbers a token: a projection to {dimension} adds none")
    _, directions = np.linalg.eigh(tokens.T @ tokens)  # the smallest first
    return torch.from_numpy(np.ascontiguousarray(directions[:, ::-1][:, :dimension].T).astype(np.float32))


def layers_of(network: nn.Module) -> nn.ModuleList:
    """The transformer's layers, from the lowest: the largest of its lists."""
    stacks = [m for m in network.modules() if isinstance(m, nn.ModuleList)]
    return max(stacks, key=lambda m: sum(p.numel() for p in m.parameters()))


def top_layers(network: nn.Module, layers: int) -> list[nn.Parameter]:
    """The weights of the last layers, which alone learn."""
    stack = layers_of(network)
    if layers > len(stack):
        raise RetrievalError(f"the base has {len(stack)} layers: {layers} cannot learn")
    network.requires_grad_(False)
    learned = [p for layer in list(stack)[-layers:] for p in layer.parameters()]
    for parameter in learned:
        parameter.requires_grad_(True)
    return learned
