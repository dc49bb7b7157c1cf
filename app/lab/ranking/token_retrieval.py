"""`propcite eval tokens`: XTR's analyses (Lee et al. 2023) of the tokens that queries retrieve.

Each query token retrieves its nearest tokens of the collection, compared with all of them.  Measured are the shares of
gold tokens, which are those of relevant passages, and of lexical matches, which are the query token's own words, among
the first of them, and rankings by the retrieved tokens alone, with several values in the place of
similarities that were not retrieved (table 5 there).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import numpy as np

from propcite.app.errors import AppError
from propcite.app.lab.ranking.beir import BeirCollection, FolderQuery, by_name, folder_queries
from propcite.app.lab.ranking.encoders import LoadedEncoders, RankingConfig, encoder_names, token_ids
from propcite.app.lab.ranking.index_cache import build_indexes, index_settings
from propcite.app.lab.ranking.layouts import read_collection
from propcite.app.lab.ranking.relevance import DEPTH, import_ir_measures, ranking_figures
from propcite.app.lab.runs.runner import Pending, RunOptions, add_costs, measure, open_run, split_cost, timed
from propcite.app.library.store.runs import RunItem
from propcite.app.parts import Parts
from propcite.retrieval.encoding.base import Floats, Ints, Mask, TokenVectors
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.index.xtr import floors_of, from_floors, nearest_of, nearest_tokens

MEASURES = ("nDCG@10", "RR@10", "R@100")
NUMBERS = (100, 1000)  # tokens that each query token retrieves
IMPUTED = ("floor", "zero", "mean", "none")  # or a number
FIRST = (1, 10, 100, 1000)  # of the retrieved tokens, by similarity
RATES = "retrieved tokens"
BATCH_SIZE = 32  # queries
MISSING = -np.inf


def evaluate(
    folders: Sequence[Path],
    parts: Parts,
    numbers: Sequence[int],
    imputed: Sequence[str],
    encoders: Sequence[str],
    options: RunOptions,
    split: str = "",
) -> list[RunItem]:
    """Measure the queries of folders with judged passages, and return the run's items."""
    import_ir_measures()
    for name in imputed:
        constant_of(name)
    collections = by_name(read_collection(folder, split) for folder in folders)
    if unjudged := [name for name, one in collections.items() if any(query.answers for query in one.queries)]:
        raise AppError(f"{unjudged[0]} has answers and no judged passages: give a folder with judgements")
    rows, loaded = folder_queries(collections, options), LoadedEncoders(parts)
    configs = [RankingConfig("m_q", name) for name in dict.fromkeys(encoders or [""])]
    searches = {
        (config.encoder, folder): _search(one, loaded[config.encoder], parts)
        for config in configs
        for folder, one in collections.items()
    }
    ways = [
        ", ".join(filter(None, (name, config.encoder)))
        for config in configs
        for name in (RATES, *(way_name(number, how) for number in numbers for how in imputed))
    ]
    settings = {
        "files": {name: dict(one.digests) for name, one in collections.items()},
        "ways": ways,
        **loaded.settings(configs),
        "index": index_settings(parts.settings),
        **options.settings,
    }
    run = open_run(parts.runs, "tokens", ", ".join(collections), settings, loaded.about(configs), options=options)
    work = partial(measure_queries, searches, loaded, encoder_names(configs), numbers, imputed)
    measure(parts.runs, run, rows, attrgetter("key"), ways, work, BATCH_SIZE, "retrieving")
    return list(parts.runs.items(run.id))


def _search(collection: BeirCollection, encoder: Encoder, parts: Parts) -> TokenIndex:
    bits = parts.settings.index_bits
    return build_indexes(collection.passages, collection.digests["corpus"], encoder, parts.settings, [bits])[bits]


def way_name(number: int, imputed: str) -> str:
    """
    >>> way_name(1000, "floor")
    "k' 1000, floor"
    """
    return f"k' {number}, {imputed}"


def measure_queries(
    searches: Mapping[tuple[str, str], TokenIndex],
    encoders: LoadedEncoders,
    names: Sequence[str],
    numbers: Sequence[int],
    imputed: Sequence[str],
    pending: Sequence[Pending[FolderQuery]],
) -> Iterator[RunItem]:
    """Yield each query's rates and its ranking by each number of tokens and each imputed value."""
    for folder, group in groupby(pending, key=lambda one: one.row.folder):
        rows = list(group)
        for name in names:
            with timed() as encoding:
                queries = encoders[name].encode_queries([one.row.query.text for one in rows])
            share = split_cost(encoding, len(rows))
            for one, query in zip(rows, queries, strict=True):
                yield from _query_items(searches[name, folder], one, query, name, numbers, imputed, share)


def _query_items(
    index: TokenIndex,
    pending: Pending[FolderQuery],
    query: TokenVectors,
    encoder: str,
    numbers: Sequence[int],
    imputed: Sequence[str],
    encoding: Mapping[str, float],
) -> Iterator[RunItem]:
    judged = pending.row.query
    relevant = {id_ for id_, grade in judged.grades.items() if grade > 0}
    output = {"source": pending.row.folder, "question": judged.text}
    with timed() as cost:
        retrieved = {number: Retrieved.of(index, query, number) for number in sorted(set(numbers), reverse=True)}
    share = add_costs(encoding, split_cost(cost, len(pending.ways)))
    way = ", ".join(filter(None, (RATES, encoder)))
    if way in pending.ways:
        yield RunItem(pending.key, way, retrieved[max(numbers)].rates(query, relevant), output, share)
    for number, found in retrieved.items():
        for how in imputed:
            way = ", ".join(filter(None, (way_name(number, how), encoder)))
            if way in pending.ways:
                with timed() as cost:
                    ranking = found.ranking(query.weights(), how)
                measures = ranking_figures(ranking, judged.grades, MEASURES)
                yield RunItem(pending.key, way, measures, {**output, "ranking": ranking[:10]}, add_costs(cost, share))


@dataclass(frozen=True)
class Retrieved:
    """Pairs of a retrieved token and the query token that retrieved it, by query token and similarity, best first.

    `places` are numbers of `passages` and `vocabulary` are the retrieved tokens' ids.  (h,) each; `floors` (q,) are the
    last retrieved similarities.
    """

    passages: Sequence[str]
    places: Ints
    vocabulary: Ints
    columns: Ints
    similarities: Floats
    floors: Floats

    @classmethod
    def of(cls, index: TokenIndex, query: TokenVectors, number: int) -> Retrieved:
        encoded = index.codec.encode_query(query.vectors)
        live = [one for one in index.segments if one.num_passages]
        matches = [nearest_tokens(one.segment, one.mask, encoded, number) for one in live]
        floors = floors_of(nearest_of(matches, len(query.vectors), number))
        kept = list(zip(live, from_floors(matches, floors), strict=True))
        starts = np.cumsum([0, *(len(one.segment) for one in live)])
        places = np.concatenate([start + m.passages for start, (_, m) in zip(starts, kept, strict=False)])
        words = np.concatenate([one.segment.vocabulary_ids(np.asarray(m.tokens, np.int64)) for one, m in kept])
        columns, similarities = (np.concatenate([getattr(m, n) for _, m in kept]) for n in ("columns", "similarities"))
        order = np.lexsort((places, -similarities, columns))
        ids = [id_ for one in live for id_ in one.segment.ids]
        return cls(ids, places[order], words[order], columns[order], similarities[order], floors)

    @cached_property
    def _found(self) -> tuple[Ints, Floats]:
        """Return the passages with a retrieved token, and the best similarity of each query token.  (n,), (n, q)"""
        found, rows = np.unique(self.places, return_inverse=True)
        best = np.full((len(found), len(self.floors)), MISSING, np.float32)
        np.maximum.at(best, (rows, self.columns), self.similarities)
        return found, best

    def rates(self, query: TokenVectors, relevant: Collection[str]) -> dict[str, float]:
        """Return the shares of gold and of lexical matches among the first tokens, over the query's own words."""
        gold = np.isin(self.places, [n for n, id_ in enumerate(self.passages) if id_ in relevant])
        lexical = self.vocabulary == token_ids(query)[self.columns]
        own = np.flatnonzero(query.offsets[:, 0] >= 0)  # neither special tokens nor masks
        bounds = np.searchsorted(self.columns, np.arange(len(self.floors) + 1))
        rates = {}
        for name, flags in (("gold", gold), ("lexical", lexical)):
            for first in FIRST:
                if len(own) and first <= int(np.diff(bounds).min()):
                    rates[f"{name}@{first}"] = float(np.mean([_share(flags, bounds[n], first) for n in own]))
        return rates

    def ranking(self, weights: Floats, imputed: str) -> list[str]:
        """Return the passages with a retrieved token, by the retrieved similarities and what stands for the others."""
        found, best = self._found
        missing = best == MISSING
        if imputed == "none":
            retrieved = np.where(missing, 0.0, best) @ weights
            scores = retrieved / np.maximum((~missing) @ weights, 1e-3)
        else:
            scores = np.where(missing, self._filling(imputed), best) @ weights
        return [self.passages[found[n]] for n in np.argsort(-scores, kind="stable")[:DEPTH]]

    def _filling(self, imputed: str) -> Floats:
        """Return what each query token's missing similarities are taken for.  (q,)"""
        if imputed == "floor":
            return self.floors
        if imputed == "mean":
            counts = np.maximum(np.bincount(self.columns, minlength=len(self.floors)), 1)
            sums = np.bincount(self.columns, self.similarities, len(self.floors))
            return (sums / counts).astype(np.float32)
        return np.full_like(self.floors, constant_of(imputed))


def constant_of(imputed: str) -> float:
    """Return the number that a name stands for, 0 for those that are none; an unknown name raises AppError.

    >>> constant_of("0.2"), constant_of("zero")
    (0.2, 0.0)
    """
    if imputed in IMPUTED:
        return 0.0
    try:
        value = float(imputed)
    except ValueError:
        value = np.nan
    if not -1 <= value <= 1:
        raise AppError(f"--impute {imputed}: give {', '.join(IMPUTED)} or a number from -1 to 1")
    return value


def _share(flags: Mask, start: int, first: int) -> float:
    return float(flags[start : start + first].mean())
