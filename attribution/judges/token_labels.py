"""Checkpoints that label word pieces: HHEM reads the label of the first, LettuceDetect those of the claim."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from propcite.attribution.checkpoints import check_labels, load_labelling_t5, load_token_classifier
from propcite.attribution.judges.classifier import max_positions
from propcite.attribution.judges.entailment import PieceScore, Row, RowWriter
from propcite.attribution.judges.reader import reason, whole_words
from propcite.retrieval.text import Span

HHEM = "vectara/hallucination_evaluation_model"
LETTUCEDETECT = "KRLabsOrg/lettucedect-base-modernbert-en-v1"

HHEM_WINDOW = 2048  # tokens; it was published without a limit
HHEM_PREFIX = "t5."  # of the names of its weights
HHEM_BASE = "google/flan-t5-base"  # whose tokenizer it has
HHEM_FORM = "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {}\n\nHypothesis: {}"

LETTUCEDETECT_WINDOW = 4096  # as published
LETTUCEDETECT_FORM = "\nSummarize the following text:\npassage 1: {}\noutput:\n"
UNSUPPORTED_FROM = 0.5  # probability above which a word piece is marked


class Hhem(RowWriter):
    """HHEM-2.1-Open: a T5 encoder whose second label of the first word piece is support."""

    def __init__(
        self, model: str = HHEM, *, device: str = "", precision: str = "auto", window: int = HHEM_WINDOW
    ) -> None:
        self.network, tokenizer = load_labelling_t5(model, HHEM_PREFIX, HHEM_BASE, device, precision)
        check_labels(self.network, model, 2)
        super().__init__(tokenizer, HHEM_FORM)
        self.name, self.window, self.max_evidence = Path(model).name, window, window

    def score(self, rows: Sequence[Row]) -> list[PieceScore]:
        import torch

        with torch.inference_mode():
            logits = self.network(**self.batch(rows, self.network.device)).logits[:, 0]
        return [PieceScore(support) for support in logits.float().softmax(-1)[:, 1].tolist()]


class LettuceDetect(RowWriter):
    """A classifier of word pieces whose second label marks what the evidence does not say.

    Support is what the most doubtful word piece of the claim leaves.
    """

    def __init__(
        self,
        model: str = LETTUCEDETECT,
        *,
        device: str = "",
        precision: str = "auto",
        window: int = LETTUCEDETECT_WINDOW,
    ) -> None:
        self.network, tokenizer = load_token_classifier(model, device, precision)
        check_labels(self.network, model, 2)
        super().__init__(tokenizer)
        self.name = Path(model).name
        self.window = self.max_evidence = min(window, max_positions(self.network))

    def texts(self, evidence: str, claim: str) -> tuple[str, ...]:
        evidence, claim = super().texts(evidence, claim)
        return LETTUCEDETECT_FORM.format(evidence), claim

    def row(self, evidence: str, claim: str) -> Row:
        """Return token ids, the positions of the claim's word pieces, their spans, and what a reason is made of."""
        texts = self.texts(evidence, claim)
        encoding = self.tokenizer(*texts, return_offsets_mapping=True, verbose=False)
        positions = [i for i, part in enumerate(encoding.sequence_ids()) if part == 1]
        spans = [_trimmed(texts[1], *encoding["offset_mapping"][i]) for i in positions]
        shown = {"claim": texts[1], "evidence": evidence}
        return {"input_ids": encoding["input_ids"], "positions": positions, "spans": spans, **shown}

    def score(self, rows: Sequence[Row]) -> list[PieceScore]:
        import torch

        with torch.inference_mode():
            logits = self.network(**self.batch(rows, self.network.device)).logits
        doubts = logits.float().softmax(-1)[:, :, 1].tolist()
        return [_score(row, [own[i] for i in row["positions"]]) for row, own in zip(rows, doubts, strict=True)]


def _score(row: Row, doubts: Sequence[float]) -> PieceScore:
    """Return the score of a claim, given the probability of each of its word pieces that it is unsupported."""
    marked = [span for span, doubt in zip(row["spans"], doubts, strict=True) if doubt > UNSUPPORTED_FROM]
    named = reason(row["claim"], whole_words(row["claim"], marked), row["evidence"]) if marked else None
    return PieceScore(1 - max(doubts, default=1.0), reason=named)


def _trimmed(text: str, start: int, end: int) -> Span:
    """Return the span without the space that some tokenizers count to a word."""
    piece = text[start:end]
    return Span(start + len(piece) - len(piece.lstrip()), end)
