"""`propcite eval sentences`: sentences ranked within their passages, in our ways, by words, and read alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from operator import attrgetter
from pathlib import Path

import numpy as np

from propcite.app.lab.files import digests_of
from propcite.app.lab.ranking.encoders import BM25, MARKERS, Encoders, Way
from propcite.app.lab.ranking.rank_rows import RankRow, read_rank_rows
from propcite.app.lab.ranking.relevance import SENTENCES, figures, needs_ir_measures
from propcite.app.lab.ranking.scorers import Cost, Scorer
from propcite.app.lab.ranking.teachers import by_teacher, teachers_told
from propcite.app.lab.runs.keeping import Todo, clocked, measure, open_run, portion
from propcite.app.lab.runs.shares import Share
from propcite.app.library.store.runs import RunItem
from propcite.app.parts import Parts
from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.granularity import joined, score_units
from propcite.retrieval.index.pruning import Pruning
from propcite.retrieval.index.segment import pruned
from propcite.retrieval.retriever import PASSAGE_SHARE
from propcite.retrieval.text import Passage

ALONE, SINGLE = "alone", "single-vector"
UNWEIGHTED = " without salience"
K1, B = 1.2, 0.75  # of BM25 among sentences
WAYS = (BM25, "m_q", f"m'_q{UNWEIGHTED}", "m'_q", f"m''_q{UNWEIGHTED}", "m''_q", ALONE, SINGLE)
TOGETHER = 32  # rows whose texts are read together
SHOWN = 5  # sentences of a ranking that are kept

Key = tuple[object, ...]


def marker_of(asks: str) -> str:
    return "m_q" if asks in (ALONE, SINGLE) else asks.removesuffix(UNWEIGHTED)


def evaluate(
    files: Sequence[Path],
    parts: Parts,
    wanted: Sequence[Way],
    share: Share,
    *,
    named: bool = True,
    teachers: Sequence[Path] = (),
) -> list[RunItem]:
    """Measure the rows of some files, kept row by row.  -> all items"""
    needs_ir_measures()
    digests, told = digests_of(files), teachers_told(teachers)
    rows = read_rank_rows(files)
    chosen = share.of(rows)
    loaded = Encoders(parts)
    ways = loaded.able(wanted, marker_of, named=named)
    stored = Stored(parts.settings.stored_share, parts.settings.pruning)
    scorers = {**scorers_of(ways, rows, loaded, stored), **scorers_of_teachers(teachers)}
    settings = {
        "files": digests,
        **told,
        "ways": list(scorers),
        **loaded.settings(ways),
        **stored.settings,
        **share.settings,
    }
    name = ", ".join(digests)
    run = open_run(parts.runs, "sentences", name, settings, loaded.about(ways), new=share.new, say=share.say)
    work = partial(measured, scorers)
    measure(parts.runs, run, chosen, attrgetter("id"), list(scorers), work, TOGETHER, "ranking")
    return list(parts.runs.items(run.id))


def scorers_of(ways: Sequence[Way], rows: Sequence[RankRow], encoders: Encoders, stored: Stored) -> dict[str, Scorer]:
    """What scores rows, by the ways' names; ways of one encoder share what it has read."""
    found: dict[str, Scorer] = {}
    readers: dict[str, Reader] = {}
    for way in ways:
        if way.asks == BM25:
            found[way.name] = by_words(rows)
        else:
            if way.encoder not in readers:
                readers[way.encoder] = Reader(
                    encoders[way.encoder], stored, [w for w in ways if w.encoder == way.encoder]
                )
            reader = readers[way.encoder]
            found[way.name] = partial(SCORERS.get(way.asks, by_tokens), reader, way)
    return found


def scorers_of_teachers(folders: Sequence[Path]) -> dict[str, Scorer]:
    return {f"teacher {folder.name}": by_teacher(folder) for folder in folders}


def measured(scorers: Mapping[str, Scorer], todos: Sequence[Todo[RankRow]]) -> Iterator[RunItem]:
    """Each row by each way."""
    for way, scorer in scorers.items():
        asked = [todo for todo in todos if way in todo.ways]
        for todo, (scores, cost) in zip(asked, scorer([todo.row for todo in asked]), strict=True):
            yield _item(todo.row, way, scores, cost)


def _item(row: RankRow, way: str, scores: Floats, cost: Cost) -> RunItem:
    """Of sentences that score alike the first in the text comes first."""
    places, grades = row.places, {_name(place): 1 for place in row.gold}
    ranked = [_name(places[i]) for i in np.argsort(-scores, kind="stable")]
    at = sorted(ranked.index(name) + 1 for name in grades)
    output = {"source": row.source, "question": row.query, "ranking": ranked[:SHOWN], "found": at}
    return RunItem(row.id, way, figures(ranked, grades, SENTENCES), output, cost)


def _name(place: tuple[int, int]) -> str:
    return f"{place[0]}.{place[1]}"


def by_words(rows: Sequence[RankRow]) -> Scorer:
    """BM25 that has counted the words of all sentences of all rows."""
    from propcite.attribution.citing.baselines import Bm25Index

    counted = Bm25Index([text for row in rows for text in row.texts], K1, B)
    ends = accumulate((len(row.places) for row in rows), initial=0)
    spans = {row.id: span for row, span in zip(rows, pairwise(ends), strict=True)}

    def score(asked: Sequence[RankRow]) -> Iterator[tuple[Floats, Cost]]:
        for row in asked:
            with clocked() as cost:
                scores = counted.scores(row.query)[slice(*spans[row.id])]
            yield scores, cost

    return score


@dataclass(frozen=True, slots=True)
class Stored:
    """The share of a passage's tokens that an index would have, and which."""

    share: float = 1.0
    pruning: Pruning = "sentences"

    @property
    def settings(self) -> dict[str, str]:
        return {"stored": f"{self.share:g} by {self.pruning}"} if self.share < 1 else {}

    def of(self, passage: Passage, tokens: TokenVectors) -> TokenVectors:
        return pruned(passage, tokens, self.share, self.pruning) if self.share < 1 else tokens


class Reader:
    """An encoder that knows what passages it read last, and what that cost: its ways that ask for the same bear it."""

    def __init__(self, encoder: Encoder, stored: Stored, ways: Sequence[Way]) -> None:
        self.encoder, self._stored = encoder, stored
        self._sharing = Counter(way.asks in SCORERS for way in ways if way.asks != BM25)
        self._last: dict[Key, TokenVectors] = {}
        self._cost: Cost = {}

    def read(self, way: Way, passages: Sequence[Passage]) -> tuple[Mapping[Key, TokenVectors], Cost]:
        different = {_key(passage): passage for passage in passages}
        if different.keys() != self._last.keys():
            with clocked() as cost:
                read = self.encoder.encode_passages(list(different.values()))
                tokens = [self._stored.of(p, t) for p, t in zip(different.values(), read, strict=True)]
            self._last = dict(zip(different, tokens, strict=True))
            self._cost = portion(cost, self._sharing[way.asks in SCORERS])
        return self._last, self._cost

    def queries(self, way: Way, rows: Sequence[RankRow]) -> tuple[list[TokenVectors], Cost]:
        with clocked() as cost:
            queries = self.encoder.encode_queries([row.query for row in rows], MARKERS[marker_of(way.asks)])
        if way.asks.endswith(UNWEIGHTED):
            queries = [TokenVectors(query.vectors, query.offsets) for query in queries]
        return queries, cost


def by_tokens(reader: Reader, way: Way, rows: Sequence[RankRow]) -> Iterator[tuple[Floats, Cost]]:
    """Sentences by their tokens as their passage has them; of several passages each adds its share of its own score."""
    queries, asking = reader.queries(way, rows)
    of_passages, _ = reader.queries(Way("m_q"), rows) if any(len(r.passages) > 1 for r in rows) else (queries, asking)
    read, reading = reader.read(way, [passage for row in rows for passage in row.passages])
    for row, query, whole in zip(rows, queries, of_passages, strict=True):
        with clocked() as cost:
            scores = [_within(query, read[_key(p)], p) for p in row.passages]
            if len(row.passages) > 1:
                wholes = [_mean_match(whole, read[_key(p)]) for p in row.passages]
                scores = [joined(s, np.full_like(s, w), PASSAGE_SHARE) for s, w in zip(scores, wholes, strict=True)]
        yield np.concatenate(scores), _shared(cost, [asking, reading], len(rows))


def alone(reader: Reader, way: Way, rows: Sequence[RankRow]) -> Iterator[tuple[Floats, Cost]]:
    """Sentences read without their passage."""
    queries, asking = reader.queries(way, rows)
    read, reading = reader.read(way, [Passage("", text) for row in rows for text in row.texts])
    for row, query in zip(rows, queries, strict=True):
        with clocked() as cost:
            scores = np.array([_mean_match(query, read[_key(Passage("", text))]) for text in row.texts], np.float32)
        yield scores, _shared(cost, [asking, reading], len(rows))


def single_vector(reader: Reader, way: Way, rows: Sequence[RankRow]) -> Iterator[tuple[Floats, Cost]]:
    """Sentences read without their passage, one vector each."""
    queries, asking = reader.queries(way, rows)
    read, reading = reader.read(way, [Passage("", text) for row in rows for text in row.texts])
    for row, query in zip(rows, queries, strict=True):
        with clocked() as cost:
            means = np.stack([mean_vector(read[_key(Passage("", text))]) for text in row.texts])
            scores = means @ mean_vector(query)
        yield scores, _shared(cost, [asking, reading], len(rows))


SCORERS = {ALONE: alone, SINGLE: single_vector}


def mean_vector(tokens: TokenVectors) -> Floats:
    """The mean of the unit token vectors as unit vector: nearly the base's own embedding of the text."""
    vector: Floats = tokens.vectors.mean(axis=0)
    return vector / max(float(np.linalg.norm(vector)), 1e-9)


def _key(passage: Passage) -> Key:
    return passage.title, passage.text, passage.sentences


def _within(query: TokenVectors, tokens: TokenVectors, passage: Passage) -> Floats:
    return score_units(query.vectors, query.weights(), tokens, [(s.span,) for s in passage.sentences])


def _mean_match(query: TokenVectors, tokens: TokenVectors) -> float:
    return float(query.weights() @ (query.vectors @ tokens.vectors.T).max(axis=1))


def _shared(cost: Cost, reading: Sequence[Cost], among: int) -> Cost:
    """An item bears its own work and its part of what was read for several."""
    return {name: cost[name] + sum(one[name] for one in reading) / among for name in cost}
