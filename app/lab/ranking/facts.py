"""`propcite eval facts`: facts found that say the same as a fact, each by its own words in its sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path

import numpy as np
import numpy.typing as npt

from propcite.app.lab.files import digest_of
from propcite.app.lab.ranking.encoded import encoded
from propcite.app.lab.ranking.encoders import BM25, MARKERS, Encoders, Way
from propcite.app.lab.ranking.fact_rows import LEVELS, Fact, Facts, level_of, read_facts
from propcite.app.lab.ranking.relevance import FACTS, figures, needs_ir_measures
from propcite.app.lab.ranking.sentences import mean_vector
from propcite.app.lab.runs.keeping import Todo, clocked, measure, open_run, portion
from propcite.app.lab.runs.shares import Share
from propcite.app.library.store.runs import RunItem
from propcite.app.parts import Parts
from propcite.app.settings import Settings
from propcite.retrieval.encoding.base import Floats, Ints, Mask, TokenVectors
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.granularity import best_matches
from propcite.retrieval.text import Passage

SINGLE = "single-vector"
WAYS = (BM25, SINGLE, *MARKERS)
DEPTH = 20  # targets that are looked at, the fact itself apart
TOGETHER = 16  # facts that are scored together
TOKENS = 1 << 15  # of targets that are compared at once
BITS = 16

Scorer = Callable[[Sequence[Fact]], Floats]  # (f) -> (f, targets)


def marker_of(asks: str) -> str:
    return "m_q" if asks == SINGLE else asks


def evaluate(folder: Path, parts: Parts, wanted: Sequence[Way], share: Share, *, named: bool = True) -> list[RunItem]:
    """Measure a folder of facts, kept fact by fact.  -> all items"""
    needs_ir_measures()
    facts = read_facts(folder)
    queries = share.of(facts.queries)
    loaded = Encoders(parts)
    ways = loaded.able(wanted, marker_of, named=named)
    scorers = scorers_of(ways, facts, loaded, parts.settings)
    settings = {
        "files": {file.name: digest_of(file) for file in facts.files},
        "ways": list(scorers),
        **loaded.settings(ways),
        **share.settings,
    }
    about = loaded.about(ways)
    run = open_run(parts.runs, "facts", folder.resolve().name, settings, about, new=share.new, say=share.say)
    work = partial(measured, scorers, [fact.id for fact in facts.targets])
    measure(parts.runs, run, queries, attrgetter("id"), list(scorers), work, TOGETHER, "ranking")
    return list(parts.runs.items(run.id))


def measured(scorers: Mapping[str, Scorer], targets: Sequence[str], todos: Sequence[Todo[Fact]]) -> Iterator[RunItem]:
    """Each fact by each way; several are scored at once, and each bears its part of the cost."""
    for way, scorer in scorers.items():
        asked = [todo.row for todo in todos if way in todo.ways]
        with clocked() as cost:
            scores: Iterable[Floats] = scorer(asked) if asked else ()
        for fact, row in zip(asked, scores, strict=True):
            best = [targets[i] for i in np.argsort(-row, kind="stable")[: DEPTH + 1]]
            yield item_of(fact, way, best, portion(cost, len(asked)))


def item_of(fact: Fact, way: str, best: Sequence[str], cost: Mapping[str, float]) -> RunItem:
    """The fact itself is left out; at a level the same sentence, document or cluster counts once."""
    others = [name for name in best if name != fact.id]
    told: dict[str, float] = {}
    for level in LEVELS:
        ranked = list(dict.fromkeys(level_of(name, level) for name in others))
        same = {level_of(name, level): 1 for name in fact.same}
        told |= {f"{name}, {level}": value for name, value in figures(ranked, same, FACTS).items()}
    places = {name: others.index(name) + 1 for name in fact.same if name in others}
    return RunItem(fact.id, way, told, {"question": fact.words, "ranking": others[:5], "found": places}, cost)


def scorers_of(ways: Sequence[Way], facts: Facts, encoders: Encoders, settings: Settings) -> dict[str, Scorer]:
    """What scores facts, by the ways' names; target sentences that were not encoded yet are encoded first."""
    found: dict[str, Scorer] = {}
    tokens: dict[str, Targets] = {}
    for way in ways:
        if way.asks == BM25:
            found[way.name] = by_words(facts.targets)
            continue
        encoder = encoders[way.encoder]
        if way.encoder not in tokens:
            tokens[way.encoder] = Targets.read(facts, encoder, settings)
        found[way.name] = partial(by_means if way.asks == SINGLE else by_tokens, tokens[way.encoder], encoder, way)
    return found


def by_words(targets: Sequence[Fact]) -> Scorer:
    from propcite.attribution.citing.baselines import Bm25Index

    counted = Bm25Index([fact.words for fact in targets])
    return lambda facts: np.stack([counted.scores(fact.words) for fact in facts])


def by_tokens(targets: Targets, encoder: Encoder, way: Way, facts: Sequence[Fact]) -> Floats:
    """A fact's own tokens, each with its nearest among the target's own."""
    own = _own_tokens(encoder, way, facts)
    rows = np.concatenate([tokens.vectors for tokens in own])
    ends = np.cumsum([len(tokens) for tokens in own])[:-1]
    best = np.split(targets.best(rows), ends)
    return np.stack([tokens.weights() @ nearest for tokens, nearest in zip(own, best, strict=True)])


def by_means(targets: Targets, encoder: Encoder, way: Way, facts: Sequence[Fact]) -> Floats:
    """One vector a fact: the mean of its own tokens."""
    asked = np.stack([mean_vector(tokens) for tokens in _own_tokens(encoder, way, facts)])
    scores: Floats = asked @ targets.means.T
    return scores


def _own_tokens(encoder: Encoder, way: Way, facts: Sequence[Fact]) -> list[TokenVectors]:
    """Sentences are read whole, and the facts' tokens taken."""
    read = encoder.encode_queries([fact.sentence for fact in facts], MARKERS[marker_of(way.asks)])
    return [tokens.only(_mask(tokens, fact)) for tokens, fact in zip(read, facts, strict=True)]


def _mask(tokens: TokenVectors, fact: Fact) -> Mask:
    """The fact's tokens; all of them where its words have none."""
    mask = tokens.within(fact.spans)
    return mask if mask.any() else np.ones(len(tokens), dtype=bool)


@dataclass(frozen=True, slots=True)
class Targets:
    """The tokens of all target facts, one after the other: fact i's begin at starts[i].  (n, d) and (f,)"""

    tokens: npt.NDArray[np.float16]
    starts: Ints
    means: Floats

    @classmethod
    def read(cls, facts: Facts, encoder: Encoder, settings: Settings) -> Targets:
        sentences = list(dict.fromkeys(fact.sentence for fact in facts.targets))
        numbers = {sentence: str(number) for number, sentence in enumerate(sentences)}
        passages = [Passage(number, sentence) for sentence, number in numbers.items()]
        index = encoded(passages, digest_of(facts.files[1]), encoder, settings, [BITS])[BITS]
        vectors, means = [], []
        for fact in facts.targets:
            tokens = index.vectors(numbers[fact.sentence])
            own = tokens.only(_mask(tokens, fact))
            vectors.append(own.vectors.astype(np.float16))  # half as large: there are tens of thousands
            means.append(mean_vector(own))
        starts = np.cumsum([0, *map(len, vectors)])[:-1]
        return cls(np.concatenate(vectors), starts, np.stack(means))

    def best(self, rows: Floats) -> Floats:
        """Each query token's best similarity in each fact.  (q, d) -> (q, f)"""
        found = []
        first = 0
        while first < len(self.starts):
            begin = self.starts[first]
            last = max(first + 1, int(np.searchsorted(self.starts, begin + TOKENS)))
            end = self.starts[last] if last < len(self.starts) else len(self.tokens)
            similarities = self.tokens[begin:end].astype(np.float32) @ rows.T
            found.append(best_matches(similarities, self.starts[first:last] - begin))
            first = last
        return np.concatenate(found).T
