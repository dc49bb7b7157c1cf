"""`propcite eval beir`: passages of a collection ranked for its queries, in our ways and by words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from propcite.app.lab.ranking.beir import Beir, Question, read_beir
from propcite.app.lab.ranking.encoded import PRUNED, encoded
from propcite.app.lab.ranking.encoders import BM25, MARKERS, Encoders, Way, names_of, words_of
from propcite.app.lab.ranking.relevance import DEPTH, PASSAGES, figures, needs_ir_measures
from propcite.app.lab.runs.keeping import Todo, added, clocked, measure, open_run, portion
from propcite.app.lab.runs.shares import Share
from propcite.app.library.store.runs import RunItem
from propcite.app.parts import Parts
from propcite.app.settings import Settings
from propcite.retrieval.alignment import NEAREST, alignment_of
from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.salience import idf
from propcite.retrieval.index.token_index import TokenIndex

SHOWN = 10  # passages of a ranking that are kept by name
TOGETHER = 32  # queries that are read together

Cost = Mapping[str, float]
Weigh = Callable[[TokenVectors], Floats]  # a query's tokens (n,) to weights that sum to 1
Rank = Callable[[Sequence[str]], Iterable[tuple[list[str], Cost]]]  # each query's passages by their ids, best first


@dataclass(frozen=True, slots=True)
class Asking:
    """How the index is asked: with which marker, how candidates are found, and whether rare words count for more."""

    marker: str = "m_q"
    search: Mapping[str, Any] = field(default_factory=dict)
    rare: bool = False


ASKING = {
    "m_q": Asking(),  # candidates as the settings say
    "exact": Asking(search={"regime": "exact"}),
    "idf": Asking(search={"regime": "exact"}, rare=True),  # each of the query's words by sqrt(idf) in the collection
    "tokens": Asking(search={"regime": "tokens"}),
    "xtr": Asking(search={"regime": "tokens", "refine": 0}),  # by XTR's scores alone
    "m'_q": Asking("m'_q", {"regime": "exact"}),
    "m''_q": Asking("m''_q", {"regime": "exact"}),
}
WAYS = (BM25, *ASKING)
ALIGNED = tuple(name for name in ASKING if name != "xtr")  # those that may be asked under any alignment
DEFAULT = (BM25, "m_q", "exact", "m'_q", "m''_q")


def evaluate(
    folder: Path,
    parts: Parts,
    wanted: Sequence[Way],
    share: Share,
    *,
    split: str = "",
    named: bool = True,
    not_itself: bool = False,
) -> list[RunItem]:
    """Measure a BEIR folder, kept item by item; ways that nobody `named` are left out where an encoder has no marker.

    -> all its items
    """
    needs_ir_measures()
    collection = read_beir(folder, split)
    questions = share.of(collection.questions)
    loaded = Encoders(parts)
    ways = loaded.able(wanted, lambda asks: ASKING[asks].marker, named=named)
    depth = DEPTH + not_itself  # one more is looked at, since one may be left out
    ranks, indexes = rankings(collection, ways, loaded, parts.settings, depth)
    settings = {
        "files": collection.digests,
        "ways": [way.name for way in ways],
        **loaded.settings(ways),
        **_index_settings(parts.settings, ways),
        "not_itself": not_itself,
        **share.settings,
    }
    about = {**loaded.about(ways), "indexes": indexes}
    run = open_run(parts.runs, "beir", collection.name, settings, about, new=share.new, say=share.say)
    work = partial(measured, ranks, not_itself=not_itself)
    measure(parts.runs, run, questions, attrgetter("id"), list(ranks), work, TOGETHER, "ranking")
    return list(parts.runs.items(run.id))


def _index_settings(settings: Settings, ways: Sequence[Way]) -> dict[str, Any]:
    """What of the index changes a figure."""
    return {"index": index_settings(settings)} if names_of(ways) else {}


def index_settings(settings: Settings) -> dict[str, Any]:
    told = {name: getattr(settings, name) for name in ("exact_up_to", "asking_share", *PRUNED)}
    return {"regime": settings.index, "bits": settings.index_bits, **told}


def rankings(
    collection: Beir, ways: Sequence[Way], encoders: Encoders, settings: Settings, depth: int = DEPTH
) -> tuple[dict[str, Rank], dict[str, Any]]:
    """What ranks the collection, by the ways' names, and what is told of the indexes; encodes what was not yet."""
    ranks: dict[str, Rank] = {way.name: by_words(collection, depth) for way in ways if way.asks == BM25}
    told: dict[str, Any] = {}
    for name in names_of(ways):
        asked = [way for way in ways if way.asks != BM25 and way.encoder == name]
        bits = sorted({way.bits or settings.index_bits for way in asked}, reverse=True)
        indexes = encoded(collection.passages, collection.digests["corpus"], encoders[name], settings, bits)
        told |= {f"{number} bits {name}".strip(): _told(index) for number, index in indexes.items()}
        for way in asked:
            index = indexes[way.bits or settings.index_bits]
            asking = _asking(way, settings)
            weigh = _by_rarity(index) if asking.rare else TokenVectors.weights
            ranks[way.name] = partial(_nearest, index, encoders[name], asking, weigh, depth)
    return {way.name: ranks[way.name] for way in ways}, told


def _asking(way: Way, settings: Settings) -> Asking:
    asking = ASKING[way.asks]
    alignment = alignment_of(way.alignment) if way.alignment else NEAREST
    return replace(asking, search={**asking.search, "asking": settings.asking_share, "alignment": alignment})


def _told(index: TokenIndex) -> dict[str, Any]:
    stats = index.stats()
    return {
        "version": index.version,
        "passages": stats.passages,
        "tokens": stats.tokens,
        "bytes_per_token": round(stats.bytes_per_token, 1),
    }


def by_words(collection: Beir, depth: int) -> Rank:
    from propcite.attribution.citing.baselines import Bm25Index

    counted = Bm25Index([f"{p.title} {p.text}" for p in collection.passages])

    def rank(queries: Sequence[str]) -> Iterator[tuple[list[str], Cost]]:
        for query in queries:
            with clocked() as cost:
                scores = counted.scores(query)
                best = np.argsort(-scores, kind="stable")[:depth]
                found = [collection.passages[i].id for i in best if scores[i] > 0]
            yield found, cost

    return rank


def _by_rarity(index: TokenIndex) -> Weigh:
    """A query's words by the square root of their inverse document frequency among the index's passages; tokens that
    stand for no word count 1, as in training."""
    words = [words_of(index.vectors(name)) for name in index.ids()]
    unseen = 1 + max((int(ids.max(initial=0)) for ids in words), default=0)  # stands for all that no passage has
    rarity = np.sqrt(idf(words, unseen + 1))

    def weigh(query: TokenVectors) -> Floats:
        rare = rarity[np.minimum(words_of(query), unseen)]
        return replace(query, salience=np.where(query.offsets[:, 0] < 0, np.float32(1), rare)).weights()

    return weigh


def _nearest(
    index: TokenIndex, encoder: Encoder, asking: Asking, weigh: Weigh, depth: int, queries: Sequence[str]
) -> Iterator[tuple[list[str], Cost]]:
    """Queries are read together and searched alone; each bears its share of the reading."""
    with clocked() as reading:
        read = encoder.encode_queries(queries, MARKERS[asking.marker])
    each = portion(reading, len(read))
    for query in read:
        with clocked() as cost:
            weights = weigh(query)[None]
            told = {"words": query.ids, "worths": encoder.worths(query), **asking.search}
            hits = index.search(query.vectors, weights, k=depth, **told)[0]
        yield [hit.passage_id for hit in hits], added(cost, each)


def measured(ranks: Mapping[str, Rank], todos: Sequence[Todo[Question]], *, not_itself: bool) -> Iterator[RunItem]:
    """Each query by each way; `not_itself` leaves the passage out that has the query's own id."""
    for way, rank in ranks.items():
        asked = [todo for todo in todos if way in todo.ways]
        for todo, (found, cost) in zip(asked, rank([todo.row.text for todo in asked]), strict=True):
            ranked = [name for name in found if not (not_itself and name == todo.row.id)][:DEPTH]
            told = figures(ranked, todo.row.grades, PASSAGES)
            yield RunItem(todo.key, way, told, _output(todo.row, ranked), cost)


def _output(question: Question, ranked: Sequence[str]) -> dict[str, Any]:
    """The head of the ranking, and at which places the right passages are."""
    places = {name: place for place, name in enumerate(ranked, start=1) if question.grades.get(name, 0) > 0}
    return {"question": question.text, "ranking": list(ranked[:SHOWN]), "found": places}
