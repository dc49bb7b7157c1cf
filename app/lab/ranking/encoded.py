"""Texts that are measured on, encoded once: an index in the data directory that later runs find again."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from propcite.app.settings import Settings
from propcite.app.terminal import counting
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index.manifest import FILE
from propcite.retrieval.index.token_index import IndexOptions, TokenIndex
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Passage

FOLDER = "evaluations"
BLOCK = 64  # passages encoded and saved at once: what an interrupt can lose
KNOWN = "words"  # what an index knows of each token beside its vector: without it, it is made anew
PRUNED = ("searched_share", "stored_share", "pruning")  # settings that say which tokens an index has


def encoded(
    passages: Sequence[Passage], digest: str, encoder: Encoder, settings: Settings, bits: Sequence[int]
) -> dict[int, TokenIndex]:
    """An index of each number of bits over the same passages, which are known by the digest of their file.

    What an earlier call has encoded is read from disk, so an interrupted one is gone on with.
    """
    stored = [f"{settings.stored_share} by {settings.pruning}"] if settings.stored_share < 1 else []
    folder = settings.data_dir / FOLDER / _key(digest, encoder.name, encoder.precision, KNOWN, *stored)
    places = {folder / f"{number}-bits": number for number in bits}
    indexes = {place: _growing(place, encoder, number, settings) for place, number in places.items()}
    there = set.intersection(*(index.ids() for index in indexes.values()))
    missing = [passage for passage in passages if passage.id not in there]
    with counting(len(passages), "encoding") as advance:
        advance("encoding", len(passages) - len(missing))
        for first in range(0, len(missing), BLOCK):
            block = [passage_from_text(p.id, p.text, p.title) for p in missing[first : first + BLOCK]]
            _add(block, encoder, indexes)
            advance("encoding", len(block))
    return {number: _finished(indexes[place], place, settings) for place, number in places.items()}


def _growing(folder: Path, encoder: Encoder, bits: int, settings: Settings) -> TokenIndex:
    """Candidates can be found by centroids however small it is: a search may ask for that."""
    options: IndexOptions = {
        "bits": bits,
        "regime": settings.index,
        "exact_up_to": 0,
        "searched_share": settings.searched_share,
        "stored_share": settings.stored_share,
        "pruning": settings.pruning,
    }
    if (folder / FILE).exists():
        try:
            return TokenIndex.load(folder, encoder.name, **options)
        except IndexFormatError:  # damaged: all of it can be encoded again
            shutil.rmtree(folder)
    return TokenIndex(encoder.dimension, encoder.name, **options)


def _add(block: Sequence[Passage], encoder: Encoder, indexes: dict[Path, TokenIndex]) -> None:
    vectors = encoder.encode_passages(block)
    for folder, index in indexes.items():
        there = index.ids()
        new = [(p, tokens) for p, tokens in zip(block, vectors, strict=True) if p.id not in there]
        index.add([p for p, _ in new], [tokens for _, tokens in new])
        index.save(folder)


def _finished(index: TokenIndex, folder: Path, settings: Settings) -> TokenIndex:
    """The index as the settings would search it."""
    told = index.stats()
    if (settings.index == "faiss" and told.regime != "faiss") or told.searched_share != settings.searched_share:
        index.save(folder)  # it was made for another regime, or to be searched by other tokens
    return TokenIndex.load(folder, index.encoder, regime=settings.index, exact_up_to=settings.exact_up_to)


def _key(*names: str) -> str:
    return hashlib.sha256("\0".join(names).encode()).hexdigest()[:16]
