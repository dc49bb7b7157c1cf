"""The exact index: MaxSim against every token, in blocks, over memory-mapped float16 segments.

No build and no approximation; its cost grows with the collection (`stats` says how large it is).
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from retrieval.encoder import Floats, TokenVectors
from retrieval.errors import IndexFormatError
from retrieval.granularity import Ints, best_matches, joined
from retrieval.index import IndexHit, IndexStats
from retrieval.index.segment import (
    HEAD,
    Segment,
    build_segment,
    durable,
    join_segments,
    read_segment,
    segment_exists,
    write_segment,
)
from retrieval.text import Granularity, Passage

FORMAT = 1
MANIFEST = "manifest.json"
BLOCK_TOKENS = 16_384  # float32 block of 24 MB at 384 dimensions: large enough for the matrix product, small in memory
MOST_SEGMENTS = 16  # more are joined into one when saving
MOST_DELETED = 0.3  # the share of deleted passages above which saving rewrites the rest


@dataclass(slots=True, eq=False)
class _Part:
    """A segment with its deletions; `name` is empty until it is on disk."""

    segment: Segment
    kept: npt.NDArray[np.bool_]
    name: str = ""

    @property
    def num_kept(self) -> int:
        return int(self.kept.sum())


class ExactIndex:
    """Every score is the exact one.  Passages are found by id; an id is used once until it is deleted."""

    engine = "exact"

    def __init__(self, dimension: int, encoder: str) -> None:
        self.dimension = dimension
        self.encoder = encoder
        self._parts: list[_Part] = []
        self._places: dict[str, tuple[_Part, int]] = {}
        self._version = ""

    @classmethod
    def load(cls, folder: Path, encoder: str = "") -> ExactIndex:
        """The index in this folder; with `encoder`, only if that encoder made it."""
        manifest = _read_manifest(folder)
        if encoder and manifest["encoder"] != encoder:
            raise IndexFormatError(
                f"the index was made by {manifest['encoder']}, the encoder is {encoder}: run propcite reindex"
            )
        try:
            return cls._read(folder, manifest)
        except IndexFormatError:
            if _read_manifest(folder) == manifest:
                raise
            return cls.load(folder, encoder)  # a writer has replaced the segments since the manifest was read

    @classmethod
    def _read(cls, folder: Path, manifest: dict[str, Any]) -> ExactIndex:
        index = cls(manifest["dimension"], manifest["encoder"])
        for entry in manifest["segments"]:
            segment = read_segment(folder, entry["name"], index.dimension)
            kept = np.ones(len(segment), dtype=bool)
            kept[entry["deleted"]] = False
            index._attach(_Part(segment, kept, entry["name"]))
        return index

    def add(self, passages: Sequence[Passage], vectors: Sequence[TokenVectors]) -> None:
        """Make passages searchable.  Nothing is on disk before `save`."""
        if not passages:
            return
        for passage, tokens in zip(passages, vectors, strict=True):
            self._check(passage, tokens)
        for i, times in Counter(p.id for p in passages).items():
            if times > 1 or i in self._places:
                raise ValueError(f"passage {i!r} is in the index already: delete it first")
        self._attach(_Part(build_segment(passages, vectors), np.ones(len(passages), dtype=bool)))

    def _check(self, passage: Passage, tokens: TokenVectors) -> None:
        if not len(tokens):
            raise ValueError(f"passage {passage.id!r} has no token")
        if passage.id.endswith("\0"):
            raise ValueError(f"passage id {passage.id!r} ends with a NUL character, which arrays of strings drop")
        if tokens.vectors.shape[1] != self.dimension:
            raise ValueError(f"wanted vectors of {self.dimension} dimensions, got {tokens.vectors.shape[1]}")
        if not np.isfinite(tokens.vectors).all():
            raise ValueError(f"passage {passage.id!r} has a vector that is not a number")

    def _attach(self, part: _Part) -> None:
        self._version = ""
        self._parts.append(part)
        for number in np.flatnonzero(part.kept):
            self._places[str(part.segment.ids[number])] = (part, int(number))

    def delete(self, ids: Collection[str]) -> int:
        """Forget passages; unknown ids are passed over.  -> how many were there"""
        known = [i for i in dict.fromkeys(ids) if i in self._places]
        for i in known:
            part, number = self._places.pop(i)
            part.kept[number] = False
            self._version = ""
        return len(known)

    def ids(self) -> set[str]:
        return set(self._places)

    @property
    def version(self) -> str:
        if not self._version:
            known = "\0".join([self.encoder, *sorted(self._places)])
            self._version = hashlib.sha256(known.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        return self._version

    def __len__(self) -> int:
        return len(self._places)

    def vectors(self, passage_id: str) -> TokenVectors:
        part, number = self._places[passage_id]
        tokens = part.segment.tokens_of(number)
        return TokenVectors(part.segment.vectors[tokens].astype(np.float32), part.segment.offsets[tokens])

    def search(
        self,
        query: Floats,
        weights: Floats,
        *,
        k: int,
        granularity: Granularity = Granularity.PASSAGE,
        passage_share: float = 0.0,
        passage_weights: Floats | None = None,
        allow: Collection[str] | None = None,
    ) -> list[list[IndexHit]]:
        """The best k units for each row of weights.  (q, d), (n, q) -> n lists, best first, ties in index order.

        Units are passages or sentences; a sentence's score takes `passage_share` of its passage's, which
        `passage_weights` ask for where they are given.
        """
        if query.ndim != 2 or query.shape[1] != self.dimension:
            raise ValueError(f"wanted query vectors of {self.dimension} dimensions, got shape {query.shape}")
        by_sentence = granularity != Granularity.PASSAGE
        of_passages = weights if passage_weights is None else passage_weights
        if of_passages.shape != weights.shape:
            raise ValueError(f"wanted {weights.shape} weights for passages too, got shape {of_passages.shape}")
        blocks = [
            _rank_block(block, query, weights, of_passages, passage_share if by_sentence else None)
            for part in self._parts
            for block in _blocks(part, allow)
        ]
        return [_best(blocks, row, max(k, 0)) for row in range(len(weights))]

    def stats(self) -> IndexStats:
        return IndexStats(
            engine=self.engine,
            encoder=self.encoder,
            dimension=self.dimension,
            passages=len(self),
            tokens=sum(len(p.segment.vectors) for p in self._parts),
            deleted=sum(len(p.segment) - p.num_kept for p in self._parts),
            segments=len(self._parts),
            bytes=sum(p.segment.bytes for p in self._parts),
        )

    def save(self, folder: Path) -> None:
        """All or nothing: new segments first, then the manifest that names them, by rename."""
        self._compact()
        self.stage(folder)
        _write_manifest(folder, self._manifest())
        named = {p.name for p in self._parts}
        for path in folder.glob("segment-*"):
            if path.name.split(".")[0] not in named:
                path.unlink(missing_ok=True)  # a reader that has it mapped keeps its pages

    def stage(self, folder: Path) -> None:
        """Write what is new without naming it: no reader sees it before `save`, and it no longer takes memory."""
        folder.mkdir(parents=True, exist_ok=True)
        for part in self._parts:
            if not part.name or not segment_exists(folder, part.name):
                self._write(part, folder)

    def _write(self, part: _Part, folder: Path) -> None:
        """The part takes its name when its files are complete: what stops halfway is written anew next time."""
        name = f"segment-{secrets.token_hex(6)}"
        write_segment(part.segment, folder, name)
        part.segment = read_segment(folder, name, self.dimension)  # from now on mapped, not held
        part.name = name

    def _compact(self) -> None:
        """Join segments when they are many (the smallest of them, so that growth stays cheap) or mostly deleted."""
        self._parts = [p for p in self._parts if p.num_kept]
        total = sum(len(p.segment) for p in self._parts)
        if total - len(self) > MOST_DELETED * total:
            self._join(self._parts)
        elif len(self._parts) > MOST_SEGMENTS:
            self._join(sorted(self._parts, key=lambda p: p.num_kept)[: 3 * MOST_SEGMENTS // 4])

    def _join(self, parts: Sequence[_Part]) -> None:
        segment = join_segments([(p.segment, p.kept) for p in parts])
        self._parts = [p for p in self._parts if p not in parts]
        self._attach(_Part(segment, np.ones(len(segment), dtype=bool)))

    def _manifest(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "engine": self.engine,
            "encoder": self.encoder,
            "dimension": self.dimension,
            "segments": [{"name": p.name, "deleted": np.flatnonzero(~p.kept).tolist()} for p in self._parts],
        }


@dataclass(frozen=True, slots=True)
class _Block:
    """Some whole passages of a segment: a run of tokens, their units, and which passages a search may return."""

    segment: Segment
    first: int
    last: int
    allowed: npt.NDArray[np.bool_]

    @property
    def tokens(self) -> slice:
        return slice(self.segment.tokens_of(self.first).start, self.segment.tokens_of(self.last - 1).stop)

    @property
    def units(self) -> slice:
        return slice(self.segment.units_of(self.first).start, self.segment.units_of(self.last - 1).stop)


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Scores of a block's units: scores (u, n), the passage of each (u,) and its scores (p, n), sentences (u,)."""

    block: _Block
    scores: Floats
    passages: Ints
    passage_scores: Floats
    sentences: npt.NDArray[np.int32]


def _blocks(part: _Part, allow: Collection[str] | None) -> Iterator[_Block]:
    segment = part.segment
    allowed = part.kept if allow is None else part.kept & np.isin(segment.ids, np.asarray(list(allow), dtype=np.str_))
    ends = np.append(segment.passage_starts[1:], len(segment.vectors))
    first = 0
    while first < len(segment):
        start = int(segment.passage_starts[first])
        last = max(first + 1, int(np.searchsorted(ends, start + BLOCK_TOKENS, side="right")))
        if allowed[first:last].any():
            yield _Block(segment, first, last, allowed[first:last])
        first = last


def _rank_block(
    block: _Block, query: Floats, weights: Floats, of_passages: Floats, passage_share: float | None
) -> _Ranked:
    """All units of a block in one pass over its vectors; passages alone when `passage_share` is None."""
    segment, tokens, units = block.segment, block.tokens, block.units
    similarities = _product(segment.vectors[tokens], query)
    unit_best = best_matches(similarities, segment.unit_starts[units] - tokens.start)
    passage_units = segment.passage_units[block.first : block.last] - units.start
    passage_scores = best_matches(unit_best, passage_units) @ of_passages.T
    if passage_share is None:
        passage_scores[~block.allowed] = -np.inf
        everyone = np.arange(block.last - block.first)
        sentences = np.full(len(everyone), HEAD, dtype=np.int32)
        return _Ranked(block, passage_scores, everyone, passage_scores, sentences)
    owners = np.repeat(np.arange(len(passage_units)), np.diff(np.append(passage_units, len(unit_best))))
    scores = joined(unit_best @ weights.T, passage_scores[owners], passage_share)
    scores[~(segment.unit_ranked[units] & block.allowed[owners])] = -np.inf
    return _Ranked(block, scores, owners, passage_scores, segment.unit_sentences[units])


def _product(vectors: npt.NDArray[np.float16], query: Floats) -> Floats:
    """Similarities of every token to every query token in float32.  (n, d), (q, d) -> (n, q)"""
    import torch  # converts float16 many times faster than numpy

    block = torch.from_numpy(np.array(vectors)).float()
    product: Floats = (block @ torch.from_numpy(np.ascontiguousarray(query, dtype=np.float32)).T).numpy()
    return product


def _best(ranked: Sequence[_Ranked], row: int, k: int) -> list[IndexHit]:
    if not ranked:
        return []
    scores = np.concatenate([r.scores[:, row] for r in ranked])
    bounds = np.cumsum([0] + [len(r.scores) for r in ranked])
    hits = []
    for place in np.argsort(-scores, kind="stable")[:k]:
        if not np.isfinite(scores[place]):
            break
        number = int(np.searchsorted(bounds, place, side="right")) - 1
        part, unit = ranked[number], int(place - bounds[number])
        passage = int(part.passages[unit])
        hits.append(
            IndexHit(
                passage_id=str(part.block.segment.ids[part.block.first + passage]),
                sentence=None if part.sentences[unit] == HEAD else int(part.sentences[unit]),
                score=float(scores[place]),
                passage_score=float(part.passage_scores[passage, row]),
            )
        )
    return hits


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest: dict[str, Any] = json.loads(path.read_text("utf-8"))
        found = manifest["format"]
        checksum = manifest.pop("checksum", None)
    except FileNotFoundError as error:
        raise IndexFormatError(f"{folder} holds no index: run propcite reindex") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IndexFormatError(f"{path} is damaged: run propcite reindex") from error
    if found != FORMAT:
        raise IndexFormatError(f"{folder} has index format {found}, this version reads {FORMAT}: run propcite reindex")
    if checksum != _checksum(manifest):
        raise IndexFormatError(f"{path} is damaged: run propcite reindex")
    return manifest


def _checksum(manifest: dict[str, Any]) -> int:
    """One wrong digit in a list of deletions would bring a deleted passage back."""
    return zlib.crc32(json.dumps(manifest, sort_keys=True).encode())


def _write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    new = folder / f"{MANIFEST}.new"
    with durable(new) as file:
        file.write(json.dumps(manifest | {"checksum": _checksum(manifest)}).encode())
    os.replace(new, folder / MANIFEST)
    directory = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(directory)  # the rename itself must reach the disk
    finally:
        os.close(directory)
