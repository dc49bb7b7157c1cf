"""Weigh tokens by salience: their rarity, corrected by what their vectors tell about the context."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from propcite.retrieval.encoding.base import Floats, Ids
from propcite.retrieval.errors import EncoderError

SALIENCE_FILE = "salience.safetensors"  # beside a model's own files


def idf(texts: Iterable[Ids], size: int = 0) -> Floats:
    """Return the inverse document frequency, in BM25's form, of each word id; at least `size` of them.

    >>> [round(float(one), 2) for one in idf([np.array([0, 2, 2]), np.array([0]), np.array([0])])]
    [0.13, 2.08, 0.98]
    """
    counts = np.zeros(size)
    total = 0
    for ids in texts:
        if (missing := int(ids.max(initial=-1)) + 1 - len(counts)) > 0:
            counts = np.pad(counts, (0, missing))
        counts[np.unique(ids)] += 1
        total += 1
    return np.log(1 + (total - counts + 0.5) / (counts + 0.5)).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Salience:
    """Weights for tokens: `rarity` (v,) per vocabulary id, `direction` (d,) for queries, `head` (d + 1,) for passages.

    `rarity` is the square root of a token's inverse document frequency among the sentences of the training.  The last
    number of `head` is its bias; without a head a passage's token weighs its rarity.
    """

    rarity: Floats
    direction: Floats
    head: Floats | None = None

    def of_query(self, ids: Ids, vectors: Floats) -> Floats:
        """Return rarity * exp(vector . direction) per token.  (n,), (n, d) -> (n,)"""
        salience: Floats = self.rarity[ids] * np.exp(vectors @ self.direction)
        return salience

    def of_passage(self, ids: Ids, vectors: Floats) -> Floats:
        """Return rarity * ReLU(vector . weights + bias) per token.  (n,), (n, d) -> (n,)"""
        if self.head is None:
            return self.rarity[ids]
        salience: Floats = self.rarity[ids] * np.maximum(vectors @ self.head[:-1] + self.head[-1], 0.0)
        return salience

    def tensors(self) -> dict[str, Any]:
        """Return the weights by their names in a file."""
        import torch

        tensors = {
            "salience/rarity": torch.from_numpy(self.rarity).half(),
            "salience/direction": torch.from_numpy(self.direction).float(),
        }
        return tensors if self.head is None else {**tensors, "salience/head": torch.from_numpy(self.head).float()}

    def write(self, folder: Path) -> None:
        from safetensors.torch import save_file

        save_file(self.tensors(), str(folder / SALIENCE_FILE))

    @classmethod
    def from_tensors(cls, tensors: dict[str, Any]) -> Salience:
        head = tensors.get("salience/head")
        return cls(
            tensors["salience/rarity"].float().numpy(),
            tensors["salience/direction"].float().numpy(),
            None if head is None else head.float().numpy(),
        )

    @classmethod
    def read(cls, path: Path) -> Salience:
        from safetensors.torch import load_file

        try:
            return cls.from_tensors(load_file(str(path)))
        except Exception as error:  # safetensors raises its own kinds
            raise EncoderError(f"the salience {path} cannot be read ({error}): train the model again") from error
