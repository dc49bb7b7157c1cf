"""How much each token counts: of a query rare words more than common ones, corrected by what the token says here; of a
passage by what its vector says of how much it tells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from propcite.retrieval.errors import EncoderError

if TYPE_CHECKING:
    from propcite.retrieval.encoding.base import Floats

FILE = "salience.safetensors"  # beside a model's own files


def idf(texts: Iterable[npt.NDArray[np.int64]], size: int = 0) -> Floats:
    """Each word's inverse document frequency among texts of word ids, in BM25's form; of at least `size` words.

    >>> [round(float(one), 2) for one in idf([np.array([0, 2, 2]), np.array([0]), np.array([0])])]
    [0.13, 2.08, 0.98]
    """
    seen = np.zeros(size)
    total = 0
    for ids in texts:
        if (missing := int(ids.max(initial=-1)) + 1 - len(seen)) > 0:
            seen = np.pad(seen, (0, missing))
        seen[np.unique(ids)] += 1
        total += 1
    return np.log(1 + (total - seen + 0.5) / (seen + 0.5)).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Salience:
    """A query's token: its rarity x exp(its vector . direction).  (v,) and (d,)

    `rarity` is the square root of a token's inverse document frequency among the sentences seen in training.  `head`
    (d + 1,) is that of passages: a token's rarity x ReLU(vector . weight + bias), the bias last.
    """

    rarity: Floats
    direction: Floats
    head: Floats | None = None

    def of_passage(self, ids: npt.NDArray[np.int64], vectors: Floats) -> Floats:
        """(n,), (n, d) -> (n,)"""
        if self.head is None:
            return self.rarity[ids]
        told: Floats = self.rarity[ids] * np.maximum(vectors @ self.head[:-1] + self.head[-1], 0.0)
        return told

    def __call__(self, ids: npt.NDArray[np.int64], vectors: Floats) -> Floats:
        """(n,), (n, d) -> (n,)"""
        salience: Floats = self.rarity[ids] * np.exp(vectors @ self.direction)
        return salience

    def tensors(self) -> dict[str, Any]:
        import torch

        told = {
            "salience/rarity": torch.from_numpy(self.rarity).half(),
            "salience/direction": torch.from_numpy(self.direction).float(),
        }
        return told if self.head is None else {**told, "salience/head": torch.from_numpy(self.head).float()}

    def write(self, folder: Path) -> None:
        from safetensors.torch import save_file

        save_file(self.tensors(), str(folder / FILE))

    @classmethod
    def of(cls, tensors: dict[str, Any]) -> Salience:
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
            return cls.of(load_file(str(path)))
        except Exception as error:  # safetensors raises its own kinds
            raise EncoderError(f"the tokens' weights {path} cannot be read ({error}): train the model anew") from error
