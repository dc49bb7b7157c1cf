"""Token vectors as the engines get them: plain files that grow in chunks, and the corpora cut from them.

Needs numpy alone, so that an engine in an environment of its own reads the same files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

HEAD = -1  # the sentence of tokens that belong to none: special tokens and the title's
PROGRESS = "progress.json"
SENTENCES = 4096  # a passage's sentences have the numbers passage * SENTENCES + sentence

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Passages' tokens in order, each passage's by sentence, its head first.

    vectors (n, d) float16; offsets (n, 2) characters; owners (n,) the sentence of each token or HEAD; starts (p + 1,)
    into tokens; sources (p,) the number of the text that each passage has, among the texts of the folder `texts`.
    """

    vectors: Array
    offsets: Array
    owners: Array
    starts: Array
    sources: Array
    texts: Path | None = None

    @property
    def dimension(self) -> int:
        return int(self.vectors.shape[1])

    @property
    def tokens(self) -> int:
        return len(self.vectors)

    def __len__(self) -> int:
        return len(self.sources)

    def blocks(self, most: int) -> Iterator[tuple[int, int]]:
        """Runs of whole passages of at most `most` tokens, or of one longer passage: first, last (excluded)."""
        first = 0
        while first < len(self):
            last = int(np.searchsorted(self.starts, self.starts[first] + most, side="right")) - 1
            last = max(first + 1, last)
            yield first, last
            first = last

    def tokens_of(self, first: int, last: int) -> slice:
        return slice(int(self.starts[first]), int(self.starts[last]))

    def passage_of_each(self) -> npt.NDArray[np.int32]:
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts))

    def first(self, tokens: int) -> Corpus:
        """As many passages as hold these tokens."""
        last = min(len(self), int(np.searchsorted(self.starts, tokens)))
        end = int(self.starts[last])
        of_tokens = (self.vectors[:end], self.offsets[:end], self.owners[:end])
        return Corpus(*of_tokens, self.starts[: last + 1], self.sources[:last], self.texts)


class Store:
    """A folder of growing files.  What a chunk had written before it was cut off is written over by the next."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self.folder = folder
        self.dimension = dimension
        self._kinds: Mapping[str, tuple[str, tuple[int, ...]]] = {
            "vectors": ("<f2", (dimension,)),
            "offsets": ("<i4", (2,)),
            "owners": ("<i2", ()),
            "lengths": ("<i4", ()),
            "sources": ("<i4", ()),
        }
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / PROGRESS
        done = json.loads(path.read_text("utf-8")) if path.exists() else {}
        self.passages: int = done.get("passages", 0)
        self.tokens: int = done.get("tokens", 0)

    def append(self, **chunk: Array) -> None:
        """Some passages' tokens at once: they count when all files hold them."""
        for name, (kind, shape) in self._kinds.items():
            path = self.folder / f"{name}.bin"
            path.touch()
            with path.open("r+b") as file:
                count = self.passages if name in ("lengths", "sources") else self.tokens
                file.seek(count * np.dtype(kind).itemsize * int(np.prod(shape)))
                file.write(np.ascontiguousarray(chunk[name], dtype=kind).tobytes())
                file.truncate()
        self.passages += len(chunk["lengths"])
        self.tokens += len(chunk["vectors"])
        waiting = self.folder / f"{PROGRESS}.new"
        waiting.write_text(json.dumps({"passages": self.passages, "tokens": self.tokens}), "utf-8")
        waiting.replace(self.folder / PROGRESS)

    def corpus(self, texts: Path | None = None) -> Corpus:
        """What is there, the files mapped."""
        lengths = self._mapped("lengths", self.passages)
        starts = np.zeros(self.passages + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        return Corpus(
            self._mapped("vectors", self.tokens),
            self._mapped("offsets", self.tokens),
            self._mapped("owners", self.tokens),
            starts,
            np.array(self._mapped("sources", self.passages)),
            texts,
        )

    def _mapped(self, name: str, count: int) -> Array:
        kind, shape = self._kinds[name]
        return np.memmap(self.folder / f"{name}.bin", dtype=kind, mode="r", shape=(count, *shape))


@dataclass(frozen=True, slots=True)
class Queries:
    """Queries' token vectors, (n, d) float32 together; `starts` (q + 1,) says where each begins."""

    vectors: Array
    starts: Array

    def __len__(self) -> int:
        return len(self.starts) - 1

    def each(self) -> list[Array]:
        pairs = zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True)
        return [np.ascontiguousarray(self.vectors[a:b]) for a, b in pairs]

    def first(self, count: int) -> Queries:
        count = min(count, len(self))
        return Queries(self.vectors[: int(self.starts[count])], self.starts[: count + 1])

    def save(self, path: Path) -> None:
        np.savez(path, vectors=self.vectors, starts=self.starts)

    @staticmethod
    def load(path: Path) -> Queries:
        with np.load(path) as kept:
            return Queries(kept["vectors"], kept["starts"])
