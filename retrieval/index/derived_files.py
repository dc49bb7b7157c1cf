"""Search structures derived from segments: postings of words, centroids with codes of all tokens, and FAISS's files.

All of them can be rebuilt.  A segment without them is read as a whole, which is slow but correct, so damaged files are
ignored.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index import ProgressReport, Regime, faiss_tokens, report_share
from propcite.retrieval.index.centroid_codes import CentroidCodes
from propcite.retrieval.index.centroids import TOKENS_PER_CENTROID, Centroids, num_centroids, train_centroids
from propcite.retrieval.index.container import Container, link, replace_arrays
from propcite.retrieval.index.contents import Contents
from propcite.retrieval.index.faiss_tokens import FaissTokens
from propcite.retrieval.index.live_segment import LiveSegment, codes_path, faiss_path, postings_path
from propcite.retrieval.index.manifest import Manifest
from propcite.retrieval.index.pruning import Pruning, SearchedTokens, valid_pruning, valid_share
from propcite.retrieval.words.postings import read_postings, write_postings

RETRAIN_FACTOR = 4  # centroids are trained again for so many times the tokens
MAX_SAMPLE = 1 << 19  # training tokens, which are in memory at once


class DerivedFiles:
    """The centroids and the name of FAISS's trained file, both shared by all segments of a folder."""

    def __init__(self, regime: Regime, progress: ProgressReport, searched_share: float, pruning: Pruning) -> None:
        self._progress = progress
        self._searched_share, self._pruning = valid_share(searched_share), valid_pruning(pruning)
        self.centroids: Centroids | None = None
        self.faiss = ""
        self._uses_faiss = regime == "faiss"
        self._always_trains = regime in ("tokens", "faiss")

    def share(self, earlier: DerivedFiles, manifest: Manifest) -> None:
        """Use what an earlier version has in memory, where a manifest still names it."""
        if earlier.centroids and earlier.centroids.name == manifest.centroids:
            self.centroids = earlier.centroids
        if earlier.faiss == manifest.faiss:
            self.faiss = earlier.faiss

    def drop_others(self, live: LiveSegment) -> None:
        """Drop a segment's structures that belong to other centroids or another FAISS file than these."""
        if not self.centroids:
            live.centroid_codes = None
        if not self.faiss:
            live.faiss_tokens = None

    def read(self, folder: Path, manifest: Manifest) -> None:
        """Read what all segments share."""
        with suppress(IndexFormatError):
            if manifest.centroids and not self.centroids:
                self.centroids = Centroids.load(folder / manifest.centroids, manifest.centroids)
        if manifest.faiss and (folder / manifest.faiss).exists():
            self.faiss = manifest.faiss

    def attach(self, live: LiveSegment, folder: Path) -> None:
        """Read the structures of one segment, if their files are there."""
        with suppress(IndexFormatError):
            if not live.written_postings and postings_path(folder, live.name).exists():
                live.attach_postings(read_postings(postings_path(folder, live.name), live.segment))
        with suppress(IndexFormatError):
            if self.centroids and not live.centroid_codes:
                file = Container(codes_path(folder, live.name, self.centroids.name))
                codes, searched = file.read("codes"), SearchedTokens.read(file, live.segment.num_tokens)
                if len(codes) == len(searched) and codes.max(initial=0) < len(self.centroids):
                    live.centroid_codes = CentroidCodes(live.segment, codes, len(self.centroids), searched)
        with suppress(IndexFormatError):
            if self.faiss and self._uses_faiss and not live.faiss_tokens:
                live.faiss_tokens = FaissTokens.load(faiss_path(folder, live.name, self.faiss), live.segment)

    def build(self, segments: Sequence[LiveSegment], folder: Path) -> None:
        """Write and attach the structures that segments lack."""
        for live in segments:
            live.drop_other_shares(self._searched_share)
        self._write_postings([live for live in segments if not live.written_postings], folder)
        if self.centroids:
            self._write_codes([live for live in segments if not live.centroid_codes], folder, self.centroids)
        if self.faiss and self._uses_faiss:
            self._fill_faiss([live for live in segments if not live.faiss_tokens], folder)
        for live in segments:
            self.attach(live, folder)

    def _write_postings(self, segments: Sequence[LiveSegment], folder: Path) -> None:
        for live, progress in self._with_progress("listing words", segments):
            if live.segment.token_ids is not None:
                write_postings(live.segment, postings_path(folder, live.name), progress)

    def _write_codes(self, segments: Sequence[LiveSegment], folder: Path, centroids: Centroids) -> None:
        for live, progress in self._with_progress("assigning tokens to centroids", segments):
            searched = live.segment.searched_tokens(self._searched_share, self._pruning)
            codes = centroids.codes(live.segment, searched, progress)
            replace_arrays(codes_path(folder, live.name, centroids.name), {"codes": codes} | searched.arrays)

    def _fill_faiss(self, segments: Sequence[LiveSegment], folder: Path) -> None:
        try:
            for live, progress in self._with_progress("adding tokens to FAISS", segments):
                searched = live.segment.searched_tokens(self._searched_share, self._pruning)
                path = faiss_path(folder, live.name, self.faiss)
                faiss_tokens.fill(folder / self.faiss, live.segment, searched, path, progress)
        except IndexFormatError:
            self.faiss = ""  # damaged: the next save trains it again

    def _with_progress(
        self, step: str, segments: Sequence[LiveSegment]
    ) -> Iterator[tuple[LiveSegment, Callable[[int], None]]]:
        """Yield each segment with a callback for the number of its tokens that are done."""
        before, total = 0, sum(live.segment.num_tokens for live in segments)
        for live in segments:
            yield live, partial(report_share, partial(self._progress, step), total, before)
            before += live.segment.num_tokens

    def train(self, contents: Contents, folder: Path, exact_up_to: int) -> bool:
        """Train structures that are missing or too small for the collection, and return whether any was trained."""
        num_tokens = contents.num_tokens
        if not num_tokens or (num_tokens <= exact_up_to and not self._always_trains):
            return False
        trained_for = self.centroids.num_tokens if self.centroids else 0
        due = not trained_for or num_tokens > RETRAIN_FACTOR * trained_for
        if due:
            self._train_centroids(contents, folder)
        with_faiss = self._uses_faiss and num_tokens >= faiss_tokens.MIN_TOKENS and (due or not self.faiss)
        if with_faiss:
            self._train_faiss(contents, folder)
        return due or with_faiss

    def _train_centroids(self, contents: Contents, folder: Path) -> None:
        size = min(MAX_SAMPLE, num_centroids(contents.num_tokens) * TOKENS_PER_CENTROID)
        sample = contents.sample(size)
        rows = np.concatenate([live.segment.codec.integers(live.segment.payload[tokens]) for live, tokens in sample])
        name, progress = f"centroids-{secrets.token_hex(6)}", partial(self._progress, "training centroids")
        centroids = train_centroids(rows, name, contents.num_tokens, progress)
        centroids.save(folder / centroids.name)
        self.centroids = centroids  # only after saving: from here on a manifest may name them
        for live in contents.segments:
            live.centroid_codes = None

    def _train_faiss(self, contents: Contents, folder: Path) -> None:
        name = f"faiss-{secrets.token_hex(6)}"
        dimension = contents.segments[0].segment.codec.dimension
        size = min(MAX_SAMPLE, faiss_tokens.sample_size(dimension, contents.num_tokens))
        sample = contents.sample(size)
        vectors = np.concatenate([faiss_tokens.decoded_tokens(live.segment, tokens) for live, tokens in sample])
        self._progress("training FAISS", 0.0)  # FAISS itself reports no progress
        faiss_tokens.train(vectors, contents.num_tokens, folder / name)
        self.faiss = name
        for live in contents.segments:
            live.faiss_tokens = None

    def adopt(self, other: DerivedFiles, source: Path, folder: Path, segments: Sequence[LiveSegment]) -> bool:
        """Use what another index trained, whose files are linked from its folder; return whether that is new here."""
        if (self.faiss, self._centroids_name) == (other.faiss, other._centroids_name):
            return False
        for name in other.file_names - self.file_names:
            link(source / name, folder / name)
        self.centroids, self.faiss = other.centroids, other.faiss
        for live in segments:
            live.centroid_codes = live.faiss_tokens = None
        return True

    def share_trained(self, other: DerivedFiles, segments: Sequence[LiveSegment]) -> None:
        """Share another index's centroids in memory; drop others, by which scores cannot be compared with its."""
        self.centroids = other.centroids if self._centroids_name == other._centroids_name else None
        if self.faiss != other.faiss:
            self.faiss = ""
        for live in segments:
            self.drop_others(live)

    @property
    def _centroids_name(self) -> str:
        return self.centroids.name if self.centroids else ""

    @property
    def file_names(self) -> set[str]:
        """Return the names of the files that all segments share."""
        return {name for name in (self._centroids_name, self.faiss) if name}

    def detach(self, contents: Contents) -> None:
        """Forget all structures, so that the next save builds them in another folder."""
        self.centroids, self.faiss = None, ""
        for live in contents.segments:
            live.centroid_codes = live.faiss_tokens = live.written_postings = None
