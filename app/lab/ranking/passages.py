"""`propcite eval beir`: rank the passages of a collection for its queries, in our ways and by BM25."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from propcite.app.lab.ranking.beir import BeirCollection, Query, read_beir
from propcite.app.lab.ranking.encoders import BM25, MARKERS, LoadedEncoders, RankingConfig, encoder_names, token_ids
from propcite.app.lab.ranking.index_cache import build_indexes, index_settings
from propcite.app.lab.ranking.relevance import DEPTH, PASSAGES, import_ir_measures, ranking_figures
from propcite.app.lab.runs.runner import Pending, RunOptions, add_costs, measure, open_run, split_cost, timed
from propcite.app.library.store.runs import RunItem
from propcite.app.parts import Parts
from propcite.app.settings import Settings
from propcite.retrieval.alignment import NEAREST, alignment_of
from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.salience import idf
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Granularity
from propcite.retrieval.words.query import Way, WordQuery
from propcite.retrieval.words.shares import QUESTION_SHARES

NUM_STORED = 10  # passages of a ranking
BATCH_SIZE = 32  # queries encoded together

Cost = Mapping[str, float]
Weigh = Callable[[TokenVectors], Floats]  # a query's tokens (n,) to weights that sum to 1
Rank = Callable[[Sequence[str]], Iterable[tuple[list[str], Cost]]]  # each query's passage ids, best first


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """How an index is searched: the query's marker, how candidates are found, whether rare words weigh more.

    `way` says whether vectors rank, exact words, or both.
    """

    marker: str = "m_q"
    search: Mapping[str, Any] = field(default_factory=dict)
    by_rarity: bool = False
    way: Way = "vectors"


SEARCHES = {
    "m_q": SearchConfig(),  # candidates as the settings say
    "both": SearchConfig(way="both"),  # with exact words beside vectors
    "words": SearchConfig(way="words"),
    "exact": SearchConfig(search={"regime": "exact"}),
    "idf": SearchConfig(search={"regime": "exact"}, by_rarity=True),  # words by sqrt(idf) in the collection
    "tokens": SearchConfig(search={"regime": "tokens"}),
    "xtr": SearchConfig(search={"regime": "tokens", "refine": 0}),  # XTR's scores alone
    "m'_q": SearchConfig("m'_q", {"regime": "exact"}),
    "m''_q": SearchConfig("m''_q", {"regime": "exact"}),
}
WAYS = (BM25, *SEARCHES)
ALIGNABLE = tuple(name for name in SEARCHES if name != "xtr")  # ways that allow any alignment
DEFAULT = (BM25, "m_q", "both", "words", "exact", "m'_q", "m''_q")


def evaluate(
    folder: Path,
    parts: Parts,
    configs: Sequence[RankingConfig],
    options: RunOptions,
    *,
    split: str = "",
    explicit: bool = True,
    not_itself: bool = False,
) -> list[RunItem]:
    """Measure a BEIR folder and return the run's items.

    Ways whose marker an encoder lacks are left out unless they are `explicit`.
    """
    import_ir_measures()
    collection = read_beir(folder, split)
    queries = options.select(collection.queries)
    encoders = LoadedEncoders(parts)
    configs = encoders.supported(configs, lambda way: SEARCHES[way].marker, explicit=explicit)
    depth = DEPTH + not_itself  # one more, since one may be left out
    ranks, indexes = build_rankings(collection, configs, encoders, parts.settings, depth)
    settings = {
        "files": collection.digests,
        "ways": [config.name for config in configs],
        **encoders.settings(configs),
        **({"index": index_settings(parts.settings)} if encoder_names(configs) else {}),
        "not_itself": not_itself,
        **options.settings,
    }
    about = {**encoders.about(configs), "indexes": indexes}
    run = open_run(parts.runs, "beir", collection.name, settings, about, options=options)
    work = partial(measure_queries, ranks, not_itself=not_itself)
    measure(parts.runs, run, queries, attrgetter("id"), list(ranks), work, BATCH_SIZE, "ranking")
    return list(parts.runs.items(run.id))


def build_rankings(
    collection: BeirCollection,
    configs: Sequence[RankingConfig],
    encoders: LoadedEncoders,
    settings: Settings,
    depth: int = DEPTH,
) -> tuple[dict[str, Rank], dict[str, Any]]:
    """Return the ways' rankings by name and facts about the indexes; encodes passages that are not encoded yet."""
    ranks: dict[str, Rank] = {c.name: rank_by_bm25(collection, depth) for c in configs if c.way == BM25}
    about: dict[str, Any] = {}
    for name in encoder_names(configs):
        own = [config for config in configs if config.way != BM25 and config.encoder == name]
        bits = sorted({config.bits or settings.index_bits for config in own}, reverse=True)
        indexes = build_indexes(collection.passages, collection.digests["corpus"], encoders[name], settings, bits)
        about |= {f"{number} bits {name}".strip(): _about(index) for number, index in indexes.items()}
        for config in own:
            index = indexes[config.bits or settings.index_bits]
            search = _search(config, settings)
            weigh = _by_rarity(index) if search.by_rarity else TokenVectors.weights
            ranks[config.name] = partial(_rank_by_index, index, encoders[name], search, weigh, depth)
    return {config.name: ranks[config.name] for config in configs}, about


def _search(config: RankingConfig, settings: Settings) -> SearchConfig:
    search = SEARCHES[config.way]
    alignment = alignment_of(config.alignment) if config.alignment else NEAREST
    return replace(search, search={**search.search, "asking_share": settings.asking_share, "alignment": alignment})


def _about(index: TokenIndex) -> dict[str, Any]:
    stats = index.stats()
    return {
        "version": index.version,
        "passages": stats.passages,
        "tokens": stats.tokens,
        "bytes_per_token": round(stats.bytes_per_token, 1),
    }


def rank_by_bm25(collection: BeirCollection, depth: int) -> Rank:
    from propcite.attribution.citing.baselines import Bm25Index

    index = Bm25Index([f"{p.title} {p.text}" for p in collection.passages])

    def rank(queries: Sequence[str]) -> Iterator[tuple[list[str], Cost]]:
        for query in queries:
            with timed() as cost:
                scores = index.scores(query)
                best = np.argsort(-scores, kind="stable")[:depth]
                ranking = [collection.passages[i].id for i in best if scores[i] > 0]
            yield ranking, cost

    return rank


def _by_rarity(index: TokenIndex) -> Weigh:
    """Return weights of a query's words by the square root of their idf among the index's passages.

    Tokens that are not part of a word weigh 1, as in training.
    """
    words = [token_ids(index.vectors(id_)) for id_ in index.ids()]
    unseen = 1 + max((int(ids.max(initial=0)) for ids in words), default=0)  # stands for words that no passage has
    rarity = np.sqrt(idf(words, unseen + 1))

    def weigh(query: TokenVectors) -> Floats:
        rare = rarity[np.minimum(token_ids(query), unseen)]
        return replace(query, salience=np.where(query.offsets[:, 0] < 0, np.float32(1), rare)).weights()

    return weigh


def _rank_by_index(
    index: TokenIndex, encoder: Encoder, search: SearchConfig, weigh: Weigh, depth: int, queries: Sequence[str]
) -> Iterator[tuple[list[str], Cost]]:
    """Encode the queries together and search for each; all have the same share in the cost of encoding."""
    with timed() as encoding:
        encoded = encoder.encode_queries(queries, MARKERS[search.marker])
    share = split_cost(encoding, len(encoded))
    for text, query in zip(queries, encoded, strict=True):
        with timed() as cost:
            weights = weigh(query)[None]
            arguments = {"words": query.ids, "worths": encoder.worths(query), **search.search}
            if search.way != "vectors":
                part, alone = QUESTION_SHARES[Granularity.PASSAGE], search.way == "words"
                arguments["word_query"] = WordQuery.of(text, query, weights, part, alone=alone)
            hits = index.search(query.vectors, weights, k=depth, **arguments)[0]
        yield [hit.passage_id for hit in hits], add_costs(cost, share)


def measure_queries(
    ranks: Mapping[str, Rank], pending: Sequence[Pending[Query]], *, not_itself: bool
) -> Iterator[RunItem]:
    """Yield each query by each way; `not_itself` leaves out the passage with the query's own id."""
    for way, rank in ranks.items():
        queries = [one.row for one in pending if way in one.ways]
        for query, (ranking, cost) in zip(queries, rank([query.text for query in queries]), strict=True):
            others = [id_ for id_ in ranking if not (not_itself and id_ == query.id)][:DEPTH]
            yield RunItem(query.id, way, ranking_figures(others, query.grades, PASSAGES), _output(query, others), cost)


def _output(query: Query, ranking: Sequence[str]) -> dict[str, Any]:
    """Return the head of the ranking and the places of the relevant passages."""
    places = {id_: place for place, id_ in enumerate(ranking, start=1) if query.grades.get(id_, 0) > 0}
    return {"question": query.text, "ranking": list(ranking[:NUM_STORED]), "found": places}
