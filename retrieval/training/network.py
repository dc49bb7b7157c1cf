"""The network for queries during training: its token vectors and the weight of each token."""

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
from propcite.retrieval.encoding.trained_networks import MARKERS, apply_difference, sentence_query_weights
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.text import Granularity
from propcite.retrieval.training.passages import EncodedPassages

MAX_QUERY_TOKENS = 64


class QueryNetwork(nn.Module):
    """Turns queries into unit vectors (b, q, d) and token weights (b, q).

    A projection is also applied to passages, whose network is not trained.
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
        self.has_trained_head = False  # whether an earlier training learned the salience of passage tokens

    def load_start(self, start: Path) -> None:
        """Load the network and salience of an earlier training: a difference to the bundled base, or a model folder."""
        from safetensors.torch import load_file

        if start.is_dir():
            weights, salience = sentence_query_weights(start, self.network)
            self.network.load_state_dict(weights)
        else:
            tensors = load_file(str(start))
            apply_difference(self.network, tensors, start)
            salience = Salience.from_tensors(tensors)
        with torch.no_grad():
            self.rarity.copy_(torch.from_numpy(salience.rarity))
            self.direction.copy_(torch.from_numpy(salience.direction))
            self.has_trained_head = salience.head is not None
            if salience.head is not None:
                self.head.copy_(torch.from_numpy(salience.head))

    def forward(self, texts: Sequence[str], level: Granularity) -> tuple[Tensor, Tensor]:
        marked = [MARKERS[level] + text for text in texts]
        inputs = self.tokenizer(marked, padding=True, truncation=True, max_length=MAX_QUERY_TOKENS, return_tensors="pt")
        inputs = {name: t.to(self.rarity.device) for name, t in inputs.items()}
        vectors = self.project(self.network(**inputs).last_hidden_state)
        weights = self.rarity[inputs["input_ids"]] * torch.exp(vectors @ self.direction) * inputs["attention_mask"]
        return vectors, weights

    def project(self, vectors: Tensor) -> Tensor:
        """Return unit vectors, projected if there is a projection.  (.., h) -> (.., d)"""
        return F.normalize(vectors if self.projection is None else vectors @ self.projection.T, dim=-1)

    def passage_salience(self, tokens: Tensor) -> Tensor:
        """Return the salience of passage tokens.  (n, d) -> (n,)"""
        return F.relu(tokens @ self.head[:-1] + self.head[-1])

    def salience(self, *, with_head: bool = False) -> Salience:
        head = self.head.detach().float().cpu().numpy() if with_head else None
        return Salience(self.rarity.float().cpu().numpy(), self.direction.detach().float().cpu().numpy(), head)


def token_rarity(passages: EncodedPassages, tokenizer: Any, size: int) -> Tensor:
    """Return the root of each token's inverse document frequency over sentences; 1 for special tokens."""

    def sentences() -> Iterator[npt.NDArray[np.int64]]:
        for passage in map(passages.passage, range(len(passages))):
            texts = [s.span.of(passage.text) for s in passage.sentences]
            for ids in tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]:
                yield np.array(ids, np.int64)

    weights = np.sqrt(idf(sentences(), size))
    weights[tokenizer.all_special_ids] = 1.0
    return torch.from_numpy(weights)


def principal_directions(passages: EncodedPassages, dimension: int, max_passages: int = 200) -> Tensor:
    """Return the principal directions of a sample of passage tokens, the start of a projection.  -> (dimension, h)"""
    step = max(1, len(passages) // max_passages)
    tokens = np.concatenate([passages.tokens(number).vectors for number in range(0, len(passages), step)])
    if dimension > tokens.shape[1]:
        raise RetrievalError(
            f"the base has only {tokens.shape[1]} numbers per token: give --dimension {tokens.shape[1]} or less"
        )
    _, directions = np.linalg.eigh(tokens.T @ tokens)  # the smallest first
    return torch.from_numpy(np.ascontiguousarray(directions[:, ::-1][:, :dimension].T).astype(np.float32))


def transformer_layers(network: nn.Module) -> nn.ModuleList:
    """Return the transformer's layers from the lowest: the module list with the most parameters."""
    stacks = [m for m in network.modules() if isinstance(m, nn.ModuleList)]
    return max(stacks, key=lambda m: sum(p.numel() for p in m.parameters()))


def unfreeze_top_layers(network: nn.Module, layers: int) -> list[nn.Parameter]:
    """Freeze the network except for its top layers; return the weights of these layers."""
    stack = transformer_layers(network)
    if layers > len(stack):
        raise RetrievalError(f"the base has only {len(stack)} layers: give --layers {len(stack)} or less")
    network.requires_grad_(False)
    trainable = [p for layer in list(stack)[-layers:] for p in layer.parameters()]
    for parameter in trainable:
        parameter.requires_grad_(True)
    return trainable
