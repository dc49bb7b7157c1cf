"""The token index: its protocol, its results and its statistics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, Required, TypedDict, Unpack

from propcite.retrieval.alignment import Alignment
from propcite.retrieval.encoding.base import Floats, Ints, TokenVectors
from propcite.retrieval.text import Granularity
from propcite.retrieval.timing import Timer
from propcite.retrieval.words.query import WordQuery

if TYPE_CHECKING:
    from propcite.retrieval.index.allowed import Allowed
    from propcite.retrieval.index.pruning import Pruning

Regime = Literal["auto", "exact", "tokens", "faiss"]  # how candidates are found
ProgressReport = Callable[[str, float], None]  # gets the name of a long step and the share of it that is done


def ignore_progress(step: str, share: float) -> None:
    """Discard a progress report."""


def report_share(progress: Callable[[float], None], total: int, before: int, done: int) -> None:
    """Report `before + done` of `total` items as a share."""
    progress((before + done) / total)


@dataclass(frozen=True, slots=True)
class IndexHit:
    """A passage, or one of its sentences by number, with its own score and its passage's.

    `score` decided the rank: MaxSim, or XTR's score if no vectors of whole passages were read.  If query tokens
    retrieved tokens, `xtr` is XTR's score, and `bound` is an upper bound of MaxSim, provided that they retrieved their
    true nearest tokens.  `words` is the part of the score that exact words add, None where vectors rank alone.
    """

    passage_id: str
    sentence: int | None
    score: float
    passage_score: float
    xtr: float | None = None
    bound: float | None = None
    words: float | None = None


@dataclass(frozen=True, slots=True)
class IndexStats:
    """The size of an index, counted and not estimated."""

    regime: str
    encoder: str
    dimension: int
    bits: tuple[int, ...]
    passages: int
    tokens: int
    deleted: int
    segments: int
    centroids: int
    bytes: int
    searched_share: float = 1.0  # of each passage's tokens, used to find candidates
    shards: int = 1

    @property
    def bytes_per_token(self) -> float:
        return self.bytes / self.tokens if self.tokens else 0.0


class IndexOptions(TypedDict, total=False):
    """How an index is stored and searched."""

    bits: int
    regime: Regime
    exact_up_to: int
    searched_share: float
    stored_share: float
    pruning: Pruning
    progress: ProgressReport


class SearchOptions(TypedDict, total=False):
    """The options of a search for the `k` best passages or sentences.

    `passage_share` of a sentence's score is its passage's, with the weights `passage_weights` if other tokens of the
    query ask for passages.  `allow` limits the search to some passages.  `alignment` is the pairs of tokens that count;
    some need the vocabulary ids `words` (q,) of the query's tokens.  `word_query` adds exact words to the similarity of
    vectors, or ranks by them alone.  `timer` measures the stages.

    Only the `asking_share` of the query's tokens look for candidates: the largest by `worths` (q,), or else by weight.
    `refine` candidates per row are read as a whole, by default a number that depends on k; with 0 the rank is XTR's
    score over `num_retrieved` tokens per query token, and `missing_similarity` replaces similarities that were not
    retrieved, by default the floor.  `regime` overrules the index's own.
    """

    k: Required[int]
    granularity: Granularity
    passage_share: float
    passage_weights: Floats | None
    allow: Allowed | Collection[str] | None
    asking_share: float
    worths: Floats | None
    alignment: Alignment
    words: Ints | None
    word_query: WordQuery | None
    timer: Timer | None
    regime: Regime
    refine: int | None
    num_retrieved: int
    missing_similarity: float | None


class Index(Protocol):
    """Stores token vectors of passages by id and ranks passages and their sentences.

    A query is a matrix of token vectors with one row of token weights per ranking: for the whole text, or for one of
    its propositions.  One pass over the vectors answers all rows.
    """

    def search(self, query: Floats, weights: Floats, **options: Unpack[SearchOptions]) -> list[list[IndexHit]]:
        """Return the k best units for each row of weights.  (q, d), (n, q) -> n lists, best first, ties by id"""
        ...

    def vectors(self, passage_id: str) -> TokenVectors: ...

    def vectors_of(self, ids: Iterable[str]) -> dict[str, TokenVectors]:
        """Return the vectors of passages by id, without unknown ids."""
        ...

    def ids(self, allow: Allowed | None = None) -> set[str]:
        """Return the ids of all passages, or of those that are allowed."""
        ...

    def __len__(self) -> int:
        """Return the number of passages."""
        ...

    @property
    def version(self) -> str:
        """Return a name of the set of passage ids and the encoder, whatever the order of changes."""
        ...

    @property
    def missing(self) -> tuple[str, ...]:
        """Name what searches have left out because it did not answer; empty where all was searched."""
        ...

    def stats(self) -> IndexStats: ...
