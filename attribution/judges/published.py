"""The judges that others published, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from propcite.attribution.judges import SUPPORTED_FROM
from propcite.attribution.judges.entailment import BATCH, EntailmentJudge, Reader

Published = Literal["true", "minicheck", "nli"]


def published_judge(
    name: Published,
    model: str = "",
    *,
    labels: Sequence[str] = (),
    device: str = "",
    precision: str = "auto",
    supported_from: float = SUPPORTED_FROM,
    batch_size: int = BATCH,
) -> EntailmentJudge:
    """`model` is a folder or a hub name in that judge's form; empty: the checkpoint that its authors published."""
    reader = _reader(name, model, labels, device, precision)
    reader.name = f"{name}/{reader.name}"
    return EntailmentJudge(reader, supported_from=supported_from, batch_size=batch_size)


def _reader(name: Published, model: str, labels: Sequence[str], device: str, precision: str) -> Reader:
    from propcite.attribution.checkpoints import is_seq2seq
    from propcite.attribution.judges import classifier, t5

    if name == "true":
        return t5.true_reader(model or t5.TRUE, device=device, precision=precision)
    if name == "nli":
        return classifier.ClassifierReader(model or classifier.NLI, labels=labels, device=device, precision=precision)
    model = model or t5.MINICHECK
    reader = t5.minicheck_t5_reader if is_seq2seq(model) else classifier.minicheck_reader
    return reader(model, device=device, precision=precision)
