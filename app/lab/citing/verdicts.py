"""`propcite eval verdicts`: how far several judges can be trusted, by source, by kind of error and by probability."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import roc_auc_score

from propcite.app.errors import AppError
from propcite.app.lab.alce.options import ScoringJudge
from propcite.app.lab.citing.answer_verdicts import AnswerRow, answer_rows
from propcite.app.lab.citing.gold import Gold, GoldNuggets, GoldSupport, GoldVerdict, spread_over_sources
from propcite.app.lab.citing.judge_bootstrap import Truth
from propcite.app.lab.citing.judge_scores import (
    PLAIN,
    VERDICTS,
    ReliabilityRow,
    ScoredClaims,
    Scorer,
    calibration_error,
    overlaps,
    reliability_rows,
    verdict_items,
)
from propcite.app.lab.citing.rows import read_gold
from propcite.app.lab.citing.support_rows import NuggetRow, SupportRow, nugget_rows, support_rows
from propcite.app.lab.runs.inputs import file_digests
from propcite.app.lab.runs.provenance import run_provenance
from propcite.app.lab.runs.runner import RunOptions, measure, open_run
from propcite.app.lab.runs.significance import Floats
from propcite.app.library.store.runs import RunItem
from propcite.app.parts import Parts
from propcite.attribution.judges import SUPPORTED_FROM, Case, Judge

OVERLAP = PLAIN[0]
JUDGES = ("embedded", "reader")
ALL, MEAN = "all claims", "mean of sources"
BATCH_SIZE = 64  # claims
OVERLAP_BINS = 5
FIGURES = ("auc", "equal_overlap", "true_accepted", "wrong_accepted", "balanced_accuracy", "calibration_error")


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """A judge on one source, in percent.

    `equal_overlap` is the AUC among claims that share about as many words with their evidence: 50 for a judge that
    only compares words.  `true_accepted` and `wrong_accepted` are shares of the claims that the evidence supports and
    of the others, `balanced_accuracy` the mean of those that are right; a figure is None where a source lacks its kind
    of claims, or where a score is no probability.
    """

    table: ClassVar[str] = "verdicts"

    judge: str
    source: str
    rows: int
    cpu_ms: float
    auc: float | None
    equal_overlap: float | None
    true_accepted: float | None
    wrong_accepted: float | None
    balanced_accuracy: float | None
    calibration_error: float | None


@dataclass(frozen=True, slots=True)
class KindRow:
    """A judge on the claims of one kind, in percent: how many it accepts, and the AUC against the other label's claims.

    `right` is the share of supported verdicts that are right if claims of this kind and the supported ones of the
    same sources come equally often; None for a kind of supported claims.
    """

    table: ClassVar[str] = "kinds"

    judge: str
    kind: str
    label: str
    rows: int
    accepted: float
    auc: float | None
    right: float | None


def evaluate_verdicts(
    files: Sequence[Path],
    parts: Parts,
    judges: Sequence[str] = JUDGES,
    per_source: int = 100_000,
    options: RunOptions | None = None,
) -> Iterator[list[Any]]:
    """Yield tables as lists of rows: word overlap and each judge by source, by kind of claim, and the reliability."""
    options = options or RunOptions()
    digests = file_digests(files)
    gold = [row for file in files for row in read_gold(file)]
    rows = options.select(_verdicts(gold, per_source))
    scorers = {OVERLAP: overlaps} | {name: _scorer(name, parts) for name in judges}
    settings = {"files": digests, "most": per_source, "judges": list(judges), **options.settings}
    about = run_provenance(parts.settings, "encoder", "judge")
    run = open_run(parts.runs, "verdicts", ", ".join(digests), settings, about, options=options)
    ways = [f"{VERDICTS}: {name}" for name in scorers]
    measure(parts.runs, run, rows, attrgetter("id"), ways, partial(verdict_items, scorers=scorers), BATCH_SIZE)
    items = {(item.way, item.key): item for item in parts.runs.items(run.id)}
    ordered = [items[way, row.id] for row in rows for way in ways]
    claims = ScoredClaims.of(rows, ordered)
    tables: tuple[Iterator[VerdictRow | AnswerRow | SupportRow | NuggetRow | KindRow | ReliabilityRow], ...] = (
        verdict_rows(claims, ordered),
        answer_rows(claims),
        support_rows([row for row in gold if isinstance(row, GoldSupport)], claims),
        nugget_rows([row for row in gold if isinstance(row, GoldNuggets)], claims),
        kind_rows(claims),
        reliability_rows(claims),
    )
    yield from filter(None, map(list, tables))


def _verdicts(gold: Sequence[Gold], per_source: int) -> list[GoldVerdict]:
    verdicts = [row for row in gold if isinstance(row, GoldVerdict)]
    if not verdicts:
        raise AppError("these files hold no claim with evidence and a label: give JSON lines of such claims")
    return spread_over_sources(verdicts, per_source)


def _scorer(name: str, parts: Parts) -> Scorer:
    """Return a judge's probabilities of cases; the judge of the settings has its model and labels from there."""
    own = parts.settings.judge == name
    model, labels = (parts.settings.judge_model, parts.settings.judge_labels) if own else ("", "")
    return partial(_probabilities, ScoringJudge(name, model, labels).build(parts))


def _probabilities(judge: Judge, cases: Sequence[Case]) -> list[float]:
    return [verdict.probability for verdict in judge.judge(cases)]


def verdict_rows(claims: ScoredClaims, items: Sequence[RunItem]) -> Iterator[VerdictRow]:
    """Yield each judge on each source; for several sources also on all claims, and the mean of the sources' figures."""
    sources, truth = np.array([row.source for row in claims.rows]), claims.truth
    overlap = claims.scores[OVERLAP]
    for name, scores in claims.scores.items():
        cpu = np.array([item.cost.get("cpu_seconds", 0.0) for item in items if item.output["score"] == name])
        groups = {source: sources == source for source in dict.fromkeys(sources.tolist())}
        if len(groups) > 1:
            groups[ALL] = np.ones(len(sources), dtype=bool)
        rows = []
        for group, of in groups.items():
            figures = _figures(truth[of], scores[of], overlap[of], probable=name not in PLAIN)
            rows.append(VerdictRow(name, group, int(of.sum()), round(1000 * float(cpu[of].mean()), 1), **figures))
        yield from rows
        if len(rows) > 1:
            yield _mean(name, rows)


def _figures(truth: Truth, scores: Floats, overlaps: Floats, *, probable: bool) -> dict[str, float | None]:
    accepted = scores >= SUPPORTED_FROM
    return {
        "auc": auc(truth, scores),
        "equal_overlap": equal_overlap_auc(truth, scores, overlaps),
        "true_accepted": _percent(accepted[truth]) if probable else None,
        "wrong_accepted": _percent(accepted[~truth]) if probable else None,
        "balanced_accuracy": balanced_accuracy(truth, accepted) if probable else None,
        "calibration_error": round(100 * calibration_error(truth, scores), 1) if probable else None,
    }


def _mean(name: str, rows: Sequence[VerdictRow]) -> VerdictRow:
    """Return the unweighted mean of the sources that have a figure; `rows` ends with the one on all claims."""
    *of_sources, of_all = rows

    def over(figure: str) -> float | None:
        values = [value for row in of_sources if (value := getattr(row, figure)) is not None]
        return round(float(np.mean(values)), 1) if values else None

    return VerdictRow(name, MEAN, of_all.rows, of_all.cpu_ms, **{figure: over(figure) for figure in FIGURES})


def kind_rows(claims: ScoredClaims) -> Iterator[KindRow]:
    """Yield each judge on each kind of claim, right ones first; nothing if the rows tell no kinds of wrong claims."""
    kinds, truth = np.array([row.kind for row in claims.rows]), claims.truth
    if len(set(kinds[~truth].tolist()) - {""}) < 2:
        return
    for name, scores in claims.probabilities:
        for label, of_label in ((True, truth), (False, ~truth)):
            of_other = scores[~of_label & (kinds != "")]
            true_share = (scores[truth & (kinds != "")] >= SUPPORTED_FROM).mean()
            for kind in sorted(set(kinds[of_label].tolist()) - {""}):
                own = scores[of_label & (kinds == kind)]
                both = np.concatenate([own, of_other])
                against = auc(np.arange(len(both)) < len(own), both if label else -both)
                share = float((own >= SUPPORTED_FROM).mean())
                right = None if label or not true_share else round(float(100 * true_share / (true_share + share)), 1)
                said = "supported" if label else "wrong"
                yield KindRow(name, kind, said, len(own), round(100 * share, 1), against, right)


def auc(truth: Truth, scores: Floats) -> float | None:
    """Return the share of pairs of a true and a wrong claim that the scores order rightly; None without such a pair.

    >>> auc(np.array([True, False]), np.array([0.9, 0.2])), auc(np.array([True]), np.array([0.9]))
    (100.0, None)
    """
    return round(100 * float(roc_auc_score(truth, scores)), 1) if 0 < truth.mean() < 1 else None


def equal_overlap_auc(truth: Truth, scores: Floats, overlaps: Floats) -> float | None:
    """Return the AUC within bins of equal overlap, by the number of their pairs; None if no bin has a pair.

    >>> truth, overlaps = np.array([True, False, True, False]), np.array([0.1, 0.1, 0.9, 0.9])
    >>> equal_overlap_auc(truth, overlaps, overlaps), equal_overlap_auc(truth, np.array([0.2, 0.1, 0.9, 0.8]), overlaps)
    (50.0, 100.0)
    """
    bins = np.digitize(overlaps, np.quantile(overlaps, np.linspace(0, 1, OVERLAP_BINS + 1)[1:-1]))
    weighed = []
    for number in set(bins.tolist()):
        inside = bins == number
        value = auc(truth[inside], scores[inside])
        if value is not None:
            weighed.append((value, int(truth[inside].sum()) * int((~truth[inside]).sum())))
    pairs = sum(weight for _, weight in weighed)
    return round(sum(value * weight for value, weight in weighed) / pairs, 1) if pairs else None


def balanced_accuracy(truth: Truth, accepted: Truth) -> float | None:
    """Return the mean of the shares of supported and of other claims that are judged rightly; None if one is missing.

    >>> balanced_accuracy(np.array([True, True, False]), np.array([True, False, False]))
    75.0
    """
    if not 0 < truth.mean() < 1:
        return None
    return round(50 * float(accepted[truth].mean() + (~accepted[~truth]).mean()), 1)


def _percent(values: Truth) -> float | None:
    return round(100 * float(values.mean()), 1) if len(values) else None
