"""Merging of segments into one without their deleted passages."""

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
from propcite.retrieval.index.container import ChunkedArray, write_arrays
from propcite.retrieval.index.segment import TOKEN_COLUMNS, Segment, narrow

BATCH_TOKENS = 1 << 18  # tokens in memory at once


@dataclass(frozen=True)
class MergeInput:
    """A segment and a mask (p,) of the passages to keep."""

    segment: Segment
    passages: npt.NDArray[np.bool_]

    @cached_property
    def units(self) -> npt.NDArray[np.bool_]:
        return self.passages[self.segment.unit_owners]

    @cached_property
    def tokens(self) -> npt.NDArray[np.bool_]:
        return np.repeat(self.units, np.diff(self.segment.unit_starts))


def merge_segments(
    inputs: Sequence[MergeInput], codec: Codec, path: Path, progress: Callable[[int], None] = lambda _: None
) -> None:
    """Write one segment of the passages to keep, in order, with a limited number of tokens in memory at a time.

    `progress` gets the number of tokens written so far.
    """
    num_tokens = sum(int(one.tokens.sum()) for one in inputs)
    names = [name for name in TOKEN_COLUMNS if all(name in one.segment.columns for one in inputs)]
    dtypes = {name: np.result_type(*(one.segment.columns[name].dtype for one in inputs)) for name in names}
    if any(one.segment.codec != codec for one in inputs):
        dtypes["scales"] = np.dtype(np.float32)
    columns: dict[str, npt.NDArray[Any] | ChunkedArray] = {
        "payload": ChunkedArray(codec.dtype, (num_tokens, codec.columns), _payloads(inputs, codec, progress)),
        "scales": ChunkedArray(dtypes["scales"], (num_tokens,), _scales(inputs, codec, dtypes["scales"])),
    }
    for name in names[2:]:
        columns[name] = ChunkedArray(dtypes[name], (num_tokens,), _column(inputs, name, dtypes[name]))
    ids = [one.segment.ids[number] for one in inputs for number in np.flatnonzero(one.passages).tolist()]
    tables = {
        "codec": np.array([codec.dimension, codec.bits], np.uint32),
        "units": narrow(np.concatenate([np.diff(one.segment.unit_starts)[one.units] for one in inputs])),
        "sentences": np.concatenate([one.segment.unit_sentences[one.units] for one in inputs]),
        "ranked": np.concatenate([one.segment.unit_ranked[one.units] for one in inputs]),
        "passages": narrow(np.concatenate([np.diff(one.segment.passage_units)[one.passages] for one in inputs])),
        "ids": np.frombuffer(json.dumps(ids).encode(), np.uint8),
    }
    write_arrays(path, columns | tables)


def _payloads(inputs: Sequence[MergeInput], codec: Codec, progress: Callable[[int], None]) -> Iterator[Payload]:
    num_written = 0
    for segment, tokens in _batches(inputs):
        yield _encoded(segment, tokens, codec)[0]
        num_written += len(tokens)
        progress(num_written)


def _scales(inputs: Sequence[MergeInput], codec: Codec, dtype: np.dtype[Any]) -> Iterator[npt.NDArray[Any]]:
    for segment, tokens in _batches(inputs):
        yield _encoded(segment, tokens, codec)[1].astype(dtype)


def _encoded(segment: Segment, tokens: Ints, codec: Codec) -> tuple[Payload, npt.NDArray[Any]]:
    """Return tokens and scales, encoded again if the segment has another codec."""
    payload, scales = segment.payload[tokens], segment.scales[tokens]
    return (payload, scales) if segment.codec == codec else codec.encode(segment.codec.decode(payload, scales))


def _column(inputs: Sequence[MergeInput], name: str, dtype: np.dtype[Any]) -> Iterator[npt.NDArray[Any]]:
    for segment, tokens in _batches(inputs):
        yield getattr(segment, name)[tokens].astype(dtype)


def _batches(inputs: Iterable[MergeInput]) -> Iterator[tuple[Segment, Ints]]:
    """Yield batches of the numbers of the tokens to keep, with their segment."""
    for one in inputs:
        tokens = np.flatnonzero(one.tokens)
        for first in range(0, len(tokens), BATCH_TOKENS):
            yield one.segment, tokens[first : first + BATCH_TOKENS]
