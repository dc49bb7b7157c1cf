"""From texts to token vectors: encoded, projected to fewer dimensions, resampled to more tokens; each goes on where it
was interrupted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from tests.benchmarks.index.store import HEAD, Corpus, Queries, Store
from tests.benchmarks.index.texts import read_passages, read_queries

from propcite.retrieval.text import Passage

CHUNK = 256  # passages written at a time: what an interruption costs at most
NOISE = 0.3  # the length of what is added to a resampled token's unit vector: its cosine to the original is .96
META = "encoder.json"


def encode(texts: Path, folder: Path, encoder_name: str, tokens: int, console: Console) -> Store:
    """The first passages of the texts until there are so many tokens, or no more texts."""
    meta = folder / META
    kept = json.loads(meta.read_text("utf-8")) if meta.exists() else {}
    store = Store(folder, kept.get("dimension", 0))
    if kept and (store.tokens >= tokens or store.passages == kept["texts"]):
        return store

    from propcite.retrieval.encoding.encoder import Encoder

    encoder = Encoder(encoder_name)
    if kept and kept["name"] != encoder.name:
        raise SystemExit(
            f"{folder} holds vectors of {kept['name']}, the encoder is {encoder.name}: choose a new --cache"
        )
    if not kept:
        asked = encoder.encode_queries(read_queries(texts))
        starts = np.cumsum([0, *map(len, asked)])
        Queries(np.concatenate([q.vectors for q in asked]), starts).save(folder / "queries.npz")
        texts_there = sum(1 for _ in read_passages(texts))
        kept = {"name": encoder.name, "dimension": encoder.dimension, "texts": texts_there}
        meta.write_text(json.dumps(kept), "utf-8")
    store = Store(folder, encoder.dimension)
    with _progress(console) as progress:
        bar = progress.add_task("encoding tokens", total=tokens, completed=store.tokens)
        while store.tokens < tokens and store.passages < kept["texts"]:
            passages = list(read_passages(texts, store.passages, store.passages + CHUNK))
            read = encoder.encode_passages(passages)
            owners = [_owners(p, t.offsets) for p, t in zip(passages, read, strict=True)]
            orders = [np.argsort(owner, kind="stable") for owner in owners]
            store.append(
                vectors=np.concatenate([t.vectors[o] for t, o in zip(read, orders, strict=True)]),
                offsets=np.concatenate([t.offsets[o] for t, o in zip(read, orders, strict=True)]),
                owners=np.concatenate([owner[o] for owner, o in zip(owners, orders, strict=True)]),
                lengths=np.array([len(t) for t in read]),
                sources=np.arange(store.passages, store.passages + len(read)),
            )
            progress.update(bar, completed=min(store.tokens, tokens))
    return store


def _owners(passage: Passage, offsets: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """The sentence in which each token begins, HEAD for tokens without characters.  (n, 2) -> (n,)"""
    starts = np.array([s.span.start for s in passage.sentences])
    return np.where(offsets[:, 0] < 0, HEAD, np.searchsorted(starts, offsets[:, 0], side="right") - 1)


def project(base: Store, queries: Queries, folder: Path, dimension: int, console: Console) -> tuple[Store, Queries]:
    """The same tokens in fewer dimensions, by a fixed random projection of orthogonal rows, of unit length again."""
    square = np.random.default_rng(0).standard_normal((base.dimension, base.dimension))
    turn = np.linalg.qr(square)[0][:, :dimension].astype(np.float32)
    store, corpus = Store(folder, dimension), base.corpus()
    with _progress(console) as progress:
        bar = progress.add_task("projecting tokens", total=base.tokens, completed=store.tokens)
        while store.passages < base.passages:
            last = min(store.passages + 16 * CHUNK, base.passages)
            tokens = corpus.tokens_of(store.passages, last)
            store.append(
                vectors=_unit(corpus.vectors[tokens].astype(np.float32) @ turn),
                offsets=corpus.offsets[tokens],
                owners=corpus.owners[tokens],
                lengths=np.diff(corpus.starts[store.passages : last + 1]),
                sources=corpus.sources[store.passages : last],
            )
            progress.update(bar, completed=store.tokens)
    return store, Queries(_unit(queries.vectors @ turn), queries.starts)


def resample(corpus: Corpus, folder: Path, tokens: int, console: Console) -> Store:
    """The corpus's passages, then passages drawn from them anew, each token moved by noise, until there are enough."""
    store = Store(folder, corpus.dimension)
    with _progress(console) as progress:
        bar = progress.add_task("resampling tokens", total=tokens, completed=store.tokens)
        while store.tokens < tokens:
            rng = np.random.default_rng([1, store.passages])  # a chunk is the same whenever it is made
            copied = store.passages < len(corpus)
            if copied:
                drawn = np.arange(store.passages, min(store.passages + CHUNK, len(corpus)))
            else:
                drawn = rng.integers(len(corpus), size=CHUNK)
            chosen = np.concatenate([np.arange(corpus.starts[i], corpus.starts[i + 1]) for i in drawn])
            vectors = corpus.vectors[chosen]
            if not copied:
                noise = rng.standard_normal(vectors.shape, dtype=np.float32)
                vectors = _unit(vectors.astype(np.float32) + noise * (NOISE / corpus.dimension**0.5))
            store.append(
                vectors=vectors,
                offsets=corpus.offsets[chosen],
                owners=corpus.owners[chosen],
                lengths=np.diff(corpus.starts)[drawn],
                sources=corpus.sources[drawn],
            )
            progress.update(bar, completed=min(store.tokens, tokens))
    return store


def _unit(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: npt.NDArray[np.float32] = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
    return unit


def _progress(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True)
