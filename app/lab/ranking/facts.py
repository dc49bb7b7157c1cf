"""`propcite eval facts`: find facts that mean the same as a fact; each is encoded within its sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path

import numpy as np
import numpy.typing as npt

from propcite.app.lab.ranking.encoders import BM25, MARKERS, LoadedEncoders, RankingConfig
from propcite.app.lab.ranking.fact_rows import LEVELS, Fact, Facts, level_of, read_facts
from propcite.app.lab.ranking.index_cache import build_indexes
from propcite.app.lab.ranking.relevance import FACTS, import_ir_measures, ranking_figures
from propcite.app.lab.ranking.sentences import mean_vector
from propcite.app.lab.runs.inputs import file_digest
from propcite.app.lab.runs.runner import Pending, RunOptions, measure, open_run, split_cost, timed
from propcite.app.library.store.runs import RunItem
from propcite.app.parts import Parts
from propcite.app.settings import Settings
from propcite.retrieval.encoding.base import Floats, Ints, Mask, TokenVectors
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.granularity import best_matches
from propcite.retrieval.text import Passage

SINGLE = "single-vector"
WAYS = (BM25, SINGLE, *MARKERS)
DEPTH = 20  # of a ranking, without the fact itself
BATCH_SIZE = 16  # facts
BLOCK_TOKENS = 1 << 15  # tokens of targets that are compared at once
BITS = 16

Scorer = Callable[[Sequence[Fact]], Floats]  # (f) -> (f, targets)


def marker_of(way: str) -> str:
    return "m_q" if way == SINGLE else way


def evaluate(
    folder: Path, parts: Parts, configs: Sequence[RankingConfig], options: RunOptions, *, explicit: bool = True
) -> list[RunItem]:
    """Measure a folder of facts and return the run's items."""
    import_ir_measures()
    facts = read_facts(folder)
    queries = options.select(facts.queries)
    encoders = LoadedEncoders(parts)
    configs = encoders.supported(configs, marker_of, explicit=explicit)
    scorers = build_scorers(configs, facts, encoders, parts.settings)
    settings = {
        "files": {file.name: file_digest(file) for file in facts.files},
        "ways": list(scorers),
        **encoders.settings(configs),
        **options.settings,
    }
    run = open_run(parts.runs, "facts", folder.resolve().name, settings, encoders.about(configs), options=options)
    work = partial(measure_facts, scorers, [fact.id for fact in facts.targets])
    measure(parts.runs, run, queries, attrgetter("id"), list(scorers), work, BATCH_SIZE, "ranking")
    return list(parts.runs.items(run.id))


def measure_facts(
    scorers: Mapping[str, Scorer], targets: Sequence[str], pending: Sequence[Pending[Fact]]
) -> Iterator[RunItem]:
    """Yield each fact by each way; several are scored at once and share the cost."""
    for way, scorer in scorers.items():
        facts = [one.row for one in pending if way in one.ways]
        with timed() as cost:
            scores: Iterable[Floats] = scorer(facts) if facts else ()
        for fact, row in zip(facts, scores, strict=True):
            best = [targets[i] for i in np.argsort(-row, kind="stable")[: DEPTH + 1]]
            yield fact_item(fact, way, best, split_cost(cost, len(facts)))


def fact_item(fact: Fact, way: str, best: Sequence[str], cost: Mapping[str, float]) -> RunItem:
    """Return a fact's measures, without itself; at each level the same sentence, document or cluster counts once."""
    others = [id_ for id_ in best if id_ != fact.id]
    measures: dict[str, float] = {}
    for level in LEVELS:
        ranking = list(dict.fromkeys(level_of(id_, level) for id_ in others))
        same = {level_of(id_, level): 1 for id_ in fact.same}
        measures |= {f"{name}, {level}": value for name, value in ranking_figures(ranking, same, FACTS).items()}
    places = {id_: others.index(id_) + 1 for id_ in fact.same if id_ in others}
    return RunItem(fact.id, way, measures, {"question": fact.text, "ranking": others[:5], "found": places}, cost)


def build_scorers(
    configs: Sequence[RankingConfig], facts: Facts, encoders: LoadedEncoders, settings: Settings
) -> dict[str, Scorer]:
    """Return the ways' scorers by name; encodes target sentences that are not encoded yet."""
    scorers: dict[str, Scorer] = {}
    targets: dict[str, Targets] = {}
    for config in configs:
        if config.way == BM25:
            scorers[config.name] = bm25_scorer(facts.targets)
            continue
        encoder = encoders[config.encoder]
        if config.encoder not in targets:
            targets[config.encoder] = Targets.load(facts, encoder, settings)
        score = score_means if config.way == SINGLE else score_tokens
        scorers[config.name] = partial(score, targets[config.encoder], encoder, config)
    return scorers


def bm25_scorer(targets: Sequence[Fact]) -> Scorer:
    from propcite.attribution.citing.baselines import Bm25Index

    index = Bm25Index([fact.text for fact in targets])
    return lambda facts: np.stack([index.scores(fact.text) for fact in facts])


def score_tokens(targets: Targets, encoder: Encoder, config: RankingConfig, facts: Sequence[Fact]) -> Floats:
    """Score by a fact's own tokens, each with its nearest among the target's own."""
    own = _own_tokens(encoder, config, facts)
    rows = np.concatenate([tokens.vectors for tokens in own])
    ends = np.cumsum([len(tokens) for tokens in own])[:-1]
    best = np.split(targets.best(rows), ends)
    return np.stack([tokens.weights() @ nearest for tokens, nearest in zip(own, best, strict=True)])


def score_means(targets: Targets, encoder: Encoder, config: RankingConfig, facts: Sequence[Fact]) -> Floats:
    """Score by one vector per fact: the mean of its own tokens."""
    queries = np.stack([mean_vector(tokens) for tokens in _own_tokens(encoder, config, facts)])
    scores: Floats = queries @ targets.means.T
    return scores


def _own_tokens(encoder: Encoder, config: RankingConfig, facts: Sequence[Fact]) -> list[TokenVectors]:
    """Encode whole sentences, and return the facts' tokens."""
    encoded = encoder.encode_queries([fact.sentence for fact in facts], MARKERS[marker_of(config.way)])
    return [tokens.only(_mask(tokens, fact)) for tokens, fact in zip(encoded, facts, strict=True)]


def _mask(tokens: TokenVectors, fact: Fact) -> Mask:
    """Return the fact's tokens; all of the sentence's if the fact has none."""
    mask = tokens.within(fact.spans)
    return mask if mask.any() else np.ones(len(tokens), dtype=bool)


@dataclass(frozen=True, slots=True)
class Targets:
    """The tokens of all target facts in one array: those of fact i begin at starts[i].  (n, d) and (f,)"""

    tokens: npt.NDArray[np.float16]
    starts: Ints
    means: Floats

    @classmethod
    def load(cls, facts: Facts, encoder: Encoder, settings: Settings) -> Targets:
        sentences = list(dict.fromkeys(fact.sentence for fact in facts.targets))
        numbers = {sentence: str(number) for number, sentence in enumerate(sentences)}
        passages = [Passage(number, sentence) for sentence, number in numbers.items()]
        index = build_indexes(passages, file_digest(facts.files[1]), encoder, settings, [BITS])[BITS]
        vectors, means = [], []
        for fact in facts.targets:
            tokens = index.vectors(numbers[fact.sentence])
            own = tokens.only(_mask(tokens, fact))
            vectors.append(own.vectors.astype(np.float16))  # half the memory: there are tens of thousands of facts
            means.append(mean_vector(own))
        starts = np.cumsum([0, *map(len, vectors)])[:-1]
        return cls(np.concatenate(vectors), starts, np.stack(means))

    def best(self, rows: Floats) -> Floats:
        """Return each query token's best similarity in each fact.  (q, d) -> (q, f)"""
        blocks = []
        first = 0
        while first < len(self.starts):
            begin = self.starts[first]
            last = max(first + 1, int(np.searchsorted(self.starts, begin + BLOCK_TOKENS)))
            end = self.starts[last] if last < len(self.starts) else len(self.tokens)
            similarities = self.tokens[begin:end].astype(np.float32) @ rows.T
            blocks.append(best_matches(similarities, self.starts[first:last] - begin))
            first = last
        return np.concatenate(blocks).T
