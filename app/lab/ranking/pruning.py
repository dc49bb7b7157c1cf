"""`propcite eval pruning`: ranking quality if only some tokens are searched, stored or used of the query."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, product
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import numpy as np

from propcite.app.errors import AppError
from propcite.app.lab.ranking.beir import BeirCollection, FolderQuery, folder_queries, read_folders
from propcite.app.lab.ranking.encoders import token_ids
from propcite.app.lab.ranking.index_cache import collection_index
from propcite.app.lab.ranking.relevance import DEPTH, import_ir_measures, ranking_figures
from propcite.app.lab.runs.inputs import file_digest
from propcite.app.lab.runs.provenance import run_provenance
from propcite.app.lab.runs.runner import Pending, RunOptions, add_costs, measure, open_run, split_cost, timed
from propcite.app.library.store.runs import RunItem
from propcite.app.parts import Parts
from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.encoding.coverage import coverage
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.salience import Salience, idf
from propcite.retrieval.index import IndexOptions
from propcite.retrieval.index.search import DEFAULT_REFINED
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Passage

MEASURES = ("nDCG@10", "R@100", "RR@10")
SHARES = (0.4, 0.2, 0.1)  # of a passage's tokens: ALIGNER's beta_d
QUERY_SHARES = (1.0, 0.5, 0.3)  # of a query's tokens: ALIGNER's beta_q
ALL_TOKENS = "all tokens"
KINDS = ("sentences", "coverage", "salience", "idf", "random")

Worth = Callable[[Passage, TokenVectors], Floats]  # the worth of each token of a passage


@dataclass(frozen=True, slots=True)
class PruningConfig:
    """How a passage's tokens are chosen, the share of them that is searched or `stored`, and the query's share."""

    kind: str
    share: float = 1.0
    stored: bool = False
    query_share: float = 1.0

    @property
    def name(self) -> str:
        """Return the name in tables: `coverage 20%`, `coverage 20% stored`, `coverage 20%, 50% look`."""
        name = f"{self.kind} {self.share:.0%}" if self.share < 1 else ALL_TOKENS
        name += " stored" if self.stored else ""
        return name + (f", {self.query_share:.0%} look" if self.query_share < 1 else "")

    @property
    def index(self) -> PruningConfig:
        """Return the config of the index that is searched, which is the same for all shares of the query."""
        return replace(self, query_share=1.0, kind=self.kind if self.share < 1 else "")


def pruning_configs(kinds: Sequence[str], shares: Sequence[float]) -> list[PruningConfig]:
    """Return every searched share with every share of the query, and every stored share, without duplicates."""
    if wrong := [share for share in shares if not 0 < share <= 1]:
        raise AppError(f"the share {wrong[0]:g} of a passage's tokens is not possible: give one above 0, up to 1")
    searched = [
        PruningConfig(kind, share, query_share=query_share)
        for kind, share, query_share in product(kinds, (1.0, *shares), QUERY_SHARES)
    ]
    stored = [PruningConfig(kind, share, stored=True) for kind, share in product(kinds, shares)]
    return list({config.name: config for config in [*searched, *stored]}.values())


def evaluate(
    folders: Sequence[Path],
    parts: Parts,
    kinds: Sequence[str],
    weights: Mapping[str, Path],
    shares: Sequence[float],
    options: RunOptions,
    refine: int = DEFAULT_REFINED,
) -> list[RunItem]:
    """Measure BEIR folders and return the run's items; `weights` are files of trained salience, by name of the kind."""
    import_ir_measures()
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise AppError(f"there is no kind {unknown[0]!r} of pruning: give {', '.join(KINDS)}, or --weights")
    configs = pruning_configs([*kinds, *weights], shares)
    names = [config.name for config in configs]
    collections = read_folders(folders)
    rows = folder_queries(collections, options)
    settings = {
        "files": {name: dict(one.digests) for name, one in collections.items()},
        "weights": {name: file_digest(path) for name, path in weights.items()},
        "ways": names,
        "refine": refine,
        "bits": parts.settings.index_bits,
        "encoder": parts.encoder.query_name,
        "precision": parts.encoder.precision,
        **options.settings,
    }
    about = run_provenance(parts.settings, "encoder")
    run = open_run(parts.runs, "pruning", ", ".join(collections), settings, about, options=options)
    with TemporaryDirectory(prefix="propcite-pruning-") as folder:
        indexes = PrunedIndexes(collections, parts, weights, Path(folder) / "index")
        work = partial(measure_queries, indexes, dict(zip(names, configs, strict=True)), parts.encoder, refine)
        # All rows in one batch: each index is built once, searched for all queries, and dropped for the next.
        measure(parts.runs, run, rows, attrgetter("key"), names, work, max(1, len(rows)), "ranking")
    return list(parts.runs.items(run.id))


@dataclass(frozen=True, slots=True)
class MeasuredIndex:
    """An index with its size on disk, and the size of the codes that are searched for candidates."""

    tokens: TokenIndex
    bytes: int
    searched_bytes: int


@dataclass(frozen=True)
class EncodedFolder:
    """A folder's passages with their tokens, and the tokens' worth by each kind, computed once."""

    passages: list[Passage]
    tokens: list[TokenVectors]
    whole: TokenIndex
    weights: Mapping[str, Salience]
    _worths: dict[str, list[Floats]] = field(default_factory=dict)

    def worths(self, kind: str) -> list[Floats]:
        if kind not in self._worths:
            worth = self._worth(kind)
            self._worths[kind] = [worth(*one) for one in zip(self.passages, self.tokens, strict=True)]
        return self._worths[kind]

    def _worth(self, kind: str) -> Worth:
        if kind in self.weights:
            weights = self.weights[kind]
            return lambda _, tokens: weights.of_passage(token_ids(tokens), tokens.vectors)
        if kind == "idf":
            rarity = idf(map(token_ids, self.tokens))
            return lambda _, tokens: rarity[token_ids(tokens)]
        return {"coverage": _coverage, "salience": _salience, "random": _random}[kind]


class PrunedIndexes:
    """Indexes of a folder's passages with fewer tokens, built when they are needed; only the last one is kept."""

    def __init__(
        self, collections: Mapping[str, BeirCollection], parts: Parts, weights: Mapping[str, Path], place: Path
    ) -> None:
        self._collections, self._parts, self._place = collections, parts, place
        self._weights = {name: Salience.read(path) for name, path in weights.items()}
        self._last: tuple[str, PruningConfig, MeasuredIndex] | None = None
        self._last_folder: tuple[str, EncodedFolder] | None = None

    def index(self, folder: str, config: PruningConfig) -> MeasuredIndex:
        if self._last is None or self._last[:2] != (folder, config):
            self._last = (folder, config, self._build(self._folder(folder), config))
        return self._last[2]

    def _build(self, folder: EncodedFolder, config: PruningConfig) -> MeasuredIndex:
        options: IndexOptions = {
            "bits": folder.whole.codec.bits,
            "regime": "exact" if config.stored else "tokens",
            "exact_up_to": 0,
            "pruning": "sentences" if config.kind == "sentences" else "salience",  # set below for all other kinds
            "stored_share": config.share if config.stored else 1.0,
            "searched_share": 1.0 if config.stored else config.share,
        }
        index = TokenIndex(folder.whole.dimension, folder.whole.encoder, **options)
        tokens = folder.tokens
        if config.share < 1 and config.kind != "sentences":
            worths = folder.worths(config.kind)
            tokens = [replace(one, salience=worth) for one, worth in zip(tokens, worths, strict=True)]
        index.add(folder.passages, tokens)
        shutil.rmtree(self._place, ignore_errors=True)
        index.save(self._place)
        searched_bytes = sum(path.stat().st_size for path in self._place.glob("*.codes-*"))
        return MeasuredIndex(index, index.stats().bytes, searched_bytes)

    def _folder(self, name: str) -> EncodedFolder:
        if self._last_folder is None or self._last_folder[0] != name:
            collection, encoder = self._collections[name], self._parts.encoder
            whole = collection_index(collection, self._parts)
            passages = [passage_from_text(p.id, p.text, p.title) for p in collection.passages]
            vectors = [whole.vectors(passage.id) for passage in passages]
            tokens = [replace(one, salience=encoder.salience_of(one)) for one in vectors]
            self._last_folder = name, EncodedFolder(passages, tokens, whole, self._weights)
        return self._last_folder[1]


def _coverage(_: Passage, tokens: TokenVectors) -> Floats:
    return coverage(tokens.vectors, tokens.salience)


def _salience(_: Passage, tokens: TokenVectors) -> Floats:
    if tokens.salience is None:
        raise AppError("this encoder has no salience of a passage's tokens: leave out that kind")
    return tokens.salience


def _random(passage: Passage, tokens: TokenVectors) -> Floats:
    seed = int.from_bytes(hashlib.sha256(passage.id.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).random(len(tokens), np.float32)


def measure_queries(
    indexes: PrunedIndexes,
    configs: Mapping[str, PruningConfig],
    encoder: Encoder,
    refine: int,
    pending: Sequence[Pending[FolderQuery]],
) -> Iterator[RunItem]:
    """Yield all queries by one index before the next is built."""
    with timed() as encoding:
        encoded = encoder.encode_queries([one.row.query.text for one in pending])
        queries = {one.key: query for one, query in zip(pending, encoded, strict=True)}
    share = split_cost(encoding, len(pending) * max(1, len(configs)))
    order = list(configs)
    searches = sorted(
        ((configs[name], one) for one in pending for name in one.ways), key=lambda pair: order.index(pair[0].name)
    )
    for (folder, config), group in groupby(searches, key=lambda pair: (pair[1].row.folder, pair[0].index)):
        index = indexes.index(folder, config)
        sizes = {"index_bytes": index.bytes, "searched_bytes": index.searched_bytes}
        for search, one in group:
            query = queries[one.key]
            with timed() as cost:
                hits = index.tokens.search(
                    query.vectors,
                    query.weights()[None],
                    k=DEPTH,
                    refine=max(refine, DEPTH),
                    asking_share=search.query_share,
                    worths=encoder.worths(query),
                )[0]
            ranking = [hit.passage_id for hit in hits]
            measures = ranking_figures(ranking, one.row.query.grades, MEASURES)
            output = {"source": folder, "ranking": ranking[:10], **sizes}
            yield RunItem(one.key, search.name, measures, output, add_costs(cost, share))


@dataclass(frozen=True, slots=True)
class SizeRow:
    """The mean size of a way's index as a share of the index of all tokens: whole, and of the searched codes."""

    table: ClassVar[str] = "size"

    way: str
    index: float
    searched: float


def size_rows(items: Sequence[RunItem]) -> list[SizeRow]:
    """Return one row for each way with an index of its own."""
    outputs = {(item.way, item.output["source"]): item.output for item in items}
    rows = []
    for way in dict.fromkeys(way for way, _ in outputs if " look" not in way):
        shares = [
            [outputs[way, folder][name] / outputs[ALL_TOKENS, folder][name] for of, folder in outputs if of == way]
            for name in ("index_bytes", "searched_bytes")
        ]
        rows.append(SizeRow(way, *(round(float(np.mean(share)), 3) for share in shares)))
    return rows
