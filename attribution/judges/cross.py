"""The trained judge: where the embedded one is unsure, a small cross-encoder reads claim and evidence together."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from copy import copy
from pathlib import Path
from statistics import fmean

from propcite.attribution.citations import Verdict
from propcite.attribution.judges import SUPPORTED_FROM, Case
from propcite.attribution.judges.checks import RULES, checked, refused
from propcite.attribution.judges.embedded import EmbeddedJudge, Features, probability, support_logit
from propcite.attribution.judges.nearest import readable, readings
from propcite.attribution.judges.weights import JUDGE, load
from propcite.retrieval.encoding.base import TextEncoder

MOST_PIECES = 3000  # word pieces of one forward pass, padding counted
SHORT_WORDS = 130  # evidence of so many words is read whole
SHARE = 0.25  # of the network's logit beside the embedded judge's: the best of several over sources that it never saw
UNSURE = (-2.0, 3.0)  # between these logits of the embedded judge the network is read
EDGE = 1.0  # from either end on the share grows to its full size
MOST = 4.0  # of the network's logit: with SHARE and EDGE a likelier case of the embedded judge's stays the likelier


class CrossEncoder:
    """Triples of claim, evidence and context -> logits of support.  One network, safe to share among threads."""

    def __init__(self, weights: Path = JUDGE, *, device: str = "") -> None:
        from propcite.attribution.judges.network import Reader
        from propcite.retrieval.encoding.checkpoints import bundled_model

        trained = load(weights, device)
        self.network, self.name, self.about = trained.network, trained.name, trained.about
        self._reader = Reader(bundled_model())
        self._lock = threading.Lock()  # a fast tokenizer cannot be shared by two threads at once

    def logits(self, triples: Sequence[tuple[str, str, str]]) -> list[float]:
        """One logit a triple; those of like length are read together, and a triple that comes again is read once."""
        import torch

        distinct = list(dict.fromkeys(triples))
        with self._lock:
            pairs = self._reader.read(distinct)
        found: dict[int, float] = {}
        with torch.inference_mode():
            for batch in batches([len(pieces) for pieces, _ in pairs]):
                found |= zip(batch, self.network([pairs[i] for i in batch]).float().tolist(), strict=True)
        told = {triple: found[i] for i, triple in enumerate(distinct)}
        return [told[triple] for triple in triples]


def batches(lengths: Sequence[int], most: int = MOST_PIECES) -> list[list[int]]:
    """The numbers of the texts, those of like length together, each batch with so many pieces at most.

    >>> batches([5, 100, 6, 90], most=200)
    [[0, 2], [3, 1]]
    """
    made: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        fits = made and (len(made[-1]) + 1) * lengths[i] <= most
        if fits and lengths[i] <= 2 * lengths[made[-1][0]]:
            made[-1].append(i)
        else:
            made.append([i])
    return made


class CrossJudge:
    """The embedded judge, moved by what a trained network reads where that judge is unsure; under the same word checks.

    Elsewhere the probability is the embedded judge's own.
    """

    def __init__(
        self,
        encoder: TextEncoder,
        *,
        weights: Path = JUDGE,
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

    def reading_with(self, encoder: TextEncoder) -> CrossJudge:
        """Return the same judge with another encoder for claims; the network and the cache of evidence are shared."""
        other = copy(self)
        other.embedded = self.embedded.reading_with(encoder)
        return other

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        return [
            checked(case.claim, case.text, probability(mixed(logit, f)), f.overlap, self.supported_from, case.context)
            for case, (logit, f) in zip(cases, self.known(cases), strict=True)
        ]

    def read(self, evidence: Sequence[str]) -> object:
        """Evidence that is likely to be judged, encoded before."""
        return self.embedded.read(evidence)

    def known(self, cases: Sequence[Case]) -> list[tuple[float, Features]]:
        """The network's logit and the features of each case; 0 where the network is not asked."""
        features = self.embedded.features(cases)
        opened = [_is_open(case, f) for case, f in zip(cases, features, strict=True)]
        read = iter(self.logits([case for case, is_open in zip(cases, opened, strict=True) if is_open]))
        return [(next(read) if is_open else 0.0, f) for is_open, f in zip(opened, features, strict=True)]

    def logits(self, cases: Sequence[Case]) -> list[float]:
        """What the network alone says of each case: of long evidence the mean of what it says of its readings."""
        read = [readings(case) for case in cases]
        heard = [(case.claim, readable(case, SHORT_WORDS), case.context) for some in read for case in some]
        found = iter(self.cross.logits(heard) if heard else [])
        return [fmean(next(found) for _ in some) for some in read]


def _is_open(case: Case, features: Features) -> bool:
    """Whether the network is asked: the embedded judge is unsure, and plain words do not refuse."""
    return share(features) > 0 and not refused(case.claim, case.text, features.overlap, case.context)


def share(features: Features) -> float:
    """How much the network's logit counts: nothing where the embedded judge is sure, and no step on the way there."""
    logit, (low, high) = support_logit(features), UNSURE
    return SHARE * max(0.0, min(1.0, (logit - low) / EDGE, (high - logit) / EDGE))


def mixed(logit: float, features: Features) -> float:
    """The embedded judge's logit, moved by the network's."""
    return support_logit(features) + share(features) * max(-MOST, min(MOST, logit))
