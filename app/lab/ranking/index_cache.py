"""Indexes of measured texts in the data directory: texts are encoded once, and later runs load them."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from propcite.app.lab.ranking.beir import BeirCollection
from propcite.app.parts import Parts
from propcite.app.settings import Settings
from propcite.app.terminal_progress import counting
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index import IndexOptions
from propcite.retrieval.index.manifest import MANIFEST_FILE
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Passage

FOLDER = "evaluations"
BATCH_SIZE = 64  # passages encoded and saved together: an interrupt can lose so many
TOKEN_DATA = "words"  # what indexes store of tokens besides vectors: a part of the key, so that older ones are rebuilt
PRUNING_SETTINGS = ("searched_share", "stored_share", "pruning")


def build_indexes(
    passages: Sequence[Passage], digest: str, encoder: Encoder, settings: Settings, bits: Sequence[int]
) -> dict[int, TokenIndex]:
    """Return an index for each number of bits over the passages of a file with this digest.

    Passages that an earlier call has encoded are loaded, so an interrupted call continues.
    """
    stored = [f"{settings.stored_share} by {settings.pruning}"] if settings.stored_share < 1 else []
    folder = cache_folder(settings, digest, encoder.name, encoder.precision, TOKEN_DATA, *stored)
    folders = {folder / f"{number}-bits": number for number in bits}
    indexes = {path: _open(path, encoder, number, settings) for path, number in folders.items()}
    present = set.intersection(*(index.ids() for index in indexes.values()))
    missing = [passage for passage in passages if passage.id not in present]
    with counting(len(passages), "encoding") as advance:
        advance("encoding", len(passages) - len(missing))
        for first in range(0, len(missing), BATCH_SIZE):
            batch = [passage_from_text(p.id, p.text, p.title) for p in missing[first : first + BATCH_SIZE]]
            _add(batch, encoder, indexes)
            advance("encoding", len(batch))
    return {number: _reload(indexes[path], path, settings) for path, number in folders.items()}


def collection_index(collection: BeirCollection, parts: Parts) -> TokenIndex:
    """Return the index of a collection with the bits of the settings."""
    bits = parts.settings.index_bits
    digest = collection.digests["corpus"]
    return build_indexes(collection.passages, digest, parts.encoder, parts.settings, [bits])[bits]


def index_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings of an index that a figure depends on."""
    others = {name: getattr(settings, name) for name in ("exact_up_to", "asking_share", *PRUNING_SETTINGS)}
    return {"regime": settings.index, "bits": settings.index_bits, **others}


def _open(folder: Path, encoder: Encoder, bits: int, settings: Settings) -> TokenIndex:
    """Return the index of a folder, or an empty one; it has centroids however small it is, for searches by tokens."""
    options: IndexOptions = {
        "bits": bits,
        "regime": settings.index,
        "exact_up_to": 0,
        "searched_share": settings.searched_share,
        "stored_share": settings.stored_share,
        "pruning": settings.pruning,
    }
    if (folder / MANIFEST_FILE).exists():
        try:
            return TokenIndex.load(folder, encoder.name, **options)
        except IndexFormatError:  # damaged: all of it can be encoded again
            shutil.rmtree(folder)
    return TokenIndex(encoder.dimension, encoder.name, **options)


def _add(batch: Sequence[Passage], encoder: Encoder, indexes: dict[Path, TokenIndex]) -> None:
    vectors = encoder.encode_passages(batch)
    for folder, index in indexes.items():
        present = index.ids()
        new = [(p, tokens) for p, tokens in zip(batch, vectors, strict=True) if p.id not in present]
        index.add([p for p, _ in new], [tokens for _, tokens in new])
        index.save(folder)


def _reload(index: TokenIndex, folder: Path, settings: Settings) -> TokenIndex:
    """Return the index as the settings would search it."""
    stats = index.stats()
    if (settings.index == "faiss" and stats.regime != "faiss") or stats.searched_share != settings.searched_share:
        index.save(folder)  # it was built for another regime or share
    return TokenIndex.load(folder, index.encoder, regime=settings.index, exact_up_to=settings.exact_up_to)


def cache_folder(settings: Settings, *names: str) -> Path:
    """Return the folder of what is made of the texts and the model with these names."""
    return settings.data_dir / FOLDER / hashlib.sha256("\0".join(names).encode()).hexdigest()[:16]
