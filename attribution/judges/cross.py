"""The trained judge: where the embedded judge is unsure, a small cross-encoder reads claim and evidence together."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from copy import copy
from pathlib import Path
from statistics import fmean

from propcite.attribution.citations import Verdict
from propcite.attribution.judges import SUPPORTED_FROM, Case
from propcite.attribution.judges.embedded import EmbeddedJudge, Features, probability, support_logit
from propcite.attribution.judges.excerpts import excerpt, with_excerpt
from propcite.attribution.judges.weights import JUDGE_WEIGHTS, load
from propcite.attribution.judges.word_checks import RULES, checked_verdict, is_refused
from propcite.retrieval.encoding.base import TextEncoder

MAX_BATCH_PIECES = 3000  # word pieces of one forward pass, padding included
MAX_WORDS = 130  # longer evidence is cut down to an excerpt
SHARE = 0.25  # of the network's logit, added to the embedded judge's: the best value on several unseen sources
UNSURE_LOGITS = (-2.0, 3.0)  # range of the embedded judge's logit in which the network is run
EDGE = 1.0  # within this distance of either end of the range, the share grows from 0 to its full size
MAX_LOGIT = 4.0  # of the network.  With SHARE and EDGE: a higher embedded logit never results in a lower combined one


class CrossEncoder:
    """Computes a logit of support per (claim, evidence, context).  One network, safe to share among threads."""

    def __init__(self, weights: Path = JUDGE_WEIGHTS, *, device: str = "") -> None:
        from propcite.attribution.judges.network import PairTokenizer
        from propcite.retrieval.encoding.bundled import bundled_model

        trained = load(weights, device)
        self.network, self.name, self.about = trained.network, trained.name, trained.about
        self._tokenizer = PairTokenizer(bundled_model())
        self._lock = threading.Lock()  # a fast tokenizer cannot be shared by two threads at once

    def logits(self, triples: Sequence[tuple[str, str, str]]) -> list[float]:
        """Return a logit per triple; equal triples are computed once."""
        import torch

        distinct = list(dict.fromkeys(triples))
        with self._lock:
            pairs = self._tokenizer.encode(distinct)
        logits: dict[int, float] = {}
        with torch.inference_mode():
            for batch in batches([len(pieces) for pieces, _ in pairs]):
                logits |= zip(batch, self.network([pairs[i] for i in batch]).float().tolist(), strict=True)
        by_triple = {triple: logits[i] for i, triple in enumerate(distinct)}
        return [by_triple[triple] for triple in triples]


def batches(lengths: Sequence[int], max_pieces: int = MAX_BATCH_PIECES) -> list[list[int]]:
    """Group texts of similar length, by their indices, into batches of at most `max_pieces` with padding.

    >>> batches([5, 100, 6, 90], max_pieces=200)
    [[0, 2], [3, 1]]
    """
    groups: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        fits = groups and (len(groups[-1]) + 1) * lengths[i] <= max_pieces
        if fits and lengths[i] <= 2 * lengths[groups[-1][0]]:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


class CrossJudge:
    """Adds a share of a trained network's logit to the embedded judge's where that judge is unsure.

    Elsewhere the probability is the embedded judge's.  The word checks overrule both.
    """

    def __init__(
        self,
        encoder: TextEncoder,
        *,
        weights: Path = JUDGE_WEIGHTS,
        device: str = "",
        supported_from: float = SUPPORTED_FROM,
    ) -> None:
        self.embedded = EmbeddedJudge(encoder, supported_from=supported_from)
        self.cross = CrossEncoder(weights, device=device)
        self.supported_from = supported_from
        self.name = f"cross/{self.cross.name}+{RULES}"

    @property
    def encoder(self) -> TextEncoder:
        return self.embedded.encoder

    def with_encoder(self, encoder: TextEncoder) -> CrossJudge:
        """Return the same judge with another encoder for claims; both share the network and the cache of evidence."""
        other = copy(self)
        other.embedded = self.embedded.with_encoder(encoder)
        return other

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        return [
            self._verdict(case, logit, features)
            for case, (logit, features) in zip(cases, self.logits_and_features(cases), strict=True)
        ]

    def _verdict(self, case: Case, logit: float, features: Features) -> Verdict:
        p = probability(combined_logit(logit, features))
        return checked_verdict(case.claim, case.text, p, features.overlap, self.supported_from, case.context)

    def encode_evidence(self, evidence: Sequence[str]) -> object:
        """Encode texts that are likely to be judged soon, and cache them."""
        return self.embedded.encode_evidence(evidence)

    def logits_and_features(self, cases: Sequence[Case]) -> list[tuple[float, Features]]:
        """Return the network's logit and the features of each case; the logit is 0 where the network is not run."""
        features = self.embedded.features(cases)
        is_open = [_needs_network(case, f) for case, f in zip(cases, features, strict=True)]
        logits = iter(self.logits([case for case, needed in zip(cases, is_open, strict=True) if needed]))
        return [(next(logits) if needed else 0.0, f) for needed, f in zip(is_open, features, strict=True)]

    def logits(self, cases: Sequence[Case]) -> list[float]:
        """Return the network's own logit per case; long evidence and its excerpt are averaged."""
        groups = [with_excerpt(case) for case in cases]
        triples = [(case.claim, excerpt(case, MAX_WORDS), case.context) for group in groups for case in group]
        logits = iter(self.cross.logits(triples) if triples else [])
        return [fmean(next(logits) for _ in group) for group in groups]


def _needs_network(case: Case, features: Features) -> bool:
    """Return whether the embedded judge is unsure and the word checks do not rule out support."""
    return network_share(features) > 0 and not is_refused(case.claim, case.text, features.overlap, case.context)


def network_share(features: Features) -> float:
    """Return the weight of the network's logit: 0 where the embedded judge is sure, growing without a step."""
    logit, (low, high) = support_logit(features), UNSURE_LOGITS
    return SHARE * max(0.0, min(1.0, (logit - low) / EDGE, (high - logit) / EDGE))


def combined_logit(logit: float, features: Features) -> float:
    """Return the embedded judge's logit plus the network's share."""
    return support_logit(features) + network_share(features) * max(-MAX_LOGIT, min(MAX_LOGIT, logit))
