"""Judge with published entailment networks, such as TRUE, MiniCheck or any classifier, from a folder or the hub.

Such a network reads evidence beside a claim.  Evidence longer than its window is split between sentences, and the best
piece counts; the claim is never split.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import SUPPORTED_FROM, Case, label_of
from propcite.attribution.judges.chunks import chunks
from propcite.retrieval.interrupting import check_interrupt

BATCH_SIZE = 16
MIN_EVIDENCE_TOKENS = 8  # that must fit beside a claim
TOO_LONG = "the claim is longer than the judge can read: split it"

Row = Mapping[str, Any]  # the network's input: token ids, token types if it has them, and what its scores refer to


@dataclass(frozen=True, slots=True)
class PieceScore:
    """The network's output for one piece of evidence; `contradicts` if contradiction is its likeliest label.

    `reason` is None unless the network marks unsupported words of the claim; it is empty if they are punctuation.
    """

    support: float
    contradicts: bool = False
    reason: str | None = None


class EntailmentModel(Protocol):
    """A network together with the input format that it was trained on."""

    name: str
    window: int  # tokens of a row
    max_evidence: int  # tokens of evidence in a row

    def row(self, evidence: str, claim: str) -> Row: ...

    def num_tokens(self, text: str) -> int: ...

    def score(self, rows: Sequence[Row]) -> list[PieceScore]: ...


class TextCleaner:
    """Removes a tokenizer's special tokens from a text, so that no evidence can end itself and begin a claim.

    Lone surrogates, which no tokenizer accepts, become question marks.
    """

    def __init__(self, tokenizer: Any) -> None:
        tokens = sorted(filter(None, tokenizer.all_special_tokens), key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, tokens)) or r"(?!)")

    def __call__(self, text: str) -> str:
        return self._special.sub(" ", text.encode("utf-8", "replace").decode())


class RowWriter:
    """Writes evidence and claim in the form that a network was trained on, without the special tokens of either.

    `template` makes one text of both, in that order; without it they are a pair.
    """

    inputs: tuple[str, ...] = ("input_ids",)

    def __init__(self, tokenizer: Any, template: str = "") -> None:
        self.tokenizer, self.template = tokenizer, template
        self._clean = TextCleaner(tokenizer)

    def row(self, evidence: str, claim: str) -> Row:
        encoding = self.tokenizer(*self.texts(evidence, claim), verbose=False)
        return {name: encoding[name] for name in self.inputs if name in encoding}

    def texts(self, evidence: str, claim: str) -> tuple[str, ...]:
        """Return what the tokenizer gets: one text, or a pair."""
        pair = (self._clean(evidence), self._clean(claim))
        return (self.template.format(*pair),) if self.template else pair

    def num_tokens(self, text: str) -> int:
        return len(self.tokenizer(self._clean(text), add_special_tokens=False, verbose=False)["input_ids"])

    def batch(self, rows: Sequence[Row], device: Any) -> Any:
        """Return the rows as tensors of one length, with the mask of their padding."""
        columns = {name: [row[name] for row in rows] for name in self.inputs if name in rows[0]}
        return self.tokenizer.pad(columns, return_tensors="pt").to(device)


class EntailmentJudge:
    """A published network as a judge.  Safe to share among threads.

    It ignores the context of a case: such networks were trained to treat all their input as evidence.
    """

    def __init__(
        self, model: EntailmentModel, *, supported_from: float = SUPPORTED_FROM, batch_size: int = BATCH_SIZE
    ) -> None:
        if batch_size < 1:
            raise ValueError(f"expected batch_size >= 1, got {batch_size}")
        self.name = model.name
        self.model = model
        self.supported_from = supported_from
        self._batch_size = batch_size
        self._lock = Lock()  # a fast tokenizer cannot be shared by two threads at once

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        """Return a verdict per case; rows of similar length share a batch, and equal cases are judged once."""
        pairs = [(case.claim.strip(), case.text.strip()) for case in cases]
        with self._lock:
            rows = {pair: self._rows(*pair) for pair in dict.fromkeys(pairs)}
            scores = iter(self._scores([row for own in rows.values() for row in own or ()]))
        verdicts = {pair: self._verdict(own, [next(scores) for _ in own or ()]) for pair, own in rows.items()}
        return [verdicts[pair] for pair in pairs]

    def _rows(self, claim: str, evidence: str) -> list[Row] | None:
        """Return a row per piece of the evidence; None if the claim leaves no room for any."""
        model = self.model
        if not claim or not evidence:
            return []
        if len(model.row("", claim)["input_ids"]) + MIN_EVIDENCE_TOKENS > model.window:
            return None

        def fits(piece: str) -> bool:
            in_row = len(model.row(piece.strip(), claim)["input_ids"]) <= model.window
            return in_row and model.num_tokens(piece.strip()) <= model.max_evidence

        return [model.row(piece.strip(), claim) for piece in chunks(evidence, fits) if piece.strip()]

    def _scores(self, rows: Sequence[Row]) -> list[PieceScore]:
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]["input_ids"]))
        scores: dict[int, PieceScore] = {}
        for first in range(0, len(order), self._batch_size):
            check_interrupt()
            batch = order[first : first + self._batch_size]
            scores.update(zip(batch, self.model.score([rows[i] for i in batch]), strict=True))
        if not all(math.isfinite(score.support) for score in scores.values()):
            raise AttributionError(f"{self.name} computed a value that is not a number: set the precision to float32")
        return [scores[i] for i in range(len(rows))]

    def _verdict(self, rows: list[Row] | None, scores: Sequence[PieceScore]) -> Verdict:
        """Return the best piece's verdict; contradicted if a piece contradicts the claim and none supports it."""
        if not scores:
            return Verdict(Label.UNSUPPORTED, 0.0, TOO_LONG if rows is None else "")
        best = max(scores, key=lambda score: (score.support, not score.contradicts))
        label = label_of(best.support, self.supported_from)
        if best.contradicts or (label is not Label.SUPPORTED and any(score.contradicts for score in scores)):
            label = Label.CONTRADICTED
        if best.reason is None or label is Label.SUPPORTED:
            return Verdict(label, round(best.support, 4))
        return Verdict(Label.UNSUPPORTED, round(best.support, 4), best.reason)
