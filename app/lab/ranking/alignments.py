"""`propcite eval alignments`: rank the same candidates of BEIR folders by every alignment strategy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from propcite.app.lab.adaptation.strategies import CANDIDATES, NAMES, candidates_of, rank, strategies_of
from propcite.app.lab.ranking.beir import FolderQuery, folder_queries, read_folders
from propcite.app.lab.ranking.index_cache import collection_index, index_settings
from propcite.app.lab.ranking.relevance import DEPTH, import_ir_measures, ranking_figures
from propcite.app.lab.runs.provenance import run_provenance
from propcite.app.lab.runs.runner import Pending, RunOptions, add_costs, measure, open_run, split_cost, timed
from propcite.app.library.store.runs import RunItem
from propcite.app.parts import Parts
from propcite.retrieval.alignment import alignment_of
from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.index.token_index import TokenIndex

MEASURES = ("nDCG@10", "R@100", "RR@10")
BATCH_SIZE = 32  # queries

Find = Callable[[TokenIndex, Encoder, TokenVectors], Sequence[str]]  # the passages that every strategy ranks


def evaluate(
    folders: Sequence[Path], parts: Parts, names: Sequence[str], options: RunOptions, candidates: int = CANDIDATES
) -> list[RunItem]:
    """Measure the strategies of these names, or the usual ones, and return the run's items."""
    import_ir_measures()
    ways = [str(alignment) for alignment in strategies_of(names or NAMES)]
    collections = read_folders(folders)
    rows = folder_queries(collections, options)
    indexes = {name: collection_index(one, parts) for name, one in collections.items()}
    settings = {
        "files": {name: dict(one.digests) for name, one in collections.items()},
        "ways": ways,
        "candidates": candidates,
        "encoder": parts.encoder.query_name,
        "precision": parts.encoder.precision,
        "index": index_settings(parts.settings),
        **options.settings,
    }
    versions = {name: index.version for name, index in indexes.items()}
    about = {**run_provenance(parts.settings, "encoder"), "indexes": versions}
    run = open_run(parts.runs, "alignments", ", ".join(collections), settings, about, options=options)
    find = partial(candidates_of, asking_share=parts.settings.asking_share, number=candidates)
    work = partial(measure_queries, indexes, parts.encoder, find)
    measure(parts.runs, run, rows, attrgetter("key"), ways, work, BATCH_SIZE, "ranking")
    return list(parts.runs.items(run.id))


def measure_queries(
    indexes: Mapping[str, TokenIndex], encoder: Encoder, find: Find, pending: Sequence[Pending[FolderQuery]]
) -> Iterator[RunItem]:
    """Yield each query by each strategy."""
    for folder, group in groupby(pending, key=lambda one: one.row.folder):
        rows = list(group)
        with timed() as encoding:
            queries = encoder.encode_queries([one.row.query.text for one in rows])
        share = split_cost(encoding, len(rows))
        for one, query in zip(rows, queries, strict=True):
            yield from _query_items(indexes[folder], query, partial(find, indexes[folder], encoder), one, share)


def _query_items(
    index: TokenIndex,
    query: TokenVectors,
    find: Callable[[TokenVectors], Sequence[str]],
    pending: Pending[FolderQuery],
    encoding: Mapping[str, float],
) -> Iterator[RunItem]:
    """Yield the query's item by each strategy; all have the same share in the cost of finding the candidates."""
    with timed() as finding:
        candidates = find(query)
    share = split_cost(add_costs(finding, encoding), len(pending.ways))
    folder, judged = pending.row.folder, pending.row.query
    for way in pending.ways:
        with timed() as cost:
            ranking = rank(index, query, alignment_of(way), candidates, DEPTH)
        measures = ranking_figures(ranking, judged.grades, MEASURES)
        output = {"source": folder, "question": judged.text, "ranking": ranking[:10]}
        yield RunItem(pending.key, way, measures, output, add_costs(cost, share))
