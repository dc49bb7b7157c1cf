"""`propcite eval cite`: every table that the rows of some files allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.bootstrap import Parts
from app.errors import AppError
from app.evaluate.citing import RANKINGS, Remembering, Ways, cited_answers, ranked_evidence
from app.evaluate.gold import GoldAnswer, GoldEvidence, GoldVerdict, fairly, read_gold
from app.evaluate.judging import Scored, judged, reliability, scorers, thresholds
from app.terminal import counting
from attribution.methods import METHODS, method_of


def evaluate(files: Sequence[Path], parts: Parts, most: int, methods: Sequence[str] = METHODS) -> Iterator[list[Any]]:
    """Tables, each a list of one kind: cited answers, ranked evidence, judged claims, how far to trust the judge."""
    gold = [row for file in files for row in read_gold(file)]
    if not gold:
        raise AppError("these files hold no row that says what supports what")
    answers = fairly([row for row in gold if isinstance(row, GoldAnswer)], most)
    evidence = fairly([row for row in gold if isinstance(row, GoldEvidence)], most)
    verdicts = fairly([row for row in gold if isinstance(row, GoldVerdict)], most)
    chosen = [method_of(name) for name in methods]
    judge = parts.propcite.judge
    known = scorers(judge, parts.encoder) if verdicts else {}
    ways = Ways(parts.encoder, Remembering(parts.splitter), judge, chosen)
    steps = len(answers) * len(ways) + len(evidence) * len(RANKINGS) + len(known)
    with counting(steps, "measuring") as advance:
        ways = replace(ways, advance=advance)
        yield from filter(None, map(list, (cited_answers(answers, ways), ranked_evidence(evidence, ways))))
        told = Scored.of(verdicts, known, advance)
    yield from filter(None, map(list, (judged(told), reliability(told), thresholds(told))))
