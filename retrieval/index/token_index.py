"""The token index: passages added, deleted, saved and searched; one manifest names what counts.

Three regimes find candidates, one way ranks them.  `exact` reads every token; `tokens` looks at centroids first and
reads the best passages whole; `faiss` retrieves each query token's nearest tokens.  Deleting marks; saving writes what
is new and replaces the manifest; what many changes left behind is joined.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections import Counter
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
from filelock import FileLock, Timeout

from retrieval.encoder import Floats, TokenVectors
from retrieval.errors import IndexFormatError
from retrieval.index import IndexHit, IndexStats
from retrieval.index import faiss_tokens as by_faiss
from retrieval.index.centroids import SAMPLED, Centroids, number_for, train_centroids
from retrieval.index.coarse_codes import Coded
from retrieval.index.codec import Codec
from retrieval.index.container import Container, write_arrays
from retrieval.index.faiss_tokens import FaissTokens
from retrieval.index.manifest import FILE, Manifest, read_manifest
from retrieval.index.parts import Part, codes_path, faiss_path, read_part, segment_path
from retrieval.index.ranking import Mask, Wanted
from retrieval.index.search import EXACT_UP_TO, RETRIEVED, Plan, Regime, Search, known_regime
from retrieval.index.segment import Kept, Segment, build_segment, join_segments, read_segment, write_segment
from retrieval.text import Granularity, Passage

MOST_SEGMENTS = 16  # more are joined when saving
MOST_DELETED = 0.3  # the share of deleted passages above which saving rewrites the rest
OUTGROWN = 4  # times as many tokens as centroids were trained for
BITS = 8


class IndexOptions(TypedDict, total=False):
    """How an index is kept and searched; what it holds does not depend on them."""

    bits: int
    regime: Regime
    exact_up_to: int


class TokenIndex:
    """Passages are found by id; an id is used once until it is deleted."""

    def __init__(
        self, dimension: int, encoder: str, *, bits: int = BITS, regime: Regime = "auto", exact_up_to: int = EXACT_UP_TO
    ) -> None:
        self.dimension = dimension
        self.encoder = encoder
        self.codec = Codec(dimension, bits)
        self.regime = known_regime(regime)
        self.exact_up_to = exact_up_to
        self._parts: list[Part] = []
        self._places: dict[str, tuple[Part, int]] = {}
        self._centroids: Centroids | None = None
        self._faiss = ""
        self._folder: Path | None = None
        self._generation = 0
        self._version = ""

    @classmethod
    def load(
        cls, folder: Path, encoder: str = "", *, tolerant: bool = False, **options: Unpack[IndexOptions]
    ) -> TokenIndex:
        """The index in this folder; with `encoder`, only if that encoder made it.  `bits` are for what is added.

        `tolerant` leaves damaged segments out.
        """
        manifest = read_manifest(folder)
        if encoder and manifest.encoder != encoder:
            raise IndexFormatError(
                f"the index was made by {manifest.encoder}, the encoder is {encoder}: run propcite reindex"
            )
        index = cls(manifest.dimension, manifest.encoder, **options)
        try:
            index._read(folder, manifest, tolerant)
        except IndexFormatError:
            if read_manifest(folder) == manifest:
                raise
            # A writer has replaced the segments since the manifest was read.
            return cls.load(folder, encoder, tolerant=tolerant, **options)
        return index

    def _read(self, folder: Path, manifest: Manifest, tolerant: bool) -> None:
        self._folder, self._generation = folder, manifest.generation
        for entry in manifest.segments:
            try:
                self._attach(read_part(folder, entry, self.dimension))
            except IndexFormatError:
                if not tolerant:
                    raise
        with suppress(IndexFormatError):  # what can be made anew is: until then everything is read whole
            if manifest.centroids:
                self._centroids = Centroids.load(folder / manifest.centroids, manifest.centroids)
        if manifest.faiss and (folder / manifest.faiss).exists():
            self._faiss = manifest.faiss
        for part in self._parts:
            self._help(part, folder)

    def _help(self, part: Part, folder: Path) -> None:
        """Attach what was derived from a segment; without it the segment is read whole, which is slow but right."""
        with suppress(IndexFormatError):
            if self._centroids and not part.coded:
                path = codes_path(folder, part.name, self._centroids.name)
                codes = Container(path).checked("codes")
                if len(codes) == part.segment.num_tokens and codes.max(initial=0) < len(self._centroids):
                    part.coded = Coded(part.segment, codes, len(self._centroids))
        with suppress(IndexFormatError):
            if self._faiss and self.regime == "faiss" and not part.tokens:
                part.tokens = FaissTokens.load(faiss_path(folder, part.name, self._faiss), part.segment)

    # What is held

    def add(self, passages: Sequence[Passage], vectors: Sequence[TokenVectors]) -> None:
        """Make passages searchable.  Nothing is on disk before `save`."""
        if not passages:
            return
        for passage, tokens in zip(passages, vectors, strict=True):
            self._check(passage, tokens)
        for i, times in Counter(p.id for p in passages).items():
            if times > 1 or i in self._places:
                raise ValueError(f"passage {i!r} is in the index already: delete it first")
        self._attach(Part(build_segment(passages, vectors, self.codec)))

    def _check(self, passage: Passage, tokens: TokenVectors) -> None:
        if not len(tokens):
            raise ValueError(f"passage {passage.id!r} has no token")
        if tokens.vectors.shape[1:] != (self.dimension,):
            got = ", ".join(map(str, tokens.vectors.shape[1:])) or "single numbers"
            raise ValueError(f"wanted vectors of {self.dimension} dimensions, got {got}")
        if tokens.offsets.shape != (len(tokens.vectors), 2):
            raise ValueError(f"wanted {len(tokens.vectors)} tokens' offsets, got shape {tokens.offsets.shape}")
        if not np.isfinite(tokens.vectors).all():
            raise ValueError(f"passage {passage.id!r} has a vector that is not a number")
        if not tokens.vectors.any(axis=1).all():
            raise ValueError(f"passage {passage.id!r} has a vector of zeros")

    def _attach(self, part: Part) -> None:
        self._version = ""
        self._parts.append(part)
        for number, i in enumerate(part.segment.ids):
            if part.kept[number]:
                self._places[i] = (part, number)

    def delete(self, ids: Collection[str]) -> int:
        """Forget passages; unknown ids are passed over.  -> how many were there"""
        known = [i for i in dict.fromkeys(ids) if i in self._places]
        for i in known:
            part, number = self._places.pop(i)
            part.delete(number)
            self._version = ""
        return len(known)

    def update(self, passages: Sequence[Passage], vectors: Sequence[TokenVectors]) -> None:
        """Put passages in the place of those with their ids, all or none; unknown ones are added."""
        before = {p.id: self._places.pop(p.id) for p in passages if p.id in self._places}
        try:
            self.add(passages, vectors)
        except BaseException:
            self._places |= before
            raise
        for part, number in before.values():
            part.delete(number)

    def ids(self) -> set[str]:
        return set(self._places)

    def __len__(self) -> int:
        return len(self._places)

    @property
    def version(self) -> str:
        if not self._version:
            known = "\0".join([self.encoder, *sorted(self._places)])
            self._version = hashlib.sha256(known.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        return self._version

    def vectors(self, passage_id: str) -> TokenVectors:
        part, number = self._places[passage_id]
        return part.segment.vectors(number)

    @property
    def num_tokens(self) -> int:
        return sum(p.segment.num_tokens for p in self._parts)

    def stats(self) -> IndexStats:
        return IndexStats(
            regime=self._plan(self.regime).regime,
            encoder=self.encoder,
            dimension=self.dimension,
            bits=tuple(sorted({p.segment.codec.bits for p in self._parts}, reverse=True)),
            passages=len(self),
            tokens=self.num_tokens,
            deleted=sum(len(p.deleted) for p in self._parts),
            segments=len(self._parts),
            centroids=len(self._centroids or ()),
            bytes=sum(p.segment.bytes for p in self._parts) + self._derived_bytes(),
        )

    def _derived_bytes(self) -> int:
        if self._folder is None:
            return 0
        names = {p.name for p in self._parts}
        derived = [p for p in self._folder.glob("segment-*.*-*") if p.name.split(".")[0] in names]
        trained = [self._folder / name for name in self._trained]
        return sum(_size(path) for path in [*derived, *trained])

    # Searching

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
        regime: Regime = "auto",
        refine: int | None = None,
        retrieved: int = RETRIEVED,
        missing: float | None = None,
        timings: dict[str, float] | None = None,
    ) -> list[list[IndexHit]]:
        """The best k units for each row of weights.  (q, d), (n, q) -> n lists, best first, ties in index order.

        Units are passages or sentences; a sentence's score takes `passage_share` of its passage's, which
        `passage_weights` ask for where they are given.  Once candidates are known, `refine` of them a row are read
        whole, None for as many as k asks for; 0 ranks by XTR's scores over `retrieved` tokens a query token, with
        `missing` for what was not retrieved, None for the floor.  `timings` receives milliseconds a stage.
        """
        of_passages = weights if passage_weights is None else passage_weights
        share = None if granularity == Granularity.PASSAGE else passage_share
        search = Search(
            self._plan(self.regime if regime == "auto" else known_regime(regime)),
            self._masks(allow),
            query,
            Wanted(weights, of_passages, share),
            refine,
            retrieved,
            missing,
            allow is not None,
            {} if timings is None else timings,
        )
        return search.hits(k)

    def search_many(
        self, queries: Sequence[tuple[Floats, Floats]], *, threads: int = 0, **options: Any
    ) -> list[list[list[IndexHit]]]:
        """`search` for many queries with their weights, one thread each, beside each other."""
        workers = threads or os.cpu_count() or 1
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(lambda asked: self.search(*asked, **options), queries))

    def _plan(self, regime: Regime) -> Plan:
        return Plan(self._parts, self.codec, self._centroids, regime, self.exact_up_to)

    def _masks(self, allow: Collection[str] | None) -> dict[Part, Mask]:
        """Which passages of each part may be returned, known before anything is ranked."""
        if allow is None:
            return {part: part.kept for part in self._parts}
        masks = {part: np.zeros(len(part.segment), bool) for part in self._parts}
        for i in allow:
            if i in self._places:
                part, number = self._places[i]
                masks[part][number] = True
        return masks

    # On disk

    def save(self, folder: Path) -> None:
        """All or nothing: new segments first, then the manifest that names them, by rename."""
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(folder / "index.lock", timeout=0):
                self._move_to(folder)
                self._compact(folder)
                self._stage(folder)
                self._commit(folder)
                if self._train(folder):
                    self._commit(folder)
                self._clean(folder)
        except Timeout as error:
            raise IndexFormatError(f"another process is writing {folder}: try again when it is done") from error

    def stage(self, folder: Path) -> None:
        """Write what is new without naming it: no reader sees it before `save`, and it no longer takes memory."""
        folder.mkdir(parents=True, exist_ok=True)
        self._move_to(folder)
        self._stage(folder)

    def compact(self, folder: Path) -> None:
        """Join all segments into one, without what was deleted, and save."""
        folder.mkdir(parents=True, exist_ok=True)
        self._move_to(folder)
        if len(self._parts) > 1 or any(p.deleted for p in self._parts):
            self._join(folder, [p for p in self._parts if p.num_kept])
        self.save(folder)

    def mend(self, folder: Path, damaged: Collection[str]) -> None:
        """Write the segments that hold some of these passages anew, without them, and save."""
        hurt = {self._places[i][0] for i in damaged if i in self._places}
        self.delete(damaged)
        self._move_to(folder)
        for part in hurt:
            self._parts = [p for p in self._parts if p is not part] if not part.num_kept else self._parts
            if part.num_kept:
                self._join(folder, [part])
        self.save(folder)

    def _move_to(self, folder: Path) -> None:
        """Write nothing over what another has changed; in another folder everything is new."""
        try:
            found = read_manifest(folder).generation if (folder / FILE).exists() else 0
        except IndexFormatError:
            found = -1  # damaged: what is saved takes its place only where it was read from it
        if self._folder != folder:
            if found:
                raise IndexFormatError(f"{folder} holds another index: load that one, or remove it first")
            for part in self._parts:
                part.forget_place()
                part.coded = part.tokens = None
            self._folder, self._generation, self._centroids, self._faiss = folder, 0, None, ""
        elif found != self._generation:
            raise IndexFormatError(f"another process has changed {folder} since it was opened: open it again")

    def _stage(self, folder: Path) -> None:
        for part in self._parts:
            if not part.name or not segment_path(folder, part.name).exists():
                part.forget_place()
                name = f"segment-{secrets.token_hex(6)}"
                write_segment(part.segment, segment_path(folder, name))
                part.segment = read_segment(segment_path(folder, name), self.dimension)  # mapped from now on, not held
                part.name = name
            self._derive(part, folder)

    def _derive(self, part: Part, folder: Path) -> None:
        """Codes and FAISS's file for a segment that has none."""
        if self._centroids and not part.coded:
            codes = self._centroids.codes(part.segment)
            write_arrays(codes_path(folder, part.name, self._centroids.name), {"codes": codes})
        if self._faiss and self.regime == "faiss" and not part.tokens:
            try:
                by_faiss.fill(folder / self._faiss, part.segment, faiss_path(folder, part.name, self._faiss))
            except IndexFormatError:
                self._faiss = ""  # damaged: saving trains it anew
        self._help(part, folder)

    def _train(self, folder: Path) -> bool:
        """Centroids, and FAISS's where it is the regime, when there are none or the collection has outgrown them."""
        tokens = self.num_tokens
        if tokens <= self.exact_up_to and self.regime in ("auto", "exact"):
            return False
        known = self._centroids.num_tokens if self._centroids else 0
        due = not known or tokens > OUTGROWN * known
        trained = bool(self._parts) and due
        if trained:
            sample = self._sample(number_for(tokens) * SAMPLED)
            rows, scales = Codec(self.dimension, 8).encode(sample)
            centroids = train_centroids(rows, scales, f"centroids-{secrets.token_hex(6)}", tokens)
            centroids.save(folder / centroids.name)
            self._centroids = centroids  # only now: a manifest may name it
            for part in self._parts:
                part.coded = None
        if tokens >= by_faiss.LEAST and self.regime == "faiss" and (due or not self._faiss):
            name = f"faiss-{secrets.token_hex(6)}"
            lists = int(by_faiss.factory(self.dimension, tokens).split(",")[0].removeprefix("IVF"))
            by_faiss.train(self._sample(lists * by_faiss.SAMPLED), tokens, folder / name)
            self._faiss = name
            for part in self._parts:
                part.tokens = None
            trained = True
        if trained:
            self._stage(folder)
        return trained

    def _sample(self, number: int) -> Floats:
        """Tokens drawn evenly over all segments."""
        random = np.random.default_rng(0)
        share = min(1.0, number / max(self.num_tokens, 1))
        some = []
        for part in self._parts:
            size = min(part.segment.num_tokens, max(1, round(share * part.segment.num_tokens)))
            rows = np.sort(random.choice(part.segment.num_tokens, size, replace=False))
            some.append(by_faiss.floats_of(part.segment, rows))
        return np.concatenate(some)

    def _commit(self, folder: Path) -> None:
        manifest = Manifest(
            self.encoder,
            self.dimension,
            tuple(part.write_deleted(folder) for part in self._parts),
            self._generation + 1,
            self._centroids.name if self._centroids else "",
            self._faiss,
        )
        manifest.write(folder)
        self._generation = manifest.generation

    def _clean(self, folder: Path) -> None:
        """Files that the manifest does not name; a reader that has one mapped keeps its pages."""
        names = {p.name for p in self._parts}
        trained = self._trained
        endings = {name.split("-")[1] for name in trained}
        for path in folder.glob("segment-*"):
            name, _, kind = path.name.partition(".")
            if name not in names or ("-" in kind and kind.split("-")[1] not in endings):
                path.unlink(missing_ok=True)
        for path in [*folder.glob("centroids-*"), *folder.glob("faiss-*")]:
            if path.name not in trained:
                path.unlink(missing_ok=True)

    @property
    def _trained(self) -> set[str]:
        """Files that all segments share."""
        return {name for name in (self._centroids.name if self._centroids else "", self._faiss) if name}

    def _compact(self, folder: Path) -> None:
        """Join segments when they are many (the smallest of them, so that growth stays cheap) or mostly deleted."""
        self._parts = [p for p in self._parts if p.num_kept]
        total = sum(len(p.segment) for p in self._parts)
        if total - len(self) > MOST_DELETED * total:
            self._join(folder, self._parts)
        elif len(self._parts) > MOST_SEGMENTS:
            self._join(folder, sorted(self._parts, key=lambda p: p.num_kept)[: -(MOST_SEGMENTS // 3)])

    def _join(self, folder: Path, parts: Sequence[Part]) -> None:
        if not parts:
            self._parts = []
            return
        name = f"segment-{secrets.token_hex(6)}"
        joined = [p for p in self._parts if p in set(parts)]
        join_segments([Kept(p.segment, p.kept) for p in joined], self.codec, segment_path(folder, name))
        segment: Segment = read_segment(segment_path(folder, name), self.dimension)
        place = self._parts.index(joined[0])
        rest = [p for p in self._parts if p not in set(parts)]
        self._parts = rest[:place]
        self._attach(Part(segment, name))
        self._parts += rest[place:]


def _size(path: Path) -> int:
    """Of a file that a writer may just have removed."""
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return 0
