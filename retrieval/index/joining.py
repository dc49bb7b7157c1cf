"""Segments joined to one, without what was deleted, a bounded number of tokens in memory at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Ints
from propcite.retrieval.index.codec import Codec, Payload
from propcite.retrieval.index.container import Pieces, write_arrays
from propcite.retrieval.index.segment import EACH_TOKEN, Segment, narrow

JOINED_AT_ONCE = 1 << 18  # tokens held in memory while segments are joined


@dataclass(frozen=True)
class Kept:
    """A segment and which of its passages are kept, (p,)."""

    segment: Segment
    mask: npt.NDArray[np.bool_]

    @cached_property
    def units(self) -> npt.NDArray[np.bool_]:
        return self.mask[self.segment.unit_owners]

    @cached_property
    def tokens(self) -> npt.NDArray[np.bool_]:
        return np.repeat(self.units, np.diff(self.segment.unit_starts))


def join_segments(
    parts: Sequence[Kept], codec: Codec, path: Path, told: Callable[[int], None] = lambda _: None
) -> None:
    """Write one segment of the passages that are kept, in order, a bounded number of tokens in memory at a time.

    `told` hears how many tokens are written.
    """
    num_tokens = sum(int(part.tokens.sum()) for part in parts)
    names = [name for name in EACH_TOKEN if all(name in part.segment.columns for part in parts)]
    kinds = {name: np.result_type(*(part.segment.columns[name].dtype for part in parts)) for name in names}
    if any(part.segment.codec != codec for part in parts):
        kinds["scales"] = np.dtype(np.float32)
    columns: dict[str, npt.NDArray[Any] | Pieces] = {
        "payload": Pieces(codec.dtype, (num_tokens, codec.columns), _payloads(parts, codec, told)),
        "scales": Pieces(kinds["scales"], (num_tokens,), _scales(parts, codec, kinds["scales"])),
    }
    for name in names[2:]:
        columns[name] = Pieces(kinds[name], (num_tokens,), _column(parts, name, kinds[name]))
    ids = [i for part in parts for i, kept in zip(part.segment.ids, part.mask, strict=True) if kept]
    tables = {
        "codec": np.array([codec.dimension, codec.bits], np.uint32),
        "units": narrow(np.concatenate([np.diff(p.segment.unit_starts)[p.units] for p in parts])),
        "sentences": np.concatenate([p.segment.unit_sentences[p.units] for p in parts]),
        "ranked": np.concatenate([p.segment.unit_ranked[p.units] for p in parts]),
        "passages": narrow(np.concatenate([np.diff(p.segment.passage_units)[p.mask] for p in parts])),
        "ids": np.frombuffer(json.dumps(ids).encode(), np.uint8),
    }
    write_arrays(path, columns | tables)


def _payloads(parts: Sequence[Kept], codec: Codec, told: Callable[[int], None]) -> Iterator[Payload]:
    done = 0
    for part, rows in _runs(parts):
        yield _recoded(part.segment, rows, codec)[0]
        done += len(rows)
        told(done)


def _scales(parts: Sequence[Kept], codec: Codec, dtype: np.dtype[Any]) -> Iterator[npt.NDArray[Any]]:
    for part, rows in _runs(parts):
        yield _recoded(part.segment, rows, codec)[1].astype(dtype)


def _recoded(segment: Segment, rows: Ints, codec: Codec) -> tuple[Payload, npt.NDArray[Any]]:
    """Tokens with their scales; what another codec made is made anew."""
    payload, scales = segment.payload[rows], segment.scales[rows]
    return (payload, scales) if segment.codec == codec else codec.encode(segment.codec.decode(payload, scales))


def _column(parts: Sequence[Kept], name: str, dtype: np.dtype[Any]) -> Iterator[npt.NDArray[Any]]:
    for part, rows in _runs(parts):
        yield getattr(part.segment, name)[rows].astype(dtype)


def _runs(parts: Iterable[Kept]) -> Iterator[tuple[Kept, Ints]]:
    for part in parts:
        rows = np.flatnonzero(part.tokens)
        for first in range(0, len(rows), JOINED_AT_ONCE):
            yield part, rows[first : first + JOINED_AT_ONCE]
