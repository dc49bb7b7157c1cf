"""A segment: token vectors of some passages and where their units begin, never changed once written."""

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
from propcite.retrieval.index.pruning import Pruning, Searched, most_worth, worth
from propcite.retrieval.text import Passage

HEAD = -1  # the unit of tokens that belong to no sentence: special tokens and the title's
MAPPED = ("payload", "scales", "token_starts", "token_lengths")  # one entry a token: read where a search touches them
TOLD = ("token_ids", "token_salience")  # the same, where the encoder tells it
EACH_TOKEN = MAPPED + TOLD


@dataclass(frozen=True)
class Segment:
    """Tokens of passages in order; units (a passage's head, then its sentences) are runs of tokens.

    payload (n, columns) and scales (n,) as the codec made them; token_starts (n,) the first character counted from
    one, 0 for none, token_lengths (n,); token_ids (n,) in the vocabulary and token_salience (n,), None where the
    encoder did not tell; unit_starts (u + 1,) into tokens; unit_sentences (u,) the sentence's number or HEAD;
    unit_ranked (u,) whether a search may return it; passage_units (p + 1,) into units.
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
    ids: tuple[str, ...]
    token_ids: npt.NDArray[Any] | None = None
    token_salience: npt.NDArray[Any] | None = None
    file: Container | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """What has an entry a token, by name."""
        return {name: values for name in EACH_TOKEN if (values := getattr(self, name)) is not None}

    @property
    def num_tokens(self) -> int:
        return len(self.payload)

    @cached_property
    def passage_starts(self) -> Ints:
        """Where each passage's tokens begin, and where the last one's end.  (p + 1,)"""
        return self.unit_starts[self.passage_units]

    @cached_property
    def unit_owners(self) -> Ints:
        """Each unit's passage.  (u,)"""
        return np.repeat(np.arange(len(self)), np.diff(self.passage_units))

    def tokens_of(self, number: int) -> slice:
        return slice(int(self.passage_starts[number]), int(self.passage_starts[number + 1]))

    def tokens_within(self, mask: npt.NDArray[np.bool_]) -> int:
        """How many tokens the passages of a mask have."""
        return int(np.diff(self.passage_starts)[mask].sum())

    def vectors(self, number: int) -> TokenVectors:
        tokens = self.tokens_of(number)
        starts = self.token_starts[tokens].astype(np.int32) - 1
        ends = np.where(starts < 0, -1, starts + self.token_lengths[tokens].astype(np.int32))
        offsets: Offsets = np.stack([starts, ends], axis=1).astype(np.int32)
        salience = None if self.token_salience is None else self.token_salience[tokens].astype(np.float32)
        ids = None if self.token_ids is None else self.token_ids[tokens].astype(np.int64)
        return TokenVectors(self.codec.decode(self.payload[tokens], self.scales[tokens]), offsets, salience, ids)

    def words(self, tokens: slice | Ints) -> Ints:
        """What tokens are in the vocabulary."""
        if self.token_ids is None:
            raise RetrievalError("the index does not know its tokens' words: run propcite reindex")
        return self.token_ids[tokens].astype(np.int64)

    def salience(self, tokens: slice | Ints) -> npt.NDArray[np.float32]:
        if self.token_salience is None:
            raise RetrievalError("the index does not know its tokens' salience: run propcite reindex")
        return self.token_salience[tokens].astype(np.float32)

    def searched(self, share: float, pruning: Pruning) -> Searched:
        """The tokens that candidates are looked for by: the share of each passage's that is most worth it."""
        if share == 1:
            return Searched(self.num_tokens)
        worths = np.concatenate([self._worth(number, pruning) for number in range(len(self))])
        chosen = most_worth(worths, self.passage_starts, self.unit_starts, self.unit_sentences != HEAD, share)
        return Searched(self.num_tokens, share, chosen)

    def _worth(self, number: int, pruning: Pruning) -> npt.NDArray[np.float32]:
        units = self.unit_starts[self.passage_units[number] : self.passage_units[number + 1] + 1]
        return worth(pruning, self.vectors(number), units - units[0])

    @property
    def bytes(self) -> int:
        """On disk; of a segment that is not there yet, what its arrays take."""
        if self.file is not None:
            return self.file.size
        return int(sum(array.nbytes for array in [*_tables(self).values(), *self.columns.values()]))


def build_segment(passages: Sequence[Passage], vectors: Sequence[TokenVectors], codec: Codec) -> Segment:
    """Lay the tokens of passages out by unit.  Every passage needs at least one token."""
    ordered: list[TokenVectors] = []
    unit_lengths: list[int] = []
    unit_sentences: list[int] = []
    unit_ranked: list[bool] = []
    passage_units = [0]
    for passage, tokens in zip(passages, vectors, strict=True):
        owner = _sentence_of_each(passage, tokens)
        order = np.argsort(owner, kind="stable")
        ordered.append(tokens.only(order))
        units, lengths = np.unique(owner, return_counts=True)
        unit_lengths += lengths.tolist()
        unit_sentences += units.tolist()
        unit_ranked += [unit != HEAD and not passage.sentences[unit].is_heading for unit in units]
        passage_units.append(len(unit_lengths))
    laid = TokenVectors.joined(ordered)
    payload, scales = codec.encode(laid.vectors)
    offsets = laid.offsets
    nowhere = offsets[:, 0] < 0
    return Segment(
        codec,
        payload,
        narrow_floats(scales),
        narrow(np.where(nowhere, 0, offsets[:, 0] + 1)),
        narrow(np.where(nowhere, 0, offsets[:, 1] - offsets[:, 0])),
        _starts(unit_lengths),
        np.asarray(unit_sentences, dtype=np.int32),
        np.asarray(unit_ranked, dtype=bool),
        np.asarray(passage_units, dtype=np.int64),
        tuple(p.id for p in passages),
        None if laid.ids is None else narrow(laid.ids),
        None if laid.salience is None else narrow_floats(laid.salience),
    )


def pruned(passage: Passage, tokens: TokenVectors, share: float, pruning: Pruning) -> TokenVectors:
    """The share of a passage's tokens that is most worth keeping, of each sentence at least one."""
    owners = _sentence_of_each(passage, tokens)
    order = np.argsort(owners, kind="stable")
    units, lengths = np.unique(owners, return_counts=True)
    starts = _starts(lengths)
    worths = worth(pruning, tokens.only(order), starts)
    chosen = most_worth(worths, np.array([0, len(tokens)]), starts, units != HEAD, share)
    return tokens.only(np.sort(order[chosen]))


def _sentence_of_each(passage: Passage, tokens: TokenVectors) -> Ints:
    """The number of the sentence in which each token begins, HEAD for tokens without characters.  -> (n,)"""
    if not passage.sentences:
        return np.full(len(tokens), HEAD, dtype=np.int64)
    starts = np.asarray([s.span.start for s in passage.sentences], dtype=np.int64)
    # Of several sentences that start at one place all but the last are empty, and `right` passes over them.
    owner = np.searchsorted(starts, tokens.offsets[:, 0], side="right") - 1
    return np.where(tokens.offsets[:, 0] < 0, HEAD, owner).astype(np.int64)


def write_segment(segment: Segment, path: Path) -> None:
    write_arrays(path, segment.columns | _tables(segment))


def read_segment(path: Path, dimension: int) -> Segment:
    """The tables in memory and checked; what has an entry a token is mapped, and checked by `check` alone."""
    file = Container(path)
    try:
        tables = {name: file.checked(name) for name in ("codec", "units", "sentences", "ranked", "passages", "ids")}
        codec = Codec(*tables["codec"].tolist())
        segment = Segment(
            codec=codec,
            **{name: file.mapped(name) for name in EACH_TOKEN if name in MAPPED or name in file},
            unit_starts=_starts(tables["units"]),
            unit_sentences=tables["sentences"].astype(np.int32),
            unit_ranked=tables["ranked"].astype(bool),
            passage_units=_starts(tables["passages"]),
            ids=tuple(json.loads(tables["ids"].tobytes())),
            file=file,
        )
        fits = _fits(segment) and codec.dimension == dimension
    except (ValueError, KeyError, IndexError, TypeError):
        fits = False
    if not fits:
        raise IndexFormatError(f"the index part {path} does not fit together: {REPAIR}")
    return segment


def _fits(segment: Segment) -> bool:
    """Whether the arrays speak of the same tokens, units and passages."""
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
        "ids": np.frombuffer(json.dumps(segment.ids).encode(), np.uint8),
    }


def _starts(lengths: npt.ArrayLike) -> Ints:
    """Where runs of these lengths begin, and where the last one ends.

    >>> _starts([2, 3]).tolist()
    [0, 2, 5]
    """
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


def narrow(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same numbers, none below zero, in as few bytes as the largest needs."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def narrow_floats(numbers: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
    """In half precision where none loses more than rounding takes."""
    half = numbers.astype(np.float16)
    near = np.abs(half.astype(np.float32) - numbers) <= 1e-3 * np.abs(numbers)
    return half if near.all() else numbers
