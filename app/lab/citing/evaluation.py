"""`propcite eval cite`: measure labelled rows, and return the tables that their kinds allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

from propcite.app.errors import AppError
from propcite.app.lab.citing.answers import ANSWERS, answer_items, citation_rows, way_name
from propcite.app.lab.citing.evidence import RANKING, SENTENCES, evidence_items, evidence_ways, ranking_rows
from propcite.app.lab.citing.gold import Gold, GoldAnswer, GoldEvidence, GoldVerdict, spread_over_sources
from propcite.app.lab.citing.judge_scores import (
    VERDICTS,
    ScoredClaims,
    Scorer,
    build_scorers,
    judge_rows,
    reliability_rows,
    threshold_rows,
    verdict_items,
)
from propcite.app.lab.citing.rows import read_gold
from propcite.app.lab.citing.ways import CitingConfig, citing_configs
from propcite.app.lab.runs.inputs import file_digests
from propcite.app.lab.runs.provenance import run_provenance
from propcite.app.lab.runs.runner import Pending, RunOptions, measure, open_run
from propcite.app.library.store.runs import RunItem
from propcite.app.parts import Parts
from propcite.attribution.citing.baselines import Bm25
from propcite.attribution.citing.methods import METHODS

BATCH_SIZE = 64  # rows


def evaluate(
    files: Sequence[Path],
    parts: Parts,
    per_source: int,
    methods: Sequence[str] = METHODS,
    supported_from: Sequence[float] = (),
    options: RunOptions | None = None,
) -> Iterator[list[Any]]:
    """Yield tables as lists of rows: cited answers, ranked and cited evidence, judged claims, the judge's calibration.

    At most `per_source` rows of each source and kind are measured.
    """
    options = options or RunOptions()
    digests = file_digests(files)
    rows = options.select(_rows(files, per_source))
    evaluation = Evaluation(parts, rows, methods, supported_from)
    settings = {
        "files": digests,
        "most": per_source,
        "methods": list(methods),
        "supported_from": list(supported_from) or [parts.settings.supported_from],
        **_settings(parts),
        **options.settings,
    }
    about = run_provenance(parts.settings, "encoder", "splitter", "judge")
    judge = parts.judge.name if parts.judge else ""
    run = open_run(parts.runs, "cite", ", ".join(digests), settings, about, judge, options)
    measure(parts.runs, run, rows, attrgetter("id"), evaluation.ways_of, evaluation.items, BATCH_SIZE)
    yield from evaluation.tables({(item.way, item.key): item for item in parts.runs.items(run.id)})


def _rows(files: Sequence[Path], per_source: int) -> list[Gold]:
    gold = [row for file in files for row in read_gold(file)]
    if not gold:
        raise AppError("these files hold no labelled row: give answers with docs, or claims with docs and labels")
    answers = spread_over_sources([row for row in gold if isinstance(row, GoldAnswer)], per_source)
    evidence = spread_over_sources([row for row in gold if isinstance(row, GoldEvidence)], per_source)
    verdicts = spread_over_sources([row for row in gold if isinstance(row, GoldVerdict)], per_source)
    return [*answers, *evidence, *verdicts]


def _settings(parts: Parts) -> dict[str, Any]:
    """Return the settings of the parts that a figure depends on."""
    names = ("splitter", "splitter_model", "judge_model", "judge_checks", "min_score", "most_citations")
    encoder = {"encoder": parts.encoder.query_name, "precision": parts.encoder.precision}
    return {**encoder, **{name: getattr(parts.settings, name) for name in names}}


@dataclass(frozen=True)
class Evaluation:
    """Measures each kind of row; what a kind needs is loaded only if there are such rows."""

    parts: Parts
    rows: Sequence[Gold]
    methods: Sequence[str]
    supported_from: Sequence[float]

    def __post_init__(self) -> None:
        _ = self._bm25, self._configs  # report missing packages and models before any text is read

    def _of(self, *kinds: type[Gold]) -> list[Any]:
        return [row for row in self.rows if isinstance(row, kinds)]

    @cached_property
    def _bm25(self) -> Bm25 | None:
        return Bm25() if self._of(GoldEvidence) else None

    @cached_property
    def _configs(self) -> list[CitingConfig]:
        rows = self._of(GoldAnswer, GoldEvidence)
        return citing_configs(self.parts, self.methods, self.supported_from) if rows else []

    @cached_property
    def _scorers(self) -> Mapping[str, Scorer]:
        return build_scorers(self.parts.propcite) if self._of(GoldVerdict) else {}

    @cached_property
    def _ways_by_kind(self) -> dict[type[Gold], list[str]]:
        return {
            GoldAnswer: [way_name(ANSWERS, config) for config in self._configs],
            GoldEvidence: evidence_ways(self._configs, self.parts.encoder),
            GoldVerdict: [f"{VERDICTS}: {name}" for name in self._scorers],
        }

    def ways_of(self, row: Gold) -> list[str]:
        return self._ways_by_kind[type(row)]

    def items(self, pending: Sequence[Pending[Any]]) -> Iterator[RunItem]:
        def of(kind: type[Gold]) -> list[Pending[Any]]:
            return [one for one in pending if isinstance(one.row, kind)]

        yield from answer_items(of(GoldAnswer), self._configs, self.parts.encoder)
        if self._bm25:
            yield from evidence_items(of(GoldEvidence), self._configs, self.parts.encoder, self._bm25)
        yield from verdict_items(of(GoldVerdict), self._scorers)

    def tables(self, items: Mapping[tuple[str, str], RunItem]) -> Iterator[list[Any]]:
        """Yield the tables that are not empty, in the order of rows and ways, even if the run was interrupted."""
        ordered = [items[way, row.id] for row in self.rows for way in self.ways_of(row)]

        def of(prefix: str) -> list[RunItem]:
            return [item for item in ordered if item.way.startswith(f"{prefix}: ")]

        claims = ScoredClaims.of(self._of(GoldVerdict), of(VERDICTS))
        tables = (
            citation_rows(of(ANSWERS)),
            ranking_rows(of(RANKING)),
            citation_rows(of(SENTENCES)),
            judge_rows(claims),
            reliability_rows(claims),
            threshold_rows(claims),
        )
        yield from filter(None, map(list, tables))
