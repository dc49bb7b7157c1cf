"""The passages of a training set, encoded once by the base, kept on disk: half a gigabyte for a million tokens or so.

Blocks are written one after the other and kept, so an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import itertools
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Ints, TokenVectors
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.retriever import Split
from propcite.retrieval.saving import telling, written
from propcite.retrieval.text import Passage, Span
from propcite.retrieval.training.rows import Row, as_passage

BLOCK = 128  # passages of one file
INDEX_BITS = 4  # a number of the index that negatives are found by

_Told = tuple[tuple[Span, ...], str]  # a proposition's places in its passage, and its words


@dataclass(frozen=True, slots=True)
class Units:
    """Pieces of a passage as token numbers, one after the other, and the sentence that each belongs to."""

    members: Ints
    lengths: Ints
    sentences: Ints


class Passages:
    """Passages by title and sentences, each with its token vectors, its sentences and its propositions."""

    def __init__(self, rows: Sequence[Row], encoder: Encoder, folder: Path, split: Split) -> None:
        self.encoder, self._split = encoder, split
        self._passages = [as_passage(*key) for key in dict.fromkeys(row.passage for row in rows)]
        self._numbers = {key: i for i, key in enumerate(dict.fromkeys(row.passage for row in rows))}
        digest = hashlib.sha256(encoder.name.encode())
        for passage in self._passages:
            digest.update(f"{passage.title}\0{passage.text}\0{len(passage.sentences)}\0".encode(errors="replace"))
        self._folder = folder / f"passages-{digest.hexdigest()[:12]}"
        self._blocks: dict[int, tuple[npt.NDArray[np.float16], npt.NDArray[np.int32], Ints]] = {}
        self._told: dict[int, list[list[_Told]]] = {}

    def __len__(self) -> int:
        return len(self._passages)

    @property
    def num_blocks(self) -> int:
        return -(-len(self) // BLOCK)

    def encode(self, report: Callable[[str], None] = lambda _: None) -> None:
        """Encode what is not there yet."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for block in range(self.num_blocks):
            if not self._path(block).exists():
                self._write(block)
            report("encoding passages")

    @cached_property
    def index(self) -> TokenIndex:
        """An index of them all, each by its number, kept beside their vectors; one that is damaged is made anew."""
        folder = self._folder / "index"
        try:
            index = TokenIndex.load(folder, self.encoder.name)
        except IndexFormatError:
            shutil.rmtree(folder, ignore_errors=True)
            index = TokenIndex(self.encoder.dimension, self.encoder.name, bits=INDEX_BITS)
            for start in range(0, len(self), BLOCK):
                numbers = range(start, min(start + BLOCK, len(self)))
                held = [replace(self._passages[n], id=str(n)) for n in numbers]
                index.add(held, [self.tokens(n) for n in numbers])
        with telling(folder):
            index.save(folder)  # an interrupt may have come between its passages and what finds them fast
        return index

    def _path(self, block: int) -> Path:
        return self._folder / f"{block:05}.npy"

    def _write(self, block: int) -> None:
        encoded = self.encoder.encode_passages(self._passages[block * BLOCK : (block + 1) * BLOCK])
        path = self._path(block)
        _save(path.with_suffix(".lengths.npy"), np.array([len(t) for t in encoded]))
        _save(path.with_suffix(".offsets.npy"), np.concatenate([t.offsets for t in encoded]))
        vectors = np.concatenate([t.vectors for t in encoded]).astype(np.float16)
        _save(path, vectors)  # last, so that a block that is there is whole

    def number(self, row: Row) -> int:
        return self._numbers[row.passage]

    def asked(self, rows: Iterable[Row]) -> dict[int, list[Row]]:
        """The rows by the passage that they ask of."""
        found: dict[int, list[Row]] = {}
        for row in rows:
            found.setdefault(self.number(row), []).append(row)
        return found

    def tokens(self, number: int) -> TokenVectors:
        block, place = divmod(number, BLOCK)
        if block not in self._blocks:
            path = self._path(block)
            lengths = np.load(path.with_suffix(".lengths.npy"))
            self._blocks[block] = (
                np.load(path, mmap_mode="r"),
                np.load(path.with_suffix(".offsets.npy")),
                np.concatenate([[0], np.cumsum(lengths)]),
            )
        vectors, offsets, starts = self._blocks[block]
        held = slice(int(starts[place]), int(starts[place + 1]))
        return TokenVectors(vectors[held].astype(np.float32), offsets[held])

    def sentences(self, number: int) -> Units:
        passage, tokens = self._passages[number], self.tokens(number)
        masks = [tokens.within([s.span]) for s in passage.sentences]
        return _units(masks, range(len(masks)))

    def propositions(self, number: int) -> Units:
        tokens = self.tokens(number)
        told = self._propositions(number)
        flat = [(i, spans) for i, found in enumerate(told) for spans, _ in found]
        return _units([tokens.within(spans) for _, spans in flat], [i for i, _ in flat])

    def claims(self, number: int) -> list[list[str]]:
        """The words of each sentence's propositions."""
        return [[text for _, text in found] for found in self._propositions(number)]

    def _propositions(self, number: int) -> list[list[_Told]]:
        if number not in self._told:
            passage = self._passages[number]
            places = [s.span for s in passage.sentences]
            texts = [place.of(passage.text) for place in places]
            self._told[number] = [
                [
                    (tuple(span.shifted(place.start) for span in spans), " ".join(span.of(text) for span in spans))
                    for spans in found
                ]
                for place, text, found in zip(places, texts, self._split(texts), strict=True)
            ]
        return self._told[number]

    def passage(self, number: int) -> Passage:
        return self._passages[number]


def _units(masks: Sequence[npt.NDArray[np.bool_]], sentences: Sequence[int] | range) -> Units:
    """Those of the units that hold a token."""
    found = [(np.flatnonzero(mask), sentence) for mask, sentence in zip(masks, sentences, strict=True) if mask.any()]
    return Units(
        np.fromiter(itertools.chain.from_iterable(members for members, _ in found), np.int64),
        np.array([len(members) for members, _ in found], np.int64),
        np.array([sentence for _, sentence in found], np.int64),
    )


def _save(path: Path, numbers: npt.NDArray[Any]) -> None:
    with written(path) as new, new.open("wb") as file:
        np.save(file, numbers)
