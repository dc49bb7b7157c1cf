"""Load a published judge by name: TRUE, MiniCheck, FactCG, HHEM, LettuceDetect or any entailment classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from propcite.attribution.judges import SUPPORTED_FROM
from propcite.attribution.judges.entailment import BATCH_SIZE, EntailmentJudge, EntailmentModel

PublishedName = Literal["true", "minicheck", "nli", "factcg", "hhem", "lettucedetect"]


def published_judge(
    name: PublishedName,
    model: str = "",
    *,
    labels: Sequence[str] = (),
    device: str = "",
    precision: str = "auto",
    supported_from: float = SUPPORTED_FROM,
    batch_size: int = BATCH_SIZE,
) -> EntailmentJudge:
    """Load a judge.  `model` is a folder or hub name in that judge's format; empty for the authors' checkpoint."""
    network = _load(name, model, labels, device, precision)
    network.name = f"{name}/{network.name}"
    return EntailmentJudge(network, supported_from=supported_from, batch_size=batch_size)


def _load(name: PublishedName, model: str, labels: Sequence[str], device: str, precision: str) -> EntailmentModel:
    from propcite.attribution.checkpoints import is_seq2seq
    from propcite.attribution.judges import classifier, t5, token_labels

    if name == "true":
        return t5.true_t5(model or t5.TRUE, device=device, precision=precision)
    if name == "nli":
        return classifier.Classifier(model or classifier.NLI, labels=labels, device=device, precision=precision)
    if name == "factcg":
        return classifier.factcg_classifier(model or classifier.FACTCG, device=device, precision=precision)
    if name == "hhem":
        return token_labels.Hhem(model or token_labels.HHEM, device=device, precision=precision)
    if name == "lettucedetect":
        return token_labels.LettuceDetect(model or token_labels.LETTUCEDETECT, device=device, precision=precision)
    model = model or t5.MINICHECK
    load = t5.minicheck_t5 if is_seq2seq(model) else classifier.minicheck_classifier
    return load(model, device=device, precision=precision)
