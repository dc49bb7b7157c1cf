"""The passages of a training set with their token vectors on disk: about half a gigabyte for a million tokens.

The base encodes each passage once, in blocks; an interrupted run goes on with the next block.
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
from propcite.retrieval.saving import atomic_write, write_errors
from propcite.retrieval.text import Passage, Span
from propcite.retrieval.training.rows import Row, as_passage

PASSAGES_PER_BLOCK = 128
INDEX_BITS = 4  # per number, in the index for hard negatives

_Proposition = tuple[tuple[Span, ...], str]  # its spans in the passage, and its text


@dataclass(frozen=True, slots=True)
class Units:
    """The sentences or propositions of a passage: the token numbers of all, their lengths and sentence numbers."""

    members: Ints
    lengths: Ints
    sentences: Ints


class EncodedPassages:
    """Passages by title and sentences, each with its token vectors, sentences and propositions."""

    def __init__(self, rows: Sequence[Row], encoder: Encoder, folder: Path, split: Split) -> None:
        self.encoder, self._split = encoder, split
        self._passages = [as_passage(*key) for key in dict.fromkeys(row.passage for row in rows)]
        self._numbers = {key: i for i, key in enumerate(dict.fromkeys(row.passage for row in rows))}
        digest = hashlib.sha256(encoder.name.encode())
        for passage in self._passages:
            digest.update(f"{passage.title}\0{passage.text}\0{len(passage.sentences)}\0".encode(errors="replace"))
        self._folder = folder / f"passages-{digest.hexdigest()[:12]}"
        self._blocks: dict[int, tuple[npt.NDArray[np.float16], npt.NDArray[np.int32], Ints]] = {}
        self._propositions: dict[int, list[list[_Proposition]]] = {}

    def __len__(self) -> int:
        return len(self._passages)

    @property
    def num_blocks(self) -> int:
        return -(-len(self) // PASSAGES_PER_BLOCK)

    def encode(self, progress: Callable[[str], None] = lambda _: None) -> None:
        """Encode the blocks that are not on disk yet; `progress` is called after each block."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for block in range(self.num_blocks):
            if not self._path(block).exists():
                self._encode_block(block)
            progress("encoding passages")

    @cached_property
    def index(self) -> TokenIndex:
        """An index of all passages by number, stored beside their vectors; a damaged one is built again."""
        folder = self._folder / "index"
        try:
            index = TokenIndex.load(folder, self.encoder.name)
        except IndexFormatError:
            shutil.rmtree(folder, ignore_errors=True)
            index = TokenIndex(self.encoder.dimension, self.encoder.name, bits=INDEX_BITS)
            for start in range(0, len(self), PASSAGES_PER_BLOCK):
                numbers = range(start, min(start + PASSAGES_PER_BLOCK, len(self)))
                block = [replace(self._passages[n], id=str(n)) for n in numbers]
                index.add(block, [self.tokens(n) for n in numbers])
        with write_errors(folder):
            index.save(folder)  # also a loaded one: an interrupt may have left it without its search structure
        return index

    def _path(self, block: int) -> Path:
        return self._folder / f"{block:05}.npy"

    def _encode_block(self, block: int) -> None:
        start = block * PASSAGES_PER_BLOCK
        encoded = self.encoder.encode_passages(self._passages[start : start + PASSAGES_PER_BLOCK])
        path = self._path(block)
        _save_array(path.with_suffix(".lengths.npy"), np.array([len(t) for t in encoded]))
        _save_array(path.with_suffix(".offsets.npy"), np.concatenate([t.offsets for t in encoded]))
        vectors = np.concatenate([t.vectors for t in encoded]).astype(np.float16)
        _save_array(path, vectors)  # last: a block that has this file is complete

    def number(self, row: Row) -> int:
        return self._numbers[row.passage]

    def rows_by_passage(self, rows: Iterable[Row]) -> dict[int, list[Row]]:
        groups: dict[int, list[Row]] = {}
        for row in rows:
            groups.setdefault(self.number(row), []).append(row)
        return groups

    def tokens(self, number: int) -> TokenVectors:
        block, place = divmod(number, PASSAGES_PER_BLOCK)
        if block not in self._blocks:
            path = self._path(block)
            lengths = np.load(path.with_suffix(".lengths.npy"))
            self._blocks[block] = (
                np.load(path, mmap_mode="r"),
                np.load(path.with_suffix(".offsets.npy")),
                np.concatenate([[0], np.cumsum(lengths)]),
            )
        vectors, offsets, starts = self._blocks[block]
        own = slice(int(starts[place]), int(starts[place + 1]))
        return TokenVectors(vectors[own].astype(np.float32), offsets[own])

    def sentences(self, number: int) -> Units:
        passage, tokens = self._passages[number], self.tokens(number)
        masks = [tokens.within([s.span]) for s in passage.sentences]
        return _units(masks, range(len(masks)))

    def propositions(self, number: int) -> Units:
        tokens = self.tokens(number)
        flat = [(i, spans) for i, group in enumerate(self._split_passage(number)) for spans, _ in group]
        return _units([tokens.within(spans) for _, spans in flat], [i for i, _ in flat])

    def claims(self, number: int) -> list[list[str]]:
        """Return the texts of each sentence's propositions."""
        return [[text for _, text in group] for group in self._split_passage(number)]

    def _split_passage(self, number: int) -> list[list[_Proposition]]:
        if number not in self._propositions:
            passage = self._passages[number]
            sentences = [s.span for s in passage.sentences]
            texts = [sentence.of(passage.text) for sentence in sentences]
            self._propositions[number] = [
                [
                    (tuple(span.shifted(sentence.start) for span in spans), " ".join(span.of(text) for span in spans))
                    for spans in propositions
                ]
                for sentence, text, propositions in zip(sentences, texts, self._split(texts), strict=True)
            ]
        return self._propositions[number]

    def passage(self, number: int) -> Passage:
        return self._passages[number]


def _units(masks: Sequence[npt.NDArray[np.bool_]], sentences: Sequence[int] | range) -> Units:
    """Build units from token masks; those without a token are left out."""
    units = [(np.flatnonzero(mask), sentence) for mask, sentence in zip(masks, sentences, strict=True) if mask.any()]
    return Units(
        np.fromiter(itertools.chain.from_iterable(members for members, _ in units), np.int64),
        np.array([len(members) for members, _ in units], np.int64),
        np.array([sentence for _, sentence in units], np.int64),
    )


def _save_array(path: Path, array: npt.NDArray[Any]) -> None:
    with atomic_write(path) as new, new.open("wb") as file:
        np.save(file, array)
