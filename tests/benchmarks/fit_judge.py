"""Fit the embedded judge's logistic regression and measure it: support detection a source, beside plain baselines.

    python tests/benchmarks/fit_judge.py CITE_DEV.jsonl[.gz] [RANK_TRAIN.jsonl[.gz]]

Fits on rows whose licence allows shipped weights (expertqa; propositions of propsegment and their passages), measures
on all sources.  For a source that was fitted on, the score of a row comes from folds that did not hold its question.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from attribution.judges import Case
from attribution.judges.embedded import EmbeddedJudge, Features
from retrieval.encoder import Encoder

FITTED = ("expertqa", "propsegment_ent")
FOLDS = 5
SEED = 7


def read(path: str) -> list[dict]:
    data = gzip.decompress(Path(path).read_bytes()) if path.endswith(".gz") else Path(path).read_bytes()
    return [json.loads(line) for line in data.splitlines()]


def texts_of(doc: dict) -> str:
    return doc["text"] if doc.get("text") else " ".join(doc.get("sentences") or [])


def cite_rows(path: str) -> list[tuple[str, str, str, list[str], bool]]:
    """(source, group, claim, evidence, supported) for each row that says whether its evidence supports the claim."""
    rows = []
    for row in read(path):
        if row["level"] == "sentence" or row["label"] not in ("supported", "partially", "not_supported"):
            continue
        evidence = [texts_of(doc) for doc in row["docs"]]
        if any(text.strip() for text in evidence):
            rows.append((row["source"], row["question"], row["claim"], evidence, row["label"] == "supported"))
    return rows


def proposition_rows(path: str) -> list[tuple[str, str, str, list[str], bool]]:
    """A proposition with the sentence that entails it, and with one of the same passage that does not."""
    dice = random.Random(SEED)
    rows = []
    for row in read(path):
        if row["source"] == "propsegment_ent" and len(row["sentences"]) > len(row["positive_sentence_ids"]):
            others = [i for i in range(len(row["sentences"])) if i not in row["positive_sentence_ids"]]
            for index, label in ((dice.choice(row["positive_sentence_ids"]), True), (dice.choice(others), False)):
                rows.append((row["source"], row["id"], row["query"], [row["sentences"][index]], label))
    return rows


def main() -> None:
    rows = cite_rows(sys.argv[1]) + (proposition_rows(sys.argv[2]) if len(sys.argv) > 2 else [])
    judge = EmbeddedJudge(Encoder())
    features = judge.features([Case(claim, tuple(evidence)) for _, _, claim, evidence, _ in rows])
    x = np.array([f.row() for f in features])
    overlap = np.array([f.overlap for f in features])
    y = np.array([label for *_, label in rows])
    sources = np.array([row[0] for row in rows])
    folds = np.array([random.Random(f"{SEED}{row[1]}").randrange(FOLDS) for row in rows])
    usable = np.isin(sources, FITTED)

    fitted = model().fit(x[usable], y[usable])
    scores = fitted.predict_proba(x)[:, 1]
    for fold in range(FOLDS):
        held = usable & (folds == fold)
        scores[held] = model().fit(x[usable & ~held], y[usable & ~held]).predict_proba(x[held])[:, 1]
    report(sources, y, {"similarity": x[:, 0], "overlap": overlap, "judge": scores})
    print("\nINTERCEPT =", round(float(fitted.intercept_[0]), 3))
    print(
        "WEIGHTS =",
        tuple(round(float(w), 3) for w in fitted.coef_[0]),
        " #",
        ", ".join(Features.__slots__[: x.shape[1]]),
    )


def model() -> LogisticRegression:
    return LogisticRegression(C=1.0, class_weight="balanced", max_iter=1000)


def report(sources: np.ndarray, y: np.ndarray, scores: dict[str, np.ndarray]) -> None:
    means = defaultdict(list)
    print(f"{'AUC':24}{'rows':>6}" + "".join(f"{name:>12}" for name in scores) + f"{'bal.acc .5':>12}")
    for source in sorted(set(sources)):
        rows = sources == source
        line = f"{source:24}{rows.sum():>6}"
        for name, score in scores.items():
            auc = 100 * roc_auc_score(y[rows], score[rows])
            means[name].append(auc)
            line += f"{auc:>12.1f}"
        said = scores["judge"][rows] >= 0.5
        balanced = 50 * ((said[y[rows]]).mean() + (~said[~y[rows]]).mean())
        print(line + f"{balanced:>12.1f}")
    print(f"{'mean':24}{'':>6}" + "".join(f"{np.mean(means[name]):>12.1f}" for name in scores))


if __name__ == "__main__":
    main()
