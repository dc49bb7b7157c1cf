"""Probe examples for what a judge could learn without reading: shared words, and wrong claims that sound wrong."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from propcite.attribution.judges.training.making.example import CONTRADICTED, SUPPORTED, UNSUPPORTED, Example

Floats = NDArray[np.float64]

FOLDS = 5
ALL = "all"
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Probe:
    """The examples of a source and kind; an AUC is None where there is no supported or no wrong claim.

    An overlap AUC near 1 teaches word matching; with a claim-only AUC far from 0.5 the claim gives its label away.
    """

    source: str
    kind: str
    supported: int
    unsupported: int
    contradicted: int
    overlap_auc: float | None
    claim_only_auc: float | None


def probe(examples: Sequence[Example]) -> list[Probe]:
    """Return a row for all examples, for each source and for each kind against the supported claims of its sources.

    A kind has one label, so its wrong claims are measured with the supported claims of the same sources.
    """
    overlap, alone = overlaps(examples), claim_scores(examples)
    rows = [_row(ALL, ALL, examples, range(len(examples)), overlap, alone)]
    for source in sorted({e.source for e in examples}):
        own = [i for i, e in enumerate(examples) if e.source == source]
        rows.append(_row(source, ALL, examples, own, overlap, alone))
    return rows + [_kind_row(kind, examples, overlap, alone) for kind in sorted({e.kind for e in examples})]


def overlaps(examples: Sequence[Example]) -> Floats:
    """Return the share of each claim's plain words that its evidence has."""
    shares = np.zeros(len(examples))
    for i, example in enumerate(examples):
        claim, evidence = set(_words(example.claim)), set(_words(example.evidence))
        shares[i] = len(claim & evidence) / len(claim) if claim else 0.0
    return shares


def claim_scores(examples: Sequence[Example]) -> Floats:
    """Return how much a naive Bayes classifier holds each claim for supported without its evidence.

    It has learned from the groups of other folds only.
    """
    labels = np.array([e.label == SUPPORTED for e in examples])
    folds = np.array([_fold(e) for e in examples])
    counts = [Counter(_features(e.claim)) for e in examples]
    scores = np.zeros(len(examples))
    for fold in range(FOLDS):
        learned = [(counts[i], bool(labels[i])) for i in np.flatnonzero(folds != fold)]
        weights = _log_ratios(learned)
        for i in np.flatnonzero(folds == fold):
            scores[i] = sum(weights.get(feature, 0.0) * n for feature, n in counts[i].items())
    return scores


def auc(scores: Floats, positive: NDArray[np.bool_]) -> float | None:
    """Return how often a positive stands above a negative, ties as half; None where there is only one of the two."""
    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    if not n_positive or not n_negative:
        return None
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return float((ranks[positive].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))


def _kind_row(kind: str, examples: Sequence[Example], overlap: Floats, alone: Floats) -> Probe:
    """Return the row of a kind; its counts are its own, its AUCs take in the other label of the same sources."""
    own = [i for i, e in enumerate(examples) if e.kind == kind]
    labels = {examples[i].label == SUPPORTED for i in own}
    row = _row(ALL, kind, examples, own, overlap, alone)
    if len(labels) == 2:
        return row
    sources = {examples[i].source for i in own}
    others = [i for i, e in enumerate(examples) if e.source in sources and (e.label == SUPPORTED) not in labels]
    with_others = _row(ALL, kind, examples, [*own, *others], overlap, alone)
    return Probe(
        ALL, kind, row.supported, row.unsupported, row.contradicted, with_others.overlap_auc, with_others.claim_only_auc
    )


def _row(
    source: str, kind: str, examples: Sequence[Example], places: Sequence[int], overlap: Floats, alone: Floats
) -> Probe:
    chosen = np.array(places, dtype=np.int64)
    labels = Counter(examples[i].label for i in places)
    positive = np.array([examples[i].label == SUPPORTED for i in places], dtype=np.bool_)
    counts = (labels[SUPPORTED], labels[UNSUPPORTED], labels[CONTRADICTED])
    return Probe(source, kind, *counts, auc(overlap[chosen], positive), auc(alone[chosen], positive))


def _log_ratios(learned: Sequence[tuple[Counter[str], bool]]) -> dict[str, float]:
    """Return what each word or pair of words says for a supported claim, with one added to every count."""
    totals: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for counts, supported in learned:
        totals[supported].update(counts)
    known = totals[0].keys() | totals[1].keys()
    wrong, right = (sum(t.values()) + len(known) for t in totals)
    return {f: float(np.log((totals[1][f] + 1) / right) - np.log((totals[0][f] + 1) / wrong)) for f in known}


def _features(claim: str) -> list[str]:
    words = _words(claim)
    return [*words, *(f"{a} {b}" for a, b in pairwise(words))]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _fold(example: Example) -> int:
    """Return the fold of an example: the same for all of its group."""
    key = example.group or example.evidence
    return int.from_bytes(hashlib.sha256(key.encode(errors="replace")).digest()[:4]) % FOLDS
