"""T5 checkpoints that answer "1" or "0": TRUE, with ALCE's hard decision, and MiniCheck's Flan-T5."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from propcite.attribution.checkpoints import load_seq2seq
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges.entailment import Reading, Row
from propcite.attribution.judges.special import Cleaner

TRUE = "google/t5_xxl_true_nli_mixture"
MINICHECK = "lytang/MiniCheck-Flan-T5-Large"

TRUE_WINDOW = 512  # tokens; T5 itself knows no limit
MINICHECK_WINDOW = 2048  # as published
CLAIM_ROOM = 300  # tokens of the window that MiniCheck leaves for the claim
MOST_WRITTEN = 10  # tokens that ALCE lets TRUE write


class T5Reader:
    """A T5 whose first written token is the first of "1" or the first of "0"; the two ids are the tokenizer's."""

    def __init__(
        self, model: str, form: str, *, window: int, most_evidence: int, device: str = "", precision: str = "auto"
    ) -> None:
        self.network, self.tokenizer = load_seq2seq(model, device, precision)
        self.name = Path(model).name
        self.form, self.window, self.most_evidence = form, window, most_evidence
        self.answers = [_first_id(self.tokenizer, answer) for answer in "01"]
        if len({*self.answers, self.tokenizer.unk_token_id}) < 3:
            raise AttributionError(f"the tokenizer of {model} cannot write 0 and 1, which the judge answers with")
        start = self.network.config.decoder_start_token_id
        self._start = 0 if start is None else start
        self._clean = Cleaner(self.tokenizer)

    def row(self, evidence: str, claim: str) -> Row:
        text = self.form.format(self._clean(evidence), self._clean(claim))
        return {"input_ids": self.tokenizer(text, verbose=False)["input_ids"]}

    def length(self, text: str) -> int:
        return len(self.tokenizer(self._clean(text), add_special_tokens=False, verbose=False)["input_ids"])

    def read(self, rows: Sequence[Row]) -> list[Reading]:
        """One step of writing: the probability of "1" against that of "0"."""
        import torch

        batch = self.tokenizer.pad({"input_ids": [row["input_ids"] for row in rows]}, return_tensors="pt")
        batch = batch.to(self.network.device)
        start = torch.full((len(rows), 1), self._start, device=self.network.device)
        with torch.inference_mode():
            logits = self.network(
                input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], decoder_input_ids=start
            ).logits[:, 0, self.answers]
        return [Reading(support) for support in logits.float().softmax(-1)[:, 1].tolist()]


def true_reader(model: str = TRUE, *, device: str = "", precision: str = "auto", window: int = TRUE_WINDOW) -> T5Reader:
    """TRUE's mixture, or any T5 in its form."""
    form = "premise: {} hypothesis: {}"
    return T5Reader(model, form, window=window, most_evidence=window, device=device, precision=precision)


def minicheck_t5_reader(
    model: str = MINICHECK, *, device: str = "", precision: str = "auto", window: int = MINICHECK_WINDOW
) -> T5Reader:
    """MiniCheck's Flan-T5: the document and the claim with the end token between them."""
    most = evidence_room(window)
    return T5Reader(model, "predict: {}</s>{}", window=window, most_evidence=most, device=device, precision=precision)


def evidence_room(window: int) -> int:
    """The tokens of evidence that MiniCheck reads at once; all that the claim leaves where the window is small."""
    return window - CLAIM_ROOM if window > CLAIM_ROOM else window


def entails(reader: T5Reader, premise: str, hypothesis: str) -> bool:
    """TRUE's decision as ALCE takes it: whether what it writes, of ten tokens at most, is "1".

    Nothing is cut, cleaned or batched, so that the figure is the benchmark's own.
    """
    import torch

    text = reader.form.format(premise, hypothesis).encode("utf-8", "replace").decode()
    ids = reader.tokenizer(text, return_tensors="pt", verbose=False)["input_ids"].to(reader.network.device)
    with torch.inference_mode():
        written = reader.network.generate(ids, max_new_tokens=MOST_WRITTEN)
    return bool(reader.tokenizer.decode(written[0], skip_special_tokens=True) == "1")


def _first_id(tokenizer: Any, text: str) -> int | None:
    """The first token of a text: T5 writes "0" as a space and a digit, "1" as one token."""
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    return int(ids[0]) if ids else None
