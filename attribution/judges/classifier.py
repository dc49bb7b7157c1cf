"""Checkpoints that classify evidence beside a claim: entailment cross-encoders, scorers and MiniCheck's RoBERTa."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from propcite.attribution.checkpoints import load_classifier
from propcite.attribution.judges.entailment import PieceScore, Row, TextCleaner
from propcite.attribution.judges.labels import label_positions
from propcite.attribution.judges.t5 import MINICHECK_WINDOW, max_evidence_tokens

NLI = "cross-encoder/nli-deberta-v3-small"
WINDOW = 512  # tokens; few such networks were trained on more
_POSITION_TABLE = re.compile(r"(?:^|\.)(?:position_embeddings|embed_positions|wpe)$")
_MINICHECK_LABELS = ("not_entailment", "entailment")


class Classifier:
    """An entailment classifier with two or three labels, or a scorer with one logit.

    `labels` names the labels in their order if the checkpoint does not.  `joined` writes evidence and claim as one
    text with the end token in between, as MiniCheck does, instead of as a pair.
    """

    def __init__(
        self,
        model: str = NLI,
        *,
        labels: Sequence[str] = (),
        joined: bool = False,
        device: str = "",
        precision: str = "auto",
        window: int = WINDOW,
    ) -> None:
        self.network, self.tokenizer = load_classifier(model, device, precision)
        self.name = Path(model).name
        self.labels = label_positions(self.network.config.id2label, labels, model)
        limit = window if joined else self.tokenizer.model_max_length
        self.window = min(window, max_positions(self.network), limit)
        self.max_evidence = max_evidence_tokens(self.window) if joined else self.window
        self._separator = (self.tokenizer.eos_token or self.tokenizer.sep_token) if joined else None
        self._has_types = (getattr(self.network.config, "type_vocab_size", 0) or 0) > 1
        self._clean = TextCleaner(self.tokenizer)

    def row(self, evidence: str, claim: str) -> Row:
        evidence, claim = self._clean(evidence), self._clean(claim)
        texts = (evidence, claim) if self._separator is None else (f"{evidence}{self._separator}{claim}",)
        encoding = self.tokenizer(*texts, verbose=False)
        names = ("input_ids", "token_type_ids") if self._has_types else ("input_ids",)
        return {name: encoding[name] for name in names if name in encoding}

    def num_tokens(self, text: str) -> int:
        return len(self.tokenizer(self._clean(text), add_special_tokens=False, verbose=False)["input_ids"])

    def score(self, rows: Sequence[Row]) -> list[PieceScore]:
        import torch

        columns = {name: [row[name] for row in rows] for name in rows[0]}
        batch = self.tokenizer.pad(columns, return_tensors="pt").to(self.network.device)
        with torch.inference_mode():
            logits = self.network(**batch).logits.float()
        if logits.shape[1] == 1:
            return [PieceScore(support) for support in logits[:, 0].sigmoid().tolist()]
        support, likeliest = logits.softmax(-1)[:, self.labels.support].tolist(), logits.argmax(-1).tolist()
        contradicts = [position == self.labels.contradiction for position in likeliest]
        return [PieceScore(*score) for score in zip(support, contradicts, strict=True)]


def minicheck_classifier(model: str, *, device: str = "", precision: str = "auto") -> Classifier:
    """Load MiniCheck's RoBERTa or DeBERTa, whose second label is support."""
    return Classifier(
        model, labels=_MINICHECK_LABELS, joined=True, device=device, precision=precision, window=MINICHECK_WINDOW
    )


def max_positions(network: Any) -> int:
    """Return how many tokens a network has positions for; with relative positions, more than any text has."""
    import torch

    sizes = [
        module.num_embeddings - (0 if module.padding_idx is None else module.padding_idx + 1)
        for name, module in network.named_modules()
        if isinstance(module, torch.nn.Embedding) and _POSITION_TABLE.search(name)
    ]
    return min(sizes, default=2**31)
