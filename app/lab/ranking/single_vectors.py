"""Rank passages by one vector per text, as Contriever does: the first stage of AGRaME's experiments."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from propcite.app.errors import AppError
from propcite.app.lab.ranking.index_cache import cache_folder
from propcite.app.lab.ranking.rank_rows import Cost
from propcite.app.lab.runs.runner import split_cost, timed
from propcite.app.settings import Settings
from propcite.app.terminal_progress import counting
from propcite.retrieval.encoding.base import Floats
from propcite.retrieval.encoding.layouts import MODULES
from propcite.retrieval.encoding.loading import hide_progress_bars, loading_errors, model_folder
from propcite.retrieval.text import Passage

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

SINGLE = "single-vector"  # the way's name
FILE = "vectors.f32"  # a row per passage, in the order of the corpus
BATCH_SIZE = 64  # passages encoded together: an interrupt can lose so many
AT_ONCE = 1 << 16  # passages scored together
SIMILARITIES = ("dot", "cosine")


class SingleVectors:
    """A model with one vector per text: of sentence-transformers, or a plain transformer, read as Contriever's.

    A plain one has the mean of its last layer's tokens, and texts are compared by the dot product.
    """

    def __init__(self, name: str, device: str) -> None:
        from sentence_transformers import SentenceTransformer

        if not name:
            raise AppError(
                "--way single-vector needs --encoder: a model with one vector per text, as facebook/contriever-msmarco"
            )
        folder = model_folder(name)
        hide_progress_bars()
        with loading_errors(name):
            self._model: SentenceTransformer = SentenceTransformer(str(folder), device=device or None)
        similarity = self._model.similarity_fn_name if (folder / MODULES).is_file() else "dot"
        if similarity not in SIMILARITIES:
            raise AppError(
                f"{name} compares its vectors by {similarity}: give a model with {' or '.join(SIMILARITIES)}"
            )
        self._unit = similarity == "cosine"

    @property
    def dimension(self) -> int:
        return int(self._model.get_embedding_dimension() or 0)

    def queries(self, texts: Sequence[str]) -> Floats:
        return self._vectors(self._model.encode_query, texts)

    def passages(self, passages: Sequence[Passage]) -> Floats:
        return self._vectors(self._model.encode_document, [f"{p.title} {p.text}".strip() for p in passages])

    def _vectors(self, encode: Any, texts: Sequence[str]) -> Floats:
        vectors: Floats = encode(
            list(texts), batch_size=BATCH_SIZE, normalize_embeddings=self._unit, show_progress_bar=False
        )
        return vectors.astype(np.float32, copy=False)


def passage_vectors(
    passages: Sequence[Passage], digest: str, name: str, model: SingleVectors, settings: Settings
) -> Floats:
    """Return the passages' vectors, read from disk as they are needed; those of an earlier call are not made again."""
    file = cache_folder(settings, digest, name) / FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    row = 4 * model.dimension
    with file.open("ab") as stored, counting(len(passages), "encoding") as advance:
        fcntl.flock(stored, fcntl.LOCK_EX)  # another run may be encoding them
        done, cut = divmod(stored.seek(0, os.SEEK_END), row)
        if cut:  # by an interrupt
            stored.truncate(done * row)
        advance("encoding", done)
        for first in range(done, len(passages), BATCH_SIZE):
            batch = passages[first : first + BATCH_SIZE]
            stored.write(model.passages(batch).tobytes())
            advance("encoding", len(batch))
    return np.memmap(file, np.float32, mode="r", shape=(len(passages), model.dimension))


def rank_by_vectors(
    passages: Sequence[Passage], vectors: Floats, model: SingleVectors, depth: int, queries: Sequence[str]
) -> Iterator[tuple[list[str], Cost]]:
    """Yield each query's best passages by all vectors; all queries have the same share in the cost."""
    with timed() as cost:
        places = best_rows(model.queries(queries), vectors, depth)[1]
    for ranking in places:
        yield [passages[place].id for place in ranking], split_cost(cost, len(queries))


def best_rows(queries: Floats, vectors: Floats, depth: int) -> tuple[Floats, np.ndarray]:
    """Return the highest dot products of each query and their rows, best first; of equal ones the first row.

    >>> scores, rows = best_rows(np.eye(2, dtype=np.float32), np.array([[0, 1], [2, 0], [0, 1]], np.float32), 2)
    >>> rows.tolist()
    [[1, 0], [0, 2]]
    """
    best = np.empty((len(queries), 0), np.float32)
    rows = np.empty((len(queries), 0), np.int64)
    for first in range(0, len(vectors), AT_ONCE):
        part = vectors[first : first + AT_ONCE]
        best = np.concatenate([best, queries @ part.T], axis=1)
        rows = np.concatenate(
            [rows, np.broadcast_to(np.arange(first, first + len(part)), (len(queries), len(part)))], 1
        )
        kept = np.argsort(-best, axis=1, kind="stable")[:, :depth]
        best, rows = np.take_along_axis(best, kept, 1), np.take_along_axis(rows, kept, 1)
    return best, rows
