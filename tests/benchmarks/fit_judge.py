"""Measure the judges: does the evidence support the claim?  A source a line, beside plain baselines.

    PYTHONPATH=. python tests/benchmarks/fit_judge.py FILES…

FILES are JSON lines of claims with documents, or of claims with ranked sentences and labels.  Of sources that the
judge was trained on only the rows that were kept out count.
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
MOST = 300  # rows of one source that are measured
PRECISIONS = (0.8, 0.9, 0.95)
BATCH = 64


def chosen(files: list[str]) -> list[LabelledCase]:
    """The rows that count, at most so many of a source."""
    rows = [r for r in read_files([Path(f) for f in files]) if r.get("source") not in REPEATS or is_held_out(r)]
    held = defaultdict(list)
    for case in labelled_cases(rows):
        held[case.source].append(case)
    dice = random.Random(SEED)
    return [case for cases in held.values() for case in (dice.sample(cases, MOST) if len(cases) > MOST else cases)]


def main() -> None:
    rows = chosen(sys.argv[1:])
    judge = CrossJudge(Encoder())
    batches = [[r.case for r in rows[i : i + BATCH]] for i in range(0, len(rows), BATCH)]
    known = [told for cases in batches for told in judge.logits_and_features(cases)]
    features = [f for _, f in known]
    y, sources = np.array([r.supported for r in rows]), np.array([r.source for r in rows])
    scores = {
        "overlap": np.array([f.overlap for f in features]),
        "similarity": np.array([f.similarity for f in features]),
        "embedded": np.array([support_probability(f) for f in features]),
        "network": np.array([logit for cases in batches for logit in judge.logits(cases)]),
        "both": np.array([probability(combined_logit(logit, f)) for logit, f in known]),
    }
    report(sources, y, scores)
    thresholds(sources, y, scores["both"])
    verdicts = [verdict for cases in batches for verdict in judge.judge(cases)]
    scores["both"] = np.array([v.probability for v in verdicts])
    print("\nunder the word checks")
    report(sources, y, scores)
    pairs([(kind, *judge.judge([Case(yes, (told,)), Case(no, (told,))])) for kind, told, yes, no in ROWS])


def pairs(told: list[tuple[str, Verdict, Verdict]]) -> None:
    """Our own claims: how often the supported one is the likelier of two, and how often a label is right."""
    print(f"\n{'kind':14}{'pairs':>6}{'in order':>10}{'labels right':>14}")
    for kind in [*dict.fromkeys(kind for kind, *_ in told), "all"]:
        rows = [(yes, no) for k, yes, no in told if kind in (k, "all")]
        order = np.mean([yes.probability > no.probability for yes, no in rows])
        right = np.mean([[yes.label is Label.SUPPORTED, no.label is not Label.SUPPORTED] for yes, no in rows])
        print(f"{kind:14}{len(rows):>6}{100 * order:>10.0f}{100 * right:>14.0f}")


def calibration_error(y: np.ndarray, p: np.ndarray) -> float:
    """The mean distance of what was said and what was so, over ten bins of equal width."""
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
    """From which probability on so large a share of what is called supported is so, and how much of it that finds."""
    held = Counter(sources)
    weights = np.array([1 / held[source] for source in sources])
    print("\nprecision  from  recall   (every source counting as much)")
    for wanted in PRECISIONS:
        for t in np.arange(0.05, 1.0, 0.01):
            said = p >= t
            precision = (weights * (said & y)).sum() / max((weights * said).sum(), 1e-9)
            if precision >= wanted:
                print(f"{wanted:9.2f}  {t:.2f}  {(weights * (said & y)).sum() / (weights * y).sum():.2f}")
                break


if __name__ == "__main__":
    main()
