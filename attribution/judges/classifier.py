"""Checkpoints that classify evidence beside a claim: cross-encoders of entailment, scorers, MiniCheck's RoBERTa."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from propcite.attribution.checkpoints import load_classifier
from propcite.attribution.judges.entailment import Reading, Row
from propcite.attribution.judges.labels import meaning_of
from propcite.attribution.judges.special import Cleaner
from propcite.attribution.judges.t5 import MINICHECK_WINDOW, evidence_room

NLI = "cross-encoder/nli-deberta-v3-small"
WINDOW = 512  # tokens; few such networks were taught more
_POSITIONS = re.compile(r"(?:^|\.)(?:position_embeddings|embed_positions|wpe)$")
_OF_MINICHECK = ("not_entailment", "entailment")


class ClassifierReader:
    """A network whose labels say entailment, contradiction or neutral, entailment or not, or whose one logit does.

    `labels` names the labels in their order where the checkpoint does not.  `joined` writes the end token between
    evidence and claim, as MiniCheck does, in place of a pair.
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
        self.meaning = meaning_of(self.network.config.id2label, labels, model)
        known = self.tokenizer.model_max_length
        self.window = min(window, positions(self.network), window if joined else known)
        self.most_evidence = evidence_room(self.window) if joined else self.window
        self._between = (self.tokenizer.eos_token or self.tokenizer.sep_token) if joined else None
        self._typed = (getattr(self.network.config, "type_vocab_size", 0) or 0) > 1
        self._clean = Cleaner(self.tokenizer)

    def row(self, evidence: str, claim: str) -> Row:
        evidence, claim = self._clean(evidence), self._clean(claim)
        texts = (evidence, claim) if self._between is None else (f"{evidence}{self._between}{claim}",)
        read = self.tokenizer(*texts, verbose=False)
        names = ("input_ids", "token_type_ids") if self._typed else ("input_ids",)
        return {name: read[name] for name in names if name in read}

    def length(self, text: str) -> int:
        return len(self.tokenizer(self._clean(text), add_special_tokens=False, verbose=False)["input_ids"])

    def read(self, rows: Sequence[Row]) -> list[Reading]:
        import torch

        columns = {name: [row[name] for row in rows] for name in rows[0]}
        batch = self.tokenizer.pad(columns, return_tensors="pt").to(self.network.device)
        with torch.inference_mode():
            logits = self.network(**batch).logits.float()
        if logits.shape[1] == 1:
            return [Reading(support) for support in logits[:, 0].sigmoid().tolist()]
        support, likeliest = logits.softmax(-1)[:, self.meaning.support].tolist(), logits.argmax(-1).tolist()
        against = [place == self.meaning.against for place in likeliest]
        return [Reading(*reading) for reading in zip(support, against, strict=True)]


def minicheck_reader(model: str, *, device: str = "", precision: str = "auto") -> ClassifierReader:
    """MiniCheck's RoBERTa or DeBERTa, whose second label is support."""
    return ClassifierReader(
        model, labels=_OF_MINICHECK, joined=True, device=device, precision=precision, window=MINICHECK_WINDOW
    )


def positions(network: Any) -> int:
    """The most tokens for which a network has positions; more than any text where they are relative."""
    import torch

    found = [
        module.num_embeddings - (0 if module.padding_idx is None else module.padding_idx + 1)
        for name, module in network.named_modules()
        if isinstance(module, torch.nn.Embedding) and _POSITIONS.search(name)
    ]
    return min(found, default=2**31)
