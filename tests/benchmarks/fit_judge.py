"""Measure the judges against plain baselines, one line per source: does the evidence support the claim?

    PYTHONPATH=. python tests/benchmarks/fit_judge.py FILES…

FILES are JSON lines of claims with documents, or of claims with ranked sentences and labels.  Of the sources that the
judge was trained on, only the held-out rows count.
"""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score
from tests.support.claim_pairs import ROWS

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.judges import Case
from propcite.attribution.judges.cross import CrossJudge, combined_logit
from propcite.attribution.judges.embedded import probability, support_probability
from propcite.attribution.judges.training.corpus import REPEATS, is_held_out, read_files
from propcite.attribution.judges.training.labelled_cases import LabelledCase, labelled_cases
from propcite.retrieval.encoding.encoder import Encoder

SEED = 7
MAX_ROWS = 300  # of one source
PRECISIONS = (0.8, 0.9, 0.95)
BATCH_SIZE = 64


def measured_cases(files: list[str]) -> list[LabelledCase]:
    """Return the rows that count, at most MAX_ROWS of each source."""
    rows = [r for r in read_files([Path(f) for f in files]) if r.get("source") not in REPEATS or is_held_out(r)]
    by_source = defaultdict(list)
    for case in labelled_cases(rows):
        by_source[case.source].append(case)
    rng = random.Random(SEED)
    sampled = (rng.sample(cases, MAX_ROWS) if len(cases) > MAX_ROWS else cases for cases in by_source.values())
    return [case for cases in sampled for case in cases]


def main() -> None:
    rows = measured_cases(sys.argv[1:])
    judge = CrossJudge(Encoder())
    batches = [[r.case for r in rows[i : i + BATCH_SIZE]] for i in range(0, len(rows), BATCH_SIZE)]
    results = [result for cases in batches for result in judge.logits_and_features(cases)]
    features = [f for _, f in results]
    y, sources = np.array([r.supported for r in rows]), np.array([r.source for r in rows])
    scores = {
        "overlap": np.array([f.overlap for f in features]),
        "similarity": np.array([f.similarity for f in features]),
        "embedded": np.array([support_probability(f) for f in features]),
        "network": np.array([logit for cases in batches for logit in judge.logits(cases)]),
        "both": np.array([probability(combined_logit(logit, f)) for logit, f in results]),
    }
    report(sources, y, scores)
    thresholds(sources, y, scores["both"])
    verdicts = [verdict for cases in batches for verdict in judge.judge(cases)]
    scores["both"] = np.array([v.probability for v in verdicts])
    print("\nwith the word checks")
    report(sources, y, scores)
    pairs([(kind, *judge.judge([Case(yes, (text,)), Case(no, (text,))])) for kind, text, yes, no in ROWS])


def pairs(verdicts: list[tuple[str, Verdict, Verdict]]) -> None:
    """Print how often our supported claims score above their unsupported twins, and how often labels are right."""
    print(f"\n{'kind':14}{'pairs':>6}{'in order':>10}{'labels right':>14}")
    for kind in [*dict.fromkeys(kind for kind, *_ in verdicts), "all"]:
        rows = [(yes, no) for k, yes, no in verdicts if kind in (k, "all")]
        order = np.mean([yes.probability > no.probability for yes, no in rows])
        right = np.mean([[yes.label is Label.SUPPORTED, no.label is not Label.SUPPORTED] for yes, no in rows])
        print(f"{kind:14}{len(rows):>6}{100 * order:>10.0f}{100 * right:>14.0f}")


def calibration_error(y: np.ndarray, p: np.ndarray) -> float:
    """Return the mean distance between probability and true share, over ten bins of equal width."""
    bins = np.minimum((p * 10).astype(int), 9)
    return float(sum(abs(p[bins == b].mean() - y[bins == b].mean()) * (bins == b).mean() for b in set(bins)))


def report(sources: np.ndarray, y: np.ndarray, scores: dict[str, np.ndarray]) -> None:
    means = defaultdict(list)
    print(
        f"{'AUC':22}{'rows':>6}" + "".join(f"{n:>11}" for n in scores) + f"{'bal.acc .5':>12}{'ECE':>7}{'emb. ECE':>10}"
    )
    for source in dict.fromkeys(sources):
        at = sources == source
        line = f"{source:22}{at.sum():>6}"
        for name, score in scores.items():
            means[name].append(100 * roc_auc_score(y[at], score[at]))
            line += f"{means[name][-1]:>11.1f}"
        p = scores["both"][at]
        balanced = 50 * ((p[y[at]] >= 0.5).mean() + (p[~y[at]] < 0.5).mean())
        errors = [100 * calibration_error(y[at], scores[n][at]) for n in ("both", "embedded")]
        means["balanced"].append(balanced)
        print(line + f"{balanced:>12.1f}{errors[0]:>7.1f}{errors[1]:>10.1f}")
    print(
        f"{'mean':22}{'':>6}"
        + "".join(f"{np.mean(means[n]):>11.1f}" for n in scores)
        + f"{np.mean(means['balanced']):>12.1f}"
    )


def thresholds(sources: np.ndarray, y: np.ndarray, p: np.ndarray) -> None:
    """Print the threshold for each precision, and its recall."""
    counts = Counter(sources)
    weights = np.array([1 / counts[source] for source in sources])
    print("\nprecision  from  recall   (all sources count alike)")
    for minimum in PRECISIONS:
        for t in np.arange(0.05, 1.0, 0.01):
            accepted = p >= t
            precision = (weights * (accepted & y)).sum() / max((weights * accepted).sum(), 1e-9)
            if precision >= minimum:
                print(f"{minimum:9.2f}  {t:.2f}  {(weights * (accepted & y)).sum() / (weights * y).sum():.2f}")
                break


if __name__ == "__main__":
    main()
