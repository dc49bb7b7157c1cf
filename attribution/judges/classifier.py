"""Checkpoints that classify evidence beside a claim: entailment networks, scorers, MiniCheck's RoBERTa and FactCG."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from propcite.attribution.checkpoints import check_labels, load_classifier
from propcite.attribution.judges.entailment import PieceScore, Row, RowWriter
from propcite.attribution.judges.labels import label_positions
from propcite.attribution.judges.t5 import MINICHECK_WINDOW, max_evidence_tokens

NLI = "cross-encoder/nli-deberta-v3-small"
FACTCG = "yaxili96/FactCG-DeBERTa-v3-Large"

WINDOW = 512  # tokens; few such networks were trained on more
FACTCG_WINDOW = 2048  # as published
FACTCG_EVIDENCE = 715  # tokens: about the 550 words of a published piece
FACTCG_FORM = """\
{}

Choose your answer: based on the paragraph above can we conclude that "{}"?

OPTIONS:
- Yes
- No
I think the answer is \
"""
_POSITION_TABLE = re.compile(r"(?:^|\.)(?:position_embeddings|embed_positions|wpe)$")
_SECOND_LABEL = ("not_entailment", "entailment")


class Classifier(RowWriter):
    """An entailment classifier with two or three labels, or a scorer with one logit.

    `labels` names the labels in their order if the checkpoint does not.  `joined` writes evidence and claim as one
    text with the end token in between, as MiniCheck does, and `template` as any one text, instead of as a pair.
    """

    def __init__(
        self,
        model: str = NLI,
        *,
        labels: Sequence[str] = (),
        joined: bool = False,
        template: str = "",
        device: str = "",
        precision: str = "auto",
        window: int = WINDOW,
    ) -> None:
        self.network, tokenizer = load_classifier(model, device, precision)
        form = f"{{}}{tokenizer.eos_token or tokenizer.sep_token}{{}}" if joined else template
        super().__init__(tokenizer, form)
        self.name = Path(model).name
        if form and labels:
            check_labels(self.network, model, len(labels))
        self.labels = label_positions(self.network.config.id2label, labels, model)
        self.window = min(window, max_positions(self.network), window if form else tokenizer.model_max_length)
        self.max_evidence = max_evidence_tokens(self.window) if joined else self.window
        if (getattr(self.network.config, "type_vocab_size", 0) or 0) > 1:
            self.inputs = ("input_ids", "token_type_ids")

    def score(self, rows: Sequence[Row]) -> list[PieceScore]:
        import torch

        with torch.inference_mode():
            logits = self.network(**self.batch(rows, self.network.device)).logits.float()
        if logits.shape[1] == 1:
            return [PieceScore(support) for support in logits[:, 0].sigmoid().tolist()]
        support, likeliest = logits.softmax(-1)[:, self.labels.support].tolist(), logits.argmax(-1).tolist()
        contradicts = [position == self.labels.contradiction for position in likeliest]
        return [PieceScore(*score) for score in zip(support, contradicts, strict=True)]


def minicheck_classifier(model: str, *, device: str = "", precision: str = "auto") -> Classifier:
    """Load MiniCheck's RoBERTa or DeBERTa, whose second label is support."""
    return Classifier(
        model, labels=_SECOND_LABEL, joined=True, device=device, precision=precision, window=MINICHECK_WINDOW
    )


def factcg_classifier(model: str = FACTCG, *, device: str = "", precision: str = "auto") -> Classifier:
    """Load FactCG's DeBERTa, which reads one question about evidence and claim; its second label is support."""
    network = Classifier(
        model, labels=_SECOND_LABEL, template=FACTCG_FORM, device=device, precision=precision, window=FACTCG_WINDOW
    )
    network.max_evidence = min(network.max_evidence, FACTCG_EVIDENCE)
    return network


def max_positions(network: Any) -> int:
    """Return how many tokens a network has positions for; with relative positions, more than any text has."""
    import torch

    sizes = [
        module.num_embeddings - (0 if module.padding_idx is None else module.padding_idx + 1)
        for name, module in network.named_modules()
        if isinstance(module, torch.nn.Embedding) and _POSITION_TABLE.search(name)
    ]
    return min(sizes, default=2**31)
