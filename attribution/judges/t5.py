"""T5 checkpoints that answer "1" or "0": TRUE, with ALCE's binary decision, and MiniCheck's Flan-T5."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from propcite.attribution.checkpoints import load_seq2seq
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges.entailment import PieceScore, Row, RowWriter

TRUE = "google/t5_xxl_true_nli_mixture"
MINICHECK = "lytang/MiniCheck-Flan-T5-Large"

TRUE_WINDOW = 512  # tokens; T5 itself has no limit
MINICHECK_WINDOW = 2048  # as published
CLAIM_TOKENS = 300  # of the window that MiniCheck reserves for the claim
MAX_NEW_TOKENS = 10  # that ALCE lets TRUE generate


class T5Classifier(RowWriter):
    """A T5 that decides by its first generated token: that of "1" against that of "0"."""

    def __init__(
        self, model: str, template: str, *, window: int, max_evidence: int, device: str = "", precision: str = "auto"
    ) -> None:
        self.network, tokenizer = load_seq2seq(model, device, precision)
        super().__init__(tokenizer, template)
        self.name, self.window, self.max_evidence = Path(model).name, window, max_evidence
        self.answers = [_first_id(self.tokenizer, answer) for answer in "01"]
        if len({*self.answers, self.tokenizer.unk_token_id}) < 3:
            raise AttributionError(
                f"the tokenizer of {model} cannot write 0 and 1, the judge's answers: choose a T5 trained on them"
            )
        start = self.network.config.decoder_start_token_id
        self._start = 0 if start is None else start

    def score(self, rows: Sequence[Row]) -> list[PieceScore]:
        """Return the probability of "1" against "0" after one decoding step."""
        import torch

        batch = self.batch(rows, self.network.device)
        start = torch.full((len(rows), 1), self._start, device=self.network.device)
        with torch.inference_mode():
            logits = self.network(
                input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], decoder_input_ids=start
            ).logits[:, 0, self.answers]
        return [PieceScore(support) for support in logits.float().softmax(-1)[:, 1].tolist()]


def true_t5(model: str = TRUE, *, device: str = "", precision: str = "auto", window: int = TRUE_WINDOW) -> T5Classifier:
    """Load TRUE's T5, or any T5 with the same input format."""
    template = "premise: {} hypothesis: {}"
    return T5Classifier(model, template, window=window, max_evidence=window, device=device, precision=precision)


def minicheck_t5(
    model: str = MINICHECK, *, device: str = "", precision: str = "auto", window: int = MINICHECK_WINDOW
) -> T5Classifier:
    """Load MiniCheck's Flan-T5, which reads evidence and claim with the end token in between."""
    limit = max_evidence_tokens(window)
    return T5Classifier(
        model, "predict: {}</s>{}", window=window, max_evidence=limit, device=device, precision=precision
    )


def max_evidence_tokens(window: int) -> int:
    """Return how many tokens of evidence MiniCheck reads at once; the whole window if it is small."""
    return window - CLAIM_TOKENS if window > CLAIM_TOKENS else window


def entails(model: T5Classifier, premise: str, hypothesis: str) -> bool:
    """Return TRUE's decision as ALCE takes it: whether the generated text, of ten tokens at most, is "1".

    The text is not truncated, cleaned or batched, so that results equal the benchmark's.
    """
    import torch

    text = model.template.format(premise, hypothesis).encode("utf-8", "replace").decode()
    ids = model.tokenizer(text, return_tensors="pt", verbose=False)["input_ids"].to(model.network.device)
    with torch.inference_mode():
        output = model.network.generate(ids, max_new_tokens=MAX_NEW_TOKENS)
    return bool(model.tokenizer.decode(output[0], skip_special_tokens=True) == "1")


def _first_id(tokenizer: Any, text: str) -> int | None:
    """Return the id of a text's first token: T5 writes "0" as a space and a digit, "1" as one token."""
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    return int(ids[0]) if ids else None
