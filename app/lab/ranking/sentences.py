"""`propcite eval sentences`: rank sentences within their passages in our ways, by BM25, and encoded alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, pairwise
from operator import attrgetter
from pathlib import Path

import numpy as np

from propcite.app.lab.ranking.encoders import BM25, MARKERS, LoadedEncoders, RankingConfig
from propcite.app.lab.ranking.rank_rows import Cost, RankRow, Scorer, read_rank_rows
from propcite.app.lab.ranking.relevance import NOTHING, import_ir_measures, ranking_figures
from propcite.app.lab.ranking.teachers import teacher_digests, teacher_scorer
from propcite.app.lab.runs.inputs import file_digests
from propcite.app.lab.runs.runner import Pending, RunOptions, measure, open_run, split_cost, timed
from propcite.app.library.store.runs import RunItem
from propcite.app.parts import Parts
from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.granularity import combine_scores, score_units
from propcite.retrieval.index.pruning import Pruning
from propcite.retrieval.index.segment import prune_tokens
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.retriever import PASSAGE_SHARE, Retriever
from propcite.retrieval.text import Granularity, Hit, Passage, Span
from propcite.retrieval.words.query import valid_way

ALONE, SINGLE = "alone", "single-vector"
BOTH, WORDS = "both", "words"  # as a search ranks: vectors with exact words beside them, exact words alone
UNWEIGHTED = " without salience"
K1, B = 1.2, 0.75  # of BM25 among sentences
WAYS = (BM25, "m_q", f"m'_q{UNWEIGHTED}", "m'_q", f"m''_q{UNWEIGHTED}", "m''_q", BOTH, WORDS, ALONE, SINGLE)
BATCH_SIZE = 32  # rows
NUM_STORED = 5  # sentences of a ranking

Key = tuple[object, ...]


def marker_of(way: str) -> str:
    if way in (BOTH, WORDS):
        return "m'_q"
    return "m_q" if way in (ALONE, SINGLE) else way.removesuffix(UNWEIGHTED)


def evaluate(
    files: Sequence[Path],
    parts: Parts,
    configs: Sequence[RankingConfig],
    options: RunOptions,
    *,
    explicit: bool = True,
    teachers: Sequence[Path] = (),
) -> list[RunItem]:
    """Measure the rows of some files and return the run's items."""
    import_ir_measures()
    digests, teacher_settings = file_digests(files), teacher_digests(teachers)
    rows = read_rank_rows(files)
    chosen = options.select(rows)
    encoders = LoadedEncoders(parts)
    configs = encoders.supported(configs, marker_of, explicit=explicit)
    stored = StoredTokens(parts.settings.stored_share, parts.settings.pruning)
    scorers = {**build_scorers(configs, rows, encoders, stored), **teacher_scorers(teachers)}
    settings = {
        "files": digests,
        **teacher_settings,
        "ways": list(scorers),
        **encoders.settings(configs),
        **stored.settings,
        **options.settings,
    }
    run = open_run(parts.runs, "sentences", ", ".join(digests), settings, encoders.about(configs), options=options)
    work = partial(measure_rows, scorers)
    measure(parts.runs, run, chosen, attrgetter("id"), list(scorers), work, BATCH_SIZE, "ranking")
    return list(parts.runs.items(run.id))


def build_scorers(
    configs: Sequence[RankingConfig], rows: Sequence[RankRow], encoders: LoadedEncoders, stored: StoredTokens
) -> dict[str, Scorer]:
    """Return the ways' scorers by name; those of one encoder share its encodings."""
    scorers: dict[str, Scorer] = {}
    by_encoder: dict[str, PassageEncoder] = {}
    for config in configs:
        if config.way == BM25:
            scorers[config.name] = bm25_scorer(rows)
            continue
        if config.encoder not in by_encoder:
            sharing = [other for other in configs if other.encoder == config.encoder]
            by_encoder[config.encoder] = PassageEncoder(encoders[config.encoder], stored, sharing)
        score = SCORERS.get(config.way, score_tokens)
        scorers[config.name] = partial(score, by_encoder[config.encoder], config)
    return scorers


def teacher_scorers(folders: Sequence[Path]) -> dict[str, Scorer]:
    return {f"teacher {folder.name}": teacher_scorer(folder) for folder in folders}


def measure_rows(scorers: Mapping[str, Scorer], pending: Sequence[Pending[RankRow]]) -> Iterator[RunItem]:
    """Yield each row by each way."""
    for way, scorer in scorers.items():
        rows = [one.row for one in pending if way in one.ways]
        for row, (scores, cost) in zip(rows, scorer(rows), strict=True):
            yield _item(row, way, scores, cost)


def _item(row: RankRow, way: str, scores: Floats, cost: Cost) -> RunItem:
    """Return the row's measures; of equal scores the first sentence ranks first."""
    places, grades = row.places, {_name(place): 1 for place in row.gold}
    ranking = [_name(places[i]) for i in np.argsort(-scores, kind="stable")]
    ranks = sorted(ranking.index(name) + 1 for name in grades)
    output = {"source": row.source, "question": row.query, "ranking": ranking[:NUM_STORED], "found": ranks}
    return RunItem(row.id, way, ranking_figures(ranking, grades or NOTHING, row.measures), output, cost)


def _name(place: tuple[int, int]) -> str:
    return f"{place[0]}.{place[1]}"


def bm25_scorer(rows: Sequence[RankRow]) -> Scorer:
    """Return BM25 over all sentences of all rows."""
    from propcite.attribution.citing.baselines import Bm25Index

    index = Bm25Index([text for row in rows for text in row.texts], K1, B)
    ends = accumulate((len(row.places) for row in rows), initial=0)
    spans = {row.id: span for row, span in zip(rows, pairwise(ends), strict=True)}

    def score(rows: Sequence[RankRow]) -> Iterator[tuple[Floats, Cost]]:
        for row in rows:
            with timed() as cost:
                scores = index.scores(row.query)[slice(*spans[row.id])]
            yield scores, cost

    return score


@dataclass(frozen=True, slots=True)
class StoredTokens:
    """Which share of a passage's tokens an index would store, and how it chooses them."""

    share: float = 1.0
    pruning: Pruning = "sentences"

    @property
    def settings(self) -> dict[str, str]:
        return {"stored": f"{self.share:g} by {self.pruning}"} if self.share < 1 else {}

    def of(self, passage: Passage, tokens: TokenVectors) -> TokenVectors:
        return prune_tokens(passage, tokens, self.share, self.pruning) if self.share < 1 else tokens


class PassageEncoder:
    """An encoder that caches the last passages and their cost, which the ways that encode the same ones share."""

    def __init__(self, encoder: Encoder, stored: StoredTokens, configs: Sequence[RankingConfig]) -> None:
        self.encoder, self._stored = encoder, stored
        self._num_sharing = Counter(config.way in SCORERS for config in configs if config.way != BM25)
        self._last: dict[Key, TokenVectors] = {}
        self._cost: Cost = {}

    def passages(self, config: RankingConfig, passages: Sequence[Passage]) -> tuple[Mapping[Key, TokenVectors], Cost]:
        different = {_key(passage): passage for passage in passages}
        if different.keys() != self._last.keys():
            with timed() as cost:
                encoded = self.encoder.encode_passages(list(different.values()))
                tokens = [self._stored.of(p, t) for p, t in zip(different.values(), encoded, strict=True)]
            self._last = dict(zip(different, tokens, strict=True))
            self._cost = split_cost(cost, self._num_sharing[config.way in SCORERS])
        return self._last, self._cost

    def queries(self, config: RankingConfig, rows: Sequence[RankRow]) -> tuple[list[TokenVectors], Cost]:
        with timed() as cost:
            queries = self.encoder.encode_queries([row.query for row in rows], MARKERS[marker_of(config.way)])
        if config.way.endswith(UNWEIGHTED):
            queries = [TokenVectors(query.vectors, query.offsets) for query in queries]
        return queries, cost


def score_tokens(
    encoder: PassageEncoder, config: RankingConfig, rows: Sequence[RankRow]
) -> Iterator[tuple[Floats, Cost]]:
    """Score sentences by their tokens within their passage; of several passages each adds a share of its own score."""
    queries, query_cost = encoder.queries(config, rows)
    several = any(len(row.passages) > 1 for row in rows)
    for_passages = encoder.queries(RankingConfig("m_q"), rows)[0] if several else queries
    tokens, passage_cost = encoder.passages(config, [passage for row in rows for passage in row.passages])
    for row, query, whole in zip(rows, queries, for_passages, strict=True):
        with timed() as cost:
            scores = [_sentence_scores(query, tokens[_key(p)], p) for p in row.passages]
            if len(row.passages) > 1:
                wholes = [_mean_match(whole, tokens[_key(p)]) for p in row.passages]
                scores = [
                    combine_scores(s, np.full_like(s, w), PASSAGE_SHARE) for s, w in zip(scores, wholes, strict=True)
                ]
        yield np.concatenate(scores), _with_share(cost, [query_cost, passage_cost], len(rows))


def score_alone(
    encoder: PassageEncoder, config: RankingConfig, rows: Sequence[RankRow]
) -> Iterator[tuple[Floats, Cost]]:
    """Score sentences that are encoded without their passage."""
    queries, query_cost = encoder.queries(config, rows)
    tokens, passage_cost = encoder.passages(config, [Passage("", text) for row in rows for text in row.texts])
    for row, query in zip(rows, queries, strict=True):
        with timed() as cost:
            scores = np.array([_mean_match(query, tokens[_key(Passage("", text))]) for text in row.texts], np.float32)
        yield scores, _with_share(cost, [query_cost, passage_cost], len(rows))


def score_single_vectors(
    encoder: PassageEncoder, config: RankingConfig, rows: Sequence[RankRow]
) -> Iterator[tuple[Floats, Cost]]:
    """Score sentences that are encoded without their passage, by one vector each."""
    queries, query_cost = encoder.queries(config, rows)
    tokens, passage_cost = encoder.passages(config, [Passage("", text) for row in rows for text in row.texts])
    for row, query in zip(rows, queries, strict=True):
        with timed() as cost:
            means = np.stack([mean_vector(tokens[_key(Passage("", text))]) for text in row.texts])
            scores = means @ mean_vector(query)
        yield scores, _with_share(cost, [query_cost, passage_cost], len(rows))


def score_by_search(
    encoder: PassageEncoder, config: RankingConfig, rows: Sequence[RankRow]
) -> Iterator[tuple[Floats, Cost]]:
    """Score sentences as a search in their passages does; a sentence that it does not return scores -inf."""
    tokens, passage_cost = encoder.passages(config, [passage for row in rows for passage in row.passages])
    for row in rows:
        with timed() as cost:
            passages = [replace(passage, id=str(number)) for number, passage in enumerate(row.passages)]
            index = TokenIndex(encoder.encoder.dimension, encoder.encoder.name, bits=16)
            index.add(passages, [tokens[_key(passage)] for passage in row.passages])
            by_id = {passage.id: passage for passage in passages}
            find, way = partial(_chosen, by_id), valid_way(config.way)
            retriever = Retriever(encoder.encoder, index, find, way=way, merging=False)
            scores = _scores_by_place(passages, _hits(retriever, row))
        yield scores, _with_share(cost, [passage_cost], len(rows))


def _chosen(passages: Mapping[str, Passage], ids: Sequence[str]) -> dict[str, Passage]:
    return {id_: passages[id_] for id_ in ids}


def _hits(retriever: Retriever, row: RankRow) -> list[Hit]:
    """Return all sentences of a row: a claim is searched as citing does, a question as a search is."""
    if not row.is_claim:
        return retriever.search(row.query, Granularity.SENTENCE, len(row.places))
    whole = [(Span(0, len(row.query)),)]
    return retriever.search_spans([row.query], [whole], len(row.places))[0][0]


def _scores_by_place(passages: Sequence[Passage], hits: Sequence[Hit]) -> Floats:
    score_of = {(hit.passage.id, hit.spans[0]): hit.score for hit in hits}
    spans = [(p.id, sentence.span.trimmed(p.text)) for p in passages for sentence in p.sentences]
    return np.array([score_of.get(place, -np.inf) for place in spans], np.float32)


SCORERS = {BOTH: score_by_search, WORDS: score_by_search, ALONE: score_alone, SINGLE: score_single_vectors}


def mean_vector(tokens: TokenVectors) -> Floats:
    """Return the mean of the unit token vectors as a unit vector: nearly the base model's own text embedding."""
    vector: Floats = tokens.vectors.mean(axis=0)
    return vector / max(float(np.linalg.norm(vector)), 1e-9)


def _key(passage: Passage) -> Key:
    return passage.title, passage.text, passage.sentences


def _sentence_scores(query: TokenVectors, tokens: TokenVectors, passage: Passage) -> Floats:
    return score_units(query.vectors, query.weights(), tokens, [(s.span,) for s in passage.sentences])


def _mean_match(query: TokenVectors, tokens: TokenVectors) -> float:
    return float(query.weights() @ (query.vectors @ tokens.vectors.T).max(axis=1))


def _with_share(cost: Cost, common: Sequence[Cost], count: int) -> Cost:
    """Return an item's own cost with its share of the costs that `count` items have in common."""
    return {name: cost[name] + sum(one[name] for one in common) / count for name in cost}
