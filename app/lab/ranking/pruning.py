"""`propcite eval pruning`: what is lost when only some tokens look, are looked for, or are stored at all."""

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

import numpy as np

from propcite.app.errors import AppError
from propcite.app.lab.files import digest_of
from propcite.app.lab.ranking.alignments import Asked
from propcite.app.lab.ranking.beir import Beir, read_beir
from propcite.app.lab.ranking.encoded import encoded
from propcite.app.lab.ranking.encoders import words_of
from propcite.app.lab.ranking.relevance import DEPTH, figures, needs_ir_measures
from propcite.app.lab.runs.about import about_run
from propcite.app.lab.runs.keeping import Todo, added, clocked, measure, open_run, portion
from propcite.app.lab.runs.shares import Share
from propcite.app.library.store.runs import RunItem
from propcite.app.parts import Parts
from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.encoding.coverage import coverage
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.salience import Salience, idf
from propcite.retrieval.index.search import REFINED
from propcite.retrieval.index.token_index import IndexOptions, TokenIndex
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Passage

MEASURES = ("nDCG@10", "R@100", "RR@10")
SHARES = (0.4, 0.2, 0.1)  # of a passage's tokens: ALIGNER's beta_d
ASKING = (1.0, 0.5, 0.3)  # of a query's tokens: its beta_q
WHOLE = "all tokens"
KINDS = ("sentences", "coverage", "salience", "idf", "random")

Worth = Callable[[Passage, TokenVectors], Floats]  # what each token of a passage is worth keeping


@dataclass(frozen=True, slots=True)
class Way:
    """How a passage's tokens are chosen, how many of them are searched or `stored`, how many of a query's look."""

    kind: str
    share: float = 1.0
    stored: bool = False
    asking: float = 1.0

    @property
    def name(self) -> str:
        """As in a table: `coverage 20%`, `coverage 20% stored`, `coverage 20%, 50% look`."""
        told = f"{self.kind} {self.share:.0%}" if self.share < 1 else WHOLE
        told += " stored" if self.stored else ""
        return told + (f", {self.asking:.0%} look" if self.asking < 1 else "")

    @property
    def index(self) -> Way:
        """The way whose index it asks."""
        return replace(self, asking=1.0, kind=self.kind if self.share < 1 else "")


def ways_of(kinds: Sequence[str], shares: Sequence[float]) -> list[Way]:
    """All that are compared, each once: every share searched with every share that looks, and every share stored."""
    if wrong := [share for share in shares if not 0 < share <= 1]:
        raise AppError(f"there is no share {wrong[0]:g} of a passage's tokens: it is above 0 and up to 1")
    searched = [Way(kind, share, asking=look) for kind, share, look in product(kinds, (1.0, *shares), ASKING)]
    stored = [Way(kind, share, stored=True) for kind, share in product(kinds, shares)]
    return list({way.name: way for way in [*searched, *stored]}.values())


def evaluate(
    folders: Sequence[Path],
    parts: Parts,
    kinds: Sequence[str],
    weights: Mapping[str, Path],
    shares: Sequence[float],
    share: Share,
    refine: int = REFINED,
) -> list[RunItem]:
    """Measure on BEIR folders; `weights`: files of a trained salience by the names of further kinds.  -> all items"""
    needs_ir_measures()
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise AppError(f"there is no choice of tokens by {unknown[0]!r}: it is by {', '.join(KINDS)}, or --weights")
    ways = ways_of([*kinds, *weights], shares)
    collections = {one.name: one for one in map(read_beir, folders)}
    if len(collections) < len(folders):
        raise AppError("two folders have the same name: give one of them another")
    rows = [Asked(one.name, question) for one in collections.values() for question in share.of(one.questions)]
    settings = {
        "files": {name: dict(one.digests) for name, one in collections.items()},
        "weights": {name: digest_of(path) for name, path in weights.items()},
        "ways": [way.name for way in ways],
        "refine": refine,
        "bits": parts.settings.index_bits,
        "encoder": parts.encoder.query_name,
        "precision": parts.encoder.precision,
        **share.settings,
    }
    about = about_run(parts.settings, "encoder")
    run = open_run(parts.runs, "pruning", ", ".join(collections), settings, about, new=share.new, say=share.say)
    with TemporaryDirectory(prefix="propcite-pruning-") as folder:
        made = Made(collections, parts, weights, Path(folder) / "index")
        work = partial(measured, made, {way.name: way for way in ways}, parts.encoder, refine)
        # All at once: an index is made, asked everything, and given up for the next.
        measure(
            parts.runs, run, rows, attrgetter("key"), [way.name for way in ways], work, max(1, len(rows)), "ranking"
        )
    return list(parts.runs.items(run.id))


@dataclass(frozen=True, slots=True)
class Index:
    """An index with its size on disk, and that of what candidates are looked for in."""

    tokens: TokenIndex
    bytes: int
    searched_bytes: int


@dataclass(frozen=True)
class Folder:
    """A folder's passages with their tokens, read once, and what these are worth by each choice, told once."""

    passages: list[Passage]
    tokens: list[TokenVectors]
    whole: TokenIndex
    weights: Mapping[str, Salience]
    _told: dict[str, list[Floats]] = field(default_factory=dict)

    def worths(self, kind: str) -> list[Floats]:
        if kind not in self._told:
            worth = self._worth(kind)
            self._told[kind] = [worth(*one) for one in zip(self.passages, self.tokens, strict=True)]
        return self._told[kind]

    def _worth(self, kind: str) -> Worth:
        if kind in self.weights:
            weights = self.weights[kind]
            return lambda _, tokens: weights.of_passage(words_of(tokens), tokens.vectors)
        if kind == "idf":
            rarity = idf(map(words_of, self.tokens))
            return lambda _, tokens: rarity[words_of(tokens)]
        return {"coverage": _coverage, "salience": _salience, "random": _random}[kind]


class Made:
    """Indexes of a folder's passages with fewer tokens, made when they are first asked."""

    def __init__(self, collections: Mapping[str, Beir], parts: Parts, weights: Mapping[str, Path], place: Path) -> None:
        self._collections, self._parts, self._place = collections, parts, place
        self._weights = {name: Salience.read(path) for name, path in weights.items()}
        self._last: tuple[str, Way, Index] | None = None
        self._read: tuple[str, Folder] | None = None

    def index(self, folder: str, way: Way) -> Index:
        if self._last is None or self._last[:2] != (folder, way):
            self._last = (folder, way, self._make(self._folder(folder), way))
        return self._last[2]

    def _make(self, folder: Folder, way: Way) -> Index:
        options: IndexOptions = {
            "bits": folder.whole.codec.bits,
            "regime": "exact" if way.stored else "tokens",
            "exact_up_to": 0,
            "pruning": "sentences" if way.kind == "sentences" else "salience",  # which is whatever else chooses tokens
            "stored_share": way.share if way.stored else 1.0,
            "searched_share": 1.0 if way.stored else way.share,
        }
        index = TokenIndex(folder.whole.dimension, folder.whole.encoder, **options)
        tokens = folder.tokens
        if way.share < 1 and way.kind != "sentences":
            worths = folder.worths(way.kind)
            tokens = [replace(one, salience=worth) for one, worth in zip(tokens, worths, strict=True)]
        index.add(folder.passages, tokens)
        shutil.rmtree(self._place, ignore_errors=True)
        index.save(self._place)
        searched = sum(path.stat().st_size for path in self._place.glob("*.codes-*"))
        return Index(index, index.stats().bytes, searched)

    def _folder(self, name: str) -> Folder:
        if self._read is None or self._read[0] != name:
            collection, settings = self._collections[name], self._parts.settings
            encoder, bits = self._parts.encoder, settings.index_bits
            whole = encoded(collection.passages, collection.digests["corpus"], encoder, settings, [bits])[bits]
            passages = [passage_from_text(p.id, p.text, p.title) for p in collection.passages]
            read = [whole.vectors(passage.id) for passage in passages]
            tokens = [replace(one, salience=encoder.salience_of(one)) for one in read]
            self._read = name, Folder(passages, tokens, whole, self._weights)
        return self._read[1]


def _coverage(_: Passage, tokens: TokenVectors) -> Floats:
    return coverage(tokens.vectors, tokens.salience)


def _salience(_: Passage, tokens: TokenVectors) -> Floats:
    if tokens.salience is None:
        raise AppError("this encoder does not tell how salient a passage's tokens are: leave that kind out")
    return tokens.salience


def _random(passage: Passage, tokens: TokenVectors) -> Floats:
    seed = int.from_bytes(hashlib.sha256(passage.id.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).random(len(tokens), np.float32)


def measured(
    made: Made, ways: Mapping[str, Way], encoder: Encoder, refine: int, todos: Sequence[Todo[Asked]]
) -> Iterator[RunItem]:
    """Every query by one index before the next is made."""
    with clocked() as reading:
        queries = encoder.encode_queries([todo.row.question.text for todo in todos])
        read = {todo.key: query for todo, query in zip(todos, queries, strict=True)}
    each = portion(reading, len(todos) * max(1, len(ways)))
    asked = sorted(
        ((ways[name], todo) for todo in todos for name in todo.ways), key=lambda one: list(ways).index(one[0].name)
    )
    for (folder, way), some in groupby(asked, key=lambda one: (one[1].row.folder, one[0].index)):
        index = made.index(folder, way)
        for wanted, todo in some:
            query = read[todo.key]
            with clocked() as cost:
                hits = index.tokens.search(
                    query.vectors, query.weights()[None], k=DEPTH, refine=max(refine, DEPTH), asking=wanted.asking,
                    worths=encoder.worths(query),
                )[0]  # fmt: skip
            ranking = [hit.passage_id for hit in hits]
            told = figures(ranking, todo.row.question.grades, MEASURES)
            sizes = {"index_bytes": index.bytes, "searched_bytes": index.searched_bytes}
            output = {"source": folder, "ranking": ranking[:10], **sizes}
            yield RunItem(todo.key, wanted.name, told, output, added(cost, each))


@dataclass(frozen=True, slots=True)
class Size:
    """What an index of a way takes beside one of all tokens, a mean over folders: whole, and to look for candidates."""

    way: str
    index: float
    searched: float


def sizes_of(items: Sequence[RunItem]) -> list[Size]:
    """Of each way whose index differs from that of all tokens."""
    told = {(item.way, item.output["source"]): item.output for item in items}
    found = []
    for way in dict.fromkeys(way for way, _ in told if " look" not in way):
        shares = [
            [told[way, folder][name] / told[WHOLE, folder][name] for of, folder in told if of == way]
            for name in ("index_bytes", "searched_bytes")
        ]
        found.append(Size(way, *(round(float(np.mean(share)), 3) for share in shares)))
    return found
