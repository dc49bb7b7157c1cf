"""Judges that others published: TRUE, MiniCheck and any classifier of entailment, by a folder or a hub name.

Each reads evidence beside a claim.  Evidence longer than the network's window is read in pieces, cut between
sentences; the best piece counts, and the claim is never cut.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import SUPPORTED_FROM, Case, label_of
from propcite.attribution.judges.chunks import chunks

BATCH = 16
LEAST_ROOM = 8  # tokens that must be left for evidence beside a claim
TOO_LONG = "the claim is longer than the judge can read: split it"

Row = Mapping[str, list[int]]  # what a network reads: token ids, and token types where it has them


@dataclass(frozen=True, slots=True)
class Reading:
    """What a network says of one piece of evidence; `against` where contradiction is its likeliest label."""

    support: float
    against: bool = False


class Reader(Protocol):
    """A network with the form in which it was taught to read evidence and a claim."""

    name: str
    window: int  # tokens of a row
    most_evidence: int  # tokens of evidence in a row

    def row(self, evidence: str, claim: str) -> Row: ...

    def length(self, text: str) -> int: ...

    def read(self, rows: Sequence[Row]) -> list[Reading]: ...


class EntailmentJudge:
    """A published network as a judge.  Safe to share among threads.

    A case's context is not read: such networks were taught to take all that they read for evidence.
    """

    def __init__(self, reader: Reader, *, supported_from: float = SUPPORTED_FROM, batch_size: int = BATCH) -> None:
        if batch_size < 1:
            raise ValueError(f"wanted batch_size >= 1, got {batch_size}")
        self.name = reader.name
        self.reader = reader
        self.supported_from = supported_from
        self._batch_size = batch_size
        self._lock = Lock()  # a fast tokenizer cannot be shared by two threads at once

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        """A verdict for each case; rows of like length are read together, and equal cases once."""
        pairs = [(case.claim.strip(), case.text.strip()) for case in cases]
        with self._lock:
            rows = {pair: self._rows(*pair) for pair in dict.fromkeys(pairs)}
            readings = iter(self._read([row for own in rows.values() for row in own or ()]))
        verdicts = {pair: self._verdict(own, [next(readings) for _ in own or ()]) for pair, own in rows.items()}
        return [verdicts[pair] for pair in pairs]

    def _rows(self, claim: str, evidence: str) -> list[Row] | None:
        """A row for each piece of the evidence; None where the claim leaves no room for any."""
        reader = self.reader
        if not claim or not evidence:
            return []
        if len(reader.row("", claim)["input_ids"]) + LEAST_ROOM > reader.window:
            return None

        def fits(piece: str) -> bool:
            in_row = len(reader.row(piece.strip(), claim)["input_ids"]) <= reader.window
            return in_row and reader.length(piece.strip()) <= reader.most_evidence

        return [reader.row(piece.strip(), claim) for piece in chunks(evidence, fits) if piece.strip()]

    def _read(self, rows: Sequence[Row]) -> list[Reading]:
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]["input_ids"]))
        found: dict[int, Reading] = {}
        for first in range(0, len(order), self._batch_size):
            batch = order[first : first + self._batch_size]
            found.update(zip(batch, self.reader.read([rows[i] for i in batch]), strict=True))
        if not all(math.isfinite(reading.support) for reading in found.values()):
            raise AttributionError(f"{self.name} computed what is no number: set the precision to float32")
        return [found[i] for i in range(len(rows))]

    def _verdict(self, rows: list[Row] | None, readings: Sequence[Reading]) -> Verdict:
        """The best piece's support; what one piece contradicts and none supports is contradicted."""
        if not readings:
            return Verdict(Label.UNSUPPORTED, 0.0, TOO_LONG if rows is None else "")
        best = max(readings, key=lambda reading: (reading.support, not reading.against))
        label = label_of(best.support, self.supported_from)
        if best.against or (label is not Label.SUPPORTED and any(reading.against for reading in readings)):
            label = Label.CONTRADICTED
        return Verdict(label, round(best.support, 4))
