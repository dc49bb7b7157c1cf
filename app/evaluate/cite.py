"""`propcite eval cite`: every table that the rows of some files allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from app.bootstrap import Parts
from app.errors import AppError
from app.evaluate.citing import cited_answers
from app.evaluate.evidence import sentence_evidence
from app.evaluate.gold import GoldAnswer, GoldEvidence, GoldVerdict, fairly, read_gold
from app.evaluate.judging import Scored, judged, reliability, scorers, thresholds
from app.evaluate.ways import ways_of
from app.terminal import counting
from attribution.methods import METHODS


def evaluate(
    files: Sequence[Path],
    parts: Parts,
    most: int,
    methods: Sequence[str] = METHODS,
    supported_from: Sequence[float] = (),
) -> Iterator[list[Any]]:
    """Tables, each a list of one kind: cited answers, ranked evidence, judged claims, how far to trust the judge."""
    gold = [row for file in files for row in read_gold(file)]
    if not gold:
        raise AppError("these files hold no row that says what supports what")
    answers = fairly([row for row in gold if isinstance(row, GoldAnswer)], most)
    evidence = fairly([row for row in gold if isinstance(row, GoldEvidence)], most)
    verdicts = fairly([row for row in gold if isinstance(row, GoldVerdict)], most)
    ways = ways_of(parts, methods, supported_from) if answers or evidence else []
    known = scorers(parts.propcite) if verdicts else {}
    with counting(len(answers) + len(evidence) + len(verdicts), "measuring") as advance:
        yield from filter(None, [cited_answers(answers, ways, parts.encoder, advance)])
        yield from filter(None, sentence_evidence(evidence, ways, parts.encoder, advance))
        told = Scored.of(verdicts, known, advance)
    yield from filter(None, map(list, (judged(told), reliability(told), thresholds(told))))
