"""`propcite eval cite`: every table that the rows of some files allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from app.bootstrap import Parts
from app.errors import AppError
from app.evaluate.citing import Remembering, Ways, cited_answers, ranked_evidence
from app.evaluate.gold import GoldAnswer, GoldEvidence, GoldVerdict, fairly, read_gold
from app.evaluate.judging import judged, scorers


def evaluate(files: Sequence[Path], parts: Parts, most: int) -> Iterator[list[Any]]:
    """Tables, as lists of values of one kind: cited answers, ranked evidence, judged claims."""
    gold = [row for file in files for row in read_gold(file)]
    if not gold:
        raise AppError("these files hold no row that says what supports what")
    answers = fairly([row for row in gold if isinstance(row, GoldAnswer)], most)
    evidence = fairly([row for row in gold if isinstance(row, GoldEvidence)], most)
    verdicts = fairly([row for row in gold if isinstance(row, GoldVerdict)], most)
    ways = Ways(parts.encoder, Remembering(parts.splitter), parts.propcite.judge)
    tables = (
        cited_answers(answers, ways),
        ranked_evidence(evidence, ways),
        judged(verdicts, scorers(ways.judge, ways.encoder)),
    )
    yield from filter(None, map(list, tables))
