"""`propcite eval beir`: rank the passages of a collection for its queries, in our ways and by BM25."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from propcite.app.lab.ranking.beir import BeirCollection, FolderQuery, Query, by_name, folder_queries
from propcite.app.lab.ranking.contexts import check_contexts, write_contexts
from propcite.app.lab.ranking.encoders import BM25, MARKERS, LoadedEncoders, RankingConfig, encoder_names, token_ids
from propcite.app.lab.ranking.index_cache import build_indexes, index_settings
from propcite.app.lab.ranking.layouts import holds_answer, read_collection
from propcite.app.lab.ranking.rank_rows import Cost
from propcite.app.lab.ranking.relevance import DEPTH, NOTHING, import_ir_measures, measures_of, ranking_figures
from propcite.app.lab.ranking.single_vectors import SINGLE, SingleVectors, passage_vectors, rank_by_vectors
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
WAYS = (BM25, SINGLE, *SEARCHES)
ALIGNABLE = tuple(name for name in SEARCHES if name != "xtr")  # ways that allow any alignment
DEFAULT = (BM25, "m_q", "both", "words", "exact", "m'_q", "m''_q")


def evaluate(
    folders: Sequence[Path],
    parts: Parts,
    configs: Sequence[RankingConfig],
    options: RunOptions,
    *,
    split: str = "",
    explicit: bool = True,
    not_itself: bool = False,
    depth: int = DEPTH,
    contexts: Path | None = None,
) -> list[RunItem]:
    """Measure folders and return the run's items; with several folders each item names its folder as its source.

    Ways whose marker an encoder lacks are left out unless they are `explicit`.  `contexts` is a file for what one way
    retrieves for questions with answers, which `eval sentences` reads.
    """
    import_ir_measures()
    collections = by_name(read_collection(folder, split) for folder in folders)
    if contexts:
        check_contexts(collections, configs)
    rows = folder_queries(collections, options)
    encoders = LoadedEncoders(parts)
    configs = encoders.supported(configs, _marker_of, explicit=explicit)
    searched = depth + not_itself  # one more, since one may be left out
    built = {
        name: build_rankings(one, configs, encoders, parts.settings, searched) for name, one in collections.items()
    }
    is_one = len(collections) == 1  # its run is as it was before several folders could be measured together
    digests = {name: dict(one.digests) for name, one in collections.items()}
    settings = {
        "files": next(iter(digests.values())) if is_one else digests,
        "ways": [config.name for config in configs],
        **encoders.settings(configs),
        **({"index": index_settings(parts.settings)} if encoder_names(configs) else {}),
        "not_itself": not_itself,
        **({"depth": depth} if depth != DEPTH else {}),
        **({"contexts": True} if contexts else {}),
        **options.settings,
    }
    indexes = {name: about for name, (_, about) in built.items()}
    about = {**encoders.about(configs), "indexes": next(iter(indexes.values())) if is_one else indexes}
    run = open_run(parts.runs, "beir", ", ".join(collections), settings, about, options=options)
    measured = {
        name: Measured(
            one, built[name][0], not_itself, depth, "" if is_one else name, depth if contexts else NUM_STORED
        )
        for name, one in collections.items()
    }
    work = partial(measure_folders, measured)
    ways = [config.name for config in configs]
    key = attrgetter("query.id" if is_one else "key")
    measure(parts.runs, run, rows, key, ways, work, BATCH_SIZE, "ranking")
    items = list(parts.runs.items(run.id))
    if contexts:
        write_contexts(contexts, next(iter(collections.values())), items)
    return items


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
        own = [config for config in configs if config.way in SEARCHES and config.encoder == name]
        if single := [config.name for config in configs if config.way == SINGLE and config.encoder == name]:
            ranks |= dict.fromkeys(single, _rank_by_vectors(collection, name, encoders, settings, depth))
        if not own:
            continue
        bits = sorted({config.bits or settings.index_bits for config in own}, reverse=True)
        indexes = build_indexes(collection.passages, collection.digests["corpus"], encoders[name], settings, bits)
        about |= {f"{number} bits {name}".strip(): _about(index) for number, index in indexes.items()}
        for config in own:
            index = indexes[config.bits or settings.index_bits]
            search = _search(config, settings)
            weigh = _by_rarity(index) if search.by_rarity else TokenVectors.weights
            ranks[config.name] = partial(_rank_by_index, index, encoders[name], search, weigh, depth)
    return {config.name: ranks[config.name] for config in configs}, about


def _marker_of(way: str) -> str:
    return SEARCHES[way].marker if way in SEARCHES else "m_q"


def _rank_by_vectors(
    collection: BeirCollection, name: str, encoders: LoadedEncoders, settings: Settings, depth: int
) -> Rank:
    model = SingleVectors(name, settings.device)
    passages, digest = collection.passages, collection.digests["corpus"]
    vectors = passage_vectors(passages, digest, encoders[name].name, model, settings)
    return partial(rank_by_vectors, passages, vectors, model, depth)


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


@dataclass(frozen=True)
class Measured:
    """A collection with the rankings that are measured over it; `source` names it where there are several."""

    collection: BeirCollection
    ranks: Mapping[str, Rank]
    not_itself: bool = False  # leave out the passage with the query's own id
    depth: int = DEPTH
    source: str = ""
    stored: int = NUM_STORED

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        return {passage.id: f"{passage.title} {passage.text}" for passage in self.collection.passages}

    def items(self, pending: Sequence[Pending[FolderQuery]]) -> Iterator[RunItem]:
        """Yield each query by each way."""
        for way, rank in self.ranks.items():
            rows = [one for one in pending if way in one.ways]
            rankings = rank([one.row.query.text for one in rows])
            for one, (ranking, cost) in zip(rows, rankings, strict=True):
                query = one.row.query
                others = [id_ for id_ in ranking if not (self.not_itself and id_ == query.id)][: self.depth]
                grades = self._grades(query, others)
                names = measures_of(self.depth, answers=bool(query.answers))
                yield RunItem(
                    one.key, way, ranking_figures(others, grades, names), self._output(query, others, grades), cost
                )

    def _grades(self, query: Query, ranking: Sequence[str]) -> Mapping[str, int]:
        """Return the query's grades; those of one with answers are found in the passages that are ranked."""
        if not query.answers:
            return query.grades
        return {id_: 1 for id_ in ranking if holds_answer(self._texts[id_], query.answers)} or NOTHING

    def _output(self, query: Query, ranking: Sequence[str], grades: Mapping[str, int]) -> dict[str, Any]:
        """Return the head of the ranking and the places of the relevant passages."""
        places = {id_: place for place, id_ in enumerate(ranking, start=1) if grades.get(id_, 0) > 0}
        source = {"source": self.source} if self.source else {}
        return {**source, "question": query.text, "ranking": list(ranking[: self.stored]), "found": places}


def measure_folders(measured: Mapping[str, Measured], pending: Sequence[Pending[FolderQuery]]) -> Iterator[RunItem]:
    for folder, group in groupby(pending, key=lambda one: one.row.folder):
        yield from measured[folder].items(list(group))
