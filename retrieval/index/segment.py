"""A segment: the token vectors of some passages and the bounds of their units, immutable once written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Ints, Offsets, TokenVectors
from propcite.retrieval.errors import IndexFormatError, RetrievalError
from propcite.retrieval.index.codec import Codec, Payload
from propcite.retrieval.index.container import REPAIR, Container, write_arrays
from propcite.retrieval.index.passage_ids import PassageIds
from propcite.retrieval.index.pruning import Pruning, SearchedTokens, importance, most_important
from propcite.retrieval.text import Passage

HEAD = -1  # the unit of tokens outside of sentences: special tokens and the title's
REQUIRED_COLUMNS = ("payload", "scales", "token_starts", "token_lengths")
OPTIONAL_COLUMNS = ("token_ids", "token_salience")  # if the encoder provides them
TOKEN_COLUMNS = REQUIRED_COLUMNS + OPTIONAL_COLUMNS  # one row per token, memory-mapped


@dataclass(frozen=True)
class Segment:
    """Tokens of passages in order; units (a passage's head, then its sentences) are runs of tokens.

    Per token: payload (n, columns) and scales (n,) from the codec; token_starts (n,) the first character counted from
    one, 0 if there is none, token_lengths (n,); token_ids (n,) in the vocabulary and token_salience (n,), None if the
    encoder does not provide them.  Per unit: unit_starts (u + 1,) into tokens; unit_sentences (u,) the number of the
    sentence, or HEAD; unit_ranked (u,) whether a search may return it.  Per passage: passage_units (p + 1,) into units.
    """

    codec: Codec
    payload: Payload
    scales: npt.NDArray[Any]
    token_starts: npt.NDArray[Any]
    token_lengths: npt.NDArray[Any]
    unit_starts: Ints
    unit_sentences: npt.NDArray[np.int32]
    unit_ranked: npt.NDArray[np.bool_]
    passage_units: Ints
    ids: PassageIds
    token_ids: npt.NDArray[Any] | None = None
    token_salience: npt.NDArray[Any] | None = None
    file: Container | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays with one row per token, by name."""
        return {name: values for name in TOKEN_COLUMNS if (values := getattr(self, name)) is not None}

    @property
    def num_tokens(self) -> int:
        return len(self.payload)

    @cached_property
    def passage_starts(self) -> Ints:
        """Return the first token of each passage, and the end of the last.  (p + 1,)"""
        return self.unit_starts[self.passage_units]

    @cached_property
    def passage_lengths(self) -> Ints:
        """Return the number of tokens of each passage.  (p,)"""
        return np.diff(self.passage_starts)

    @cached_property
    def unit_owners(self) -> Ints:
        """Return the passage of each unit.  (u,)"""
        return np.repeat(np.arange(len(self)), np.diff(self.passage_units))

    def tokens_of(self, number: int) -> slice:
        return slice(int(self.passage_starts[number]), int(self.passage_starts[number + 1]))

    def num_tokens_in(self, mask: npt.NDArray[np.bool_]) -> int:
        """Return the number of tokens of the passages in a mask."""
        return int(self.passage_lengths[mask].sum())

    def vectors(self, number: int) -> TokenVectors:
        """Decode the tokens of one passage."""
        tokens = self.tokens_of(number)
        starts = self.token_starts[tokens].astype(np.int32) - 1
        ends = np.where(starts < 0, -1, starts + self.token_lengths[tokens].astype(np.int32))
        offsets: Offsets = np.stack([starts, ends], axis=1).astype(np.int32)
        salience = None if self.token_salience is None else self.token_salience[tokens].astype(np.float32)
        ids = None if self.token_ids is None else self.token_ids[tokens].astype(np.int64)
        return TokenVectors(self.codec.decode(self.payload[tokens], self.scales[tokens]), offsets, salience, ids)

    def vocabulary_ids(self, tokens: slice | Ints) -> Ints:
        if self.token_ids is None:
            raise RetrievalError("the index stores no vocabulary ids of its tokens: run propcite reindex")
        return self.token_ids[tokens].astype(np.int64)

    def salience(self, tokens: slice | Ints) -> npt.NDArray[np.float32]:
        if self.token_salience is None:
            raise RetrievalError("the index stores no salience of its tokens: run propcite reindex")
        return self.token_salience[tokens].astype(np.float32)

    def searched_tokens(self, share: float, pruning: Pruning) -> SearchedTokens:
        """Choose the tokens used to find candidates: the most important share of each passage's."""
        if share == 1:
            return SearchedTokens(self.num_tokens)
        importances = np.concatenate([self._importance(number, pruning) for number in range(len(self))])
        is_sentence = self.unit_sentences != HEAD
        mask = most_important(importances, self.passage_starts, self.unit_starts, is_sentence, share)
        return SearchedTokens(self.num_tokens, share, mask)

    def _importance(self, number: int, pruning: Pruning) -> npt.NDArray[np.float32]:
        starts = self.unit_starts[self.passage_units[number] : self.passage_units[number + 1] + 1]
        return importance(pruning, self.vectors(number), starts - starts[0])

    @property
    def bytes(self) -> int:
        """Return the size on disk, or the size of the arrays if the segment is not on disk yet."""
        if self.file is not None:
            return self.file.size
        return int(sum(array.nbytes for array in [*_tables(self).values(), *self.columns.values()]))


def check_tokens(passage: Passage, tokens: TokenVectors, dimension: int) -> None:
    """Raise ValueError if a passage's vectors cannot be stored."""
    if not len(tokens):
        raise ValueError(f"passage {passage.id!r} has no token")
    if tokens.vectors.shape[1:] != (dimension,):
        got = ", ".join(map(str, tokens.vectors.shape[1:])) or "single numbers"
        raise ValueError(f"vectors must have {dimension} dimensions, got {got}")
    if tokens.offsets.shape != (len(tokens.vectors), 2):
        raise ValueError(f"offsets must have a row for each of {len(tokens)} tokens, got shape {tokens.offsets.shape}")
    if not np.isfinite(tokens.vectors).all():
        raise ValueError(f"passage {passage.id!r} has a vector that is not finite")
    if not tokens.vectors.any(axis=1).all():
        raise ValueError(f"passage {passage.id!r} has a vector of zeros")


def build_segment(passages: Sequence[Passage], vectors: Sequence[TokenVectors], codec: Codec) -> Segment:
    """Encode passages with their tokens grouped by unit.  Every passage needs at least one token."""
    ordered: list[TokenVectors] = []
    unit_lengths: list[int] = []
    unit_sentences: list[int] = []
    unit_ranked: list[bool] = []
    passage_units = [0]
    for passage, tokens in zip(passages, vectors, strict=True):
        sentence_of = _token_sentences(passage, tokens)
        ordered.append(tokens.only(np.argsort(sentence_of, kind="stable")))
        sentences, lengths = np.unique(sentence_of, return_counts=True)
        unit_lengths += lengths.tolist()
        unit_sentences += sentences.tolist()
        unit_ranked += [number != HEAD and not passage.sentences[number].is_heading for number in sentences]
        passage_units.append(len(unit_lengths))
    all_tokens = TokenVectors.joined(ordered)
    payload, scales = codec.encode(all_tokens.vectors)
    offsets = all_tokens.offsets
    without_text = offsets[:, 0] < 0
    return Segment(
        codec,
        payload,
        narrow_floats(scales),
        narrow(np.where(without_text, 0, offsets[:, 0] + 1)),
        narrow(np.where(without_text, 0, offsets[:, 1] - offsets[:, 0])),
        _starts(unit_lengths),
        np.asarray(unit_sentences, dtype=np.int32),
        np.asarray(unit_ranked, dtype=bool),
        np.asarray(passage_units, dtype=np.int64),
        PassageIds.of(p.id for p in passages),
        None if all_tokens.ids is None else narrow(all_tokens.ids),
        None if all_tokens.salience is None else narrow_floats(all_tokens.salience),
    )


def prune_tokens(passage: Passage, tokens: TokenVectors, share: float, pruning: Pruning) -> TokenVectors:
    """Return the most important share of a passage's tokens, with at least one token of each sentence."""
    sentence_of = _token_sentences(passage, tokens)
    order = np.argsort(sentence_of, kind="stable")
    sentences, lengths = np.unique(sentence_of, return_counts=True)
    starts = _starts(lengths)
    importances = importance(pruning, tokens.only(order), starts)
    mask = most_important(importances, np.array([0, len(tokens)]), starts, sentences != HEAD, share)
    return tokens.only(np.sort(order[mask]))


def _token_sentences(passage: Passage, tokens: TokenVectors) -> Ints:
    """Return the number of the sentence in which each token begins, HEAD for tokens without characters.  -> (n,)"""
    if not passage.sentences:
        return np.full(len(tokens), HEAD, dtype=np.int64)
    starts = np.asarray([s.span.start for s in passage.sentences], dtype=np.int64)
    # If several sentences have the same start, all but the last are empty, and side="right" skips them.
    numbers = np.searchsorted(starts, tokens.offsets[:, 0], side="right") - 1
    return np.where(tokens.offsets[:, 0] < 0, HEAD, numbers).astype(np.int64)


def write_segment(segment: Segment, path: Path) -> None:
    write_arrays(path, segment.columns | _tables(segment))


def read_segment(path: Path, dimension: int) -> Segment:
    """Open a segment: tables are read and verified, columns of tokens are mapped and verified by `check` only."""
    file = Container(path)
    try:
        tables = {name: file.read(name) for name in ("codec", "units", "sentences", "ranked", "passages")}
        codec = Codec(*tables["codec"].tolist())
        segment = Segment(
            codec=codec,
            **{name: file.mapped(name) for name in TOKEN_COLUMNS if name in REQUIRED_COLUMNS or name in file},
            unit_starts=_starts(tables["units"]),
            unit_sentences=tables["sentences"].astype(np.int32),
            unit_ranked=tables["ranked"].astype(bool),
            passage_units=_starts(tables["passages"]),
            ids=PassageIds.from_json(file.verified("ids")),
            file=file,
        )
        consistent = _is_consistent(segment) and codec.dimension == dimension
    except (ValueError, KeyError, IndexError, TypeError):
        consistent = False
    if not consistent:
        raise IndexFormatError(f"the index file {path} is inconsistent: {REPAIR}")
    return segment


def _is_consistent(segment: Segment) -> bool:
    """Return whether the arrays agree in the numbers of tokens, units and passages."""
    return (
        segment.payload.shape == (segment.unit_starts[-1], segment.codec.columns)
        and segment.payload.dtype == segment.codec.dtype
        and all(len(values) == segment.num_tokens for values in segment.columns.values())
        and len(segment.unit_sentences) == len(segment.unit_ranked) == segment.passage_units[-1]
        and len(segment.passage_units) == len(segment) + 1
    )


def _tables(segment: Segment) -> dict[str, npt.NDArray[Any]]:
    return {
        "codec": np.array([segment.codec.dimension, segment.codec.bits], np.uint32),
        "units": narrow(np.diff(segment.unit_starts)),
        "sentences": segment.unit_sentences,
        "ranked": segment.unit_ranked,
        "passages": narrow(np.diff(segment.passage_units)),
        "ids": np.frombuffer(json.dumps(list(segment.ids)).encode(), np.uint8),
    }


def _starts(lengths: npt.ArrayLike) -> Ints:
    """Return the start of each run of these lengths, and the end of the last.

    >>> _starts([2, 3]).tolist()
    [0, 2, 5]
    """
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


def narrow(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Convert non-negative integers to the smallest type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def narrow_floats(numbers: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
    """Convert to half precision if no number loses more than rounding."""
    half = numbers.astype(np.float16)
    close = np.abs(half.astype(np.float32) - numbers) <= 1e-3 * np.abs(numbers)
    return half if close.all() else numbers
