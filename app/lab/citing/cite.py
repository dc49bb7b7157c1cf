"""`propcite eval cite`: every table that the rows of some files allow, from a run that is kept row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

from propcite.app.errors import AppError
from propcite.app.lab.citing.answers import ANSWERS, cited_answers, cited_table, named
from propcite.app.lab.citing.evidence import RANKING, SENTENCES, evidence_ways, ranked_table, sentence_evidence
from propcite.app.lab.citing.gold import Gold, GoldAnswer, GoldEvidence, GoldVerdict, fairly, read_gold
from propcite.app.lab.citing.judging import (
    VERDICTS,
    Scored,
    Scorer,
    judged,
    reliability,
    scorers,
    thresholds,
    verdict_items,
)
from propcite.app.lab.citing.ways import Way, ways_of
from propcite.app.lab.files import digests_of
from propcite.app.lab.runs.about import about_run
from propcite.app.lab.runs.keeping import Todo, measure, open_run
from propcite.app.lab.runs.shares import Share
from propcite.app.library.store.runs import RunItem
from propcite.app.parts import Parts
from propcite.attribution.citing.baselines import Bm25
from propcite.attribution.citing.methods import METHODS

TOGETHER = 64  # rows whose texts are read at once


def evaluate(
    files: Sequence[Path],
    parts: Parts,
    most: int,
    methods: Sequence[str] = METHODS,
    supported_from: Sequence[float] = (),
    share: Share | None = None,
) -> Iterator[list[Any]]:
    """Tables, each a list of one kind: cited answers, ranked evidence, judged claims, how far to trust the judge."""
    share = share or Share()
    digests = digests_of(files)
    rows = share.of(_rows(files, most))
    measuring = Measuring(parts, rows, methods, supported_from)
    settings = {
        "files": digests,
        "most": most,
        "methods": list(methods),
        "supported_from": list(supported_from) or [parts.settings.supported_from],
        **_settings(parts),
        **share.settings,
    }
    about = about_run(parts.settings, "encoder", "splitter", "judge")
    judge = parts.judge.name if parts.judge else ""
    name = ", ".join(digests)
    run = open_run(parts.runs, "cite", name, settings, about, judge, new=share.new, say=share.say)
    measure(parts.runs, run, rows, attrgetter("id"), measuring.ways_of, measuring.items, TOGETHER)
    yield from measuring.tables({(item.way, item.key): item for item in parts.runs.items(run.id)})


def _rows(files: Sequence[Path], most: int) -> list[Gold]:
    """So many of each source and kind."""
    gold = [row for file in files for row in read_gold(file)]
    if not gold:
        raise AppError("these files hold no row that says what supports what")
    answers = fairly([row for row in gold if isinstance(row, GoldAnswer)], most)
    evidence = fairly([row for row in gold if isinstance(row, GoldEvidence)], most)
    return [*answers, *evidence, *fairly([row for row in gold if isinstance(row, GoldVerdict)], most)]


def _settings(parts: Parts) -> dict[str, Any]:
    """What of the parts changes a figure."""
    named = ("splitter", "splitter_model", "judge_model", "judge_checks", "min_score", "most_citations")
    reads = {"encoder": parts.encoder.query_name, "precision": parts.encoder.precision}
    return {**reads, **{name: getattr(parts.settings, name) for name in named}}


@dataclass(frozen=True)
class Measuring:
    """How each kind of row is measured; what a kind needs is loaded, or told as missing, only where it is there."""

    parts: Parts
    rows: Sequence[Gold]
    methods: Sequence[str]
    supported_from: Sequence[float]

    def __post_init__(self) -> None:
        _ = self._bm25, self._ways  # what is missing is told before any text is read

    def _of(self, *kinds: type[Gold]) -> list[Any]:
        return [row for row in self.rows if isinstance(row, kinds)]

    @cached_property
    def _bm25(self) -> Bm25 | None:
        return Bm25() if self._of(GoldEvidence) else None

    @cached_property
    def _ways(self) -> list[Way]:
        wanted = self._of(GoldAnswer, GoldEvidence)
        return ways_of(self.parts, self.methods, self.supported_from) if wanted else []

    @cached_property
    def _scorers(self) -> Mapping[str, Scorer]:
        return scorers(self.parts.propcite) if self._of(GoldVerdict) else {}

    @cached_property
    def _named(self) -> dict[type[Gold], list[str]]:
        return {
            GoldAnswer: [named(ANSWERS, way) for way in self._ways],
            GoldEvidence: evidence_ways(self._ways, self.parts.encoder),
            GoldVerdict: [f"{VERDICTS}: {name}" for name in self._scorers],
        }

    def ways_of(self, row: Gold) -> list[str]:
        return self._named[type(row)]

    def items(self, todos: Sequence[Todo[Any]]) -> Iterator[RunItem]:
        def of(kind: type[Gold]) -> list[Todo[Any]]:
            return [todo for todo in todos if isinstance(todo.row, kind)]

        yield from cited_answers(of(GoldAnswer), self._ways, self.parts.encoder)
        if self._bm25:
            yield from sentence_evidence(of(GoldEvidence), self._ways, self.parts.encoder, self._bm25)
        yield from verdict_items(of(GoldVerdict), self._scorers)

    def tables(self, found: Mapping[tuple[str, str], RunItem]) -> Iterator[list[Any]]:
        """In the order of rows and ways, however the run was interrupted."""
        items = [found[way, row.id] for row in self.rows for way in self.ways_of(row)]

        def measuring(what: str) -> list[RunItem]:
            return [item for item in items if item.way.startswith(f"{what}: ")]

        yield from filter(None, [list(cited_table(measuring(ANSWERS)))])
        yield from filter(None, [list(ranked_table(measuring(RANKING))), list(cited_table(measuring(SENTENCES)))])
        told = Scored.of(self._of(GoldVerdict), measuring(VERDICTS))
        yield from filter(None, map(list, (judged(told), reliability(told), thresholds(told))))
