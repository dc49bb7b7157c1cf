"""The trained judge: a small cross-encoder reads claim and evidence together, word checks overrule what they forbid."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path

from attribution.citations import Verdict
from attribution.judges import SUPPORTED_FROM, Case
from attribution.judges.checks import RULES, checked, refused
from attribution.judges.embedded import EmbeddedJudge, Features, numbers_found, support_logit
from attribution.judges.nearest import readable
from attribution.judges.weights import JUDGE, load
from attribution.words import plain_share
from retrieval.encoder import Encoder

MOST_PIECES = 3000  # word pieces of one forward pass, padding counted
SHORT_WORDS = 130  # evidence of so many words is read whole
SHARE = 0.5  # of the network's logit beside the embedded judge's: the best mean AUC of several shares
HOPELESS = -2.5  # with so low a logit of the embedded judge no word of the network's reaches one half
NOT_READ = -2.0  # stands for the logit of a case that the network does not read
LOWEST = -30.0  # the logit of what holds no word


class CrossEncoder:
    """Triples of claim, evidence and context -> logits of support.  One network, safe to share among threads."""

    def __init__(self, weights: Path = JUDGE, *, device: str = "") -> None:
        from attribution.judges.network import Reader
        from retrieval.checkpoints import bundled_model

        trained = load(weights, device)
        self.network, self.scale, self.name, self.about = trained.network, trained.scale, trained.name, trained.about
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
    """A trained network's probability, calibrated with the embedded judge's features, under the same word checks."""

    def __init__(
        self,
        encoder: Encoder,
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
    def encoder(self) -> Encoder:
        return self.embedded.encoder

    @encoder.setter
    def encoder(self, encoder: Encoder) -> None:
        self.embedded = copy(self.embedded)
        self.embedded.encoder = encoder

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        return [
            checked(case.claim, case.text, self.probability(logit, f), f.overlap, self.supported_from, case.context)
            for case, (logit, f) in zip(cases, self.known(cases), strict=True)
        ]

    def read(self, evidence: Sequence[str]) -> object:
        """Evidence that is likely to be judged, encoded before."""
        return self.embedded.read(evidence)

    def known(self, cases: Sequence[Case]) -> list[tuple[float, Features]]:
        """The network's logit and the features of each case; what cannot be supported the network does not read."""
        features = self.features(cases)
        opened = [_is_open(case, f) for case, f in zip(cases, features, strict=True)]
        read = iter(self.logits([case for case, is_open in zip(cases, opened, strict=True) if is_open]))
        return [(next(read) if is_open else NOT_READ, f) for is_open, f in zip(opened, features, strict=True)]

    def features(self, cases: Sequence[Case]) -> list[Features]:
        """What the encoder says of the part of the evidence that is read, and the words of all of it."""
        read = [replace(case, evidence=(readable(case, SHORT_WORDS),)) for case in cases]
        return [
            replace(f, numbers=numbers_found(case.claim, case.text), overlap=plain_share(case.claim, case.text))
            for case, f in zip(cases, self.embedded.features(read), strict=True)
        ]

    def logits(self, cases: Sequence[Case]) -> list[float]:
        """What the network alone says of each case; of long evidence it reads the nearest sentences."""
        texts = [readable(case, SHORT_WORDS) for case in cases]
        heard = [(case.claim, text, case.context) for case, text in zip(cases, texts, strict=True) if text]
        found = iter(self.cross.logits(heard) if heard else [])
        return [next(found) if text else LOWEST for text in texts]

    def probability(self, logit: float, features: Features) -> float:
        scale = self.cross.scale
        z = scale.intercept + scale.weight * mixed(logit, features)
        return round(1.0 / (1.0 + math.exp(-max(-50.0, min(50.0, z)))), 4)


def _is_open(case: Case, features: Features) -> bool:
    """Whether the network's word can make a difference: plain words do not refuse, and something is alike."""
    return support_logit(features) > HOPELESS and not refused(case.claim, case.text, features.overlap, case.context)


def mixed(logit: float, features: Features) -> float:
    """The network's word and the embedded judge's as one number, before it is brought to a probability."""
    return SHARE * max(-10.0, min(10.0, logit)) + support_logit(features)
