"""`propcite eval history`: citations of stored answers by ALCE's measures, and how people agree with the judge."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from propcite.app.errors import AppError
from propcite.app.lab.alce.entailment import Entailment
from propcite.app.lab.alce.options import ScoringJudge
from propcite.app.lab.alce.scores import CitationScore, Phi, Statement, citation_score
from propcite.app.lab.citing.judge_bootstrap import Truth
from propcite.app.lab.citing.judge_scores import calibration_error
from propcite.app.lab.runs.provenance import model_info, run_provenance
from propcite.app.lab.runs.runner import Pending, RunOptions, measure, open_run, split_cost, timed
from propcite.app.lab.runs.significance import Floats
from propcite.app.library.feedback import LabelledClaim, labelled_claims
from propcite.app.library.store import AnswerInfo, CollectionInfo, RunInfo, RunItem
from propcite.app.parts import Parts
from propcite.attribution.citations import CitedAnswer, Label, Verdict
from propcite.attribution.judges import Judge, plain_case

ALL = "all collections"
ANSWERS = "answers"
STORED = "people and the judge of that day"
NOW = "people and the judge now"
BATCH_SIZE = 16
MAX_ANSWERS = 100_000


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """People's opinions on claims against a judge: shares, kappa, AUC and calibration error.

    Kappa and AUC are None if all opinions are alike.
    """

    table: ClassVar[str] = "agreement"

    judge: str
    labels: int
    supported: float
    agreement: float
    kappa: float | None
    auc: float | None
    calibration_error: float


@dataclass(frozen=True, slots=True)
class AnswerWithFeedback:
    """A stored answer with people's opinions on its facts."""

    info: AnswerInfo
    answer: CitedAnswer
    opinions: Sequence[LabelledClaim] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class HistoryResult:
    run: RunInfo
    answers: Sequence[RunItem]
    agreements: Sequence[AgreementRow]


def evaluate(
    parts: Parts, collection: CollectionInfo | None, scoring: ScoringJudge, options: RunOptions
) -> HistoryResult:
    """Measure each stored answer as ALCE does, and compare people's opinions on facts with the judge."""
    rows = list(_answers(parts, collection))
    if not rows:
        raise AppError("no answer is stored yet: propcite ask QUESTION stores the first")
    chosen, judge = options.select(rows), scoring.build(parts)
    about = run_provenance(parts.settings)
    about["models"]["scoring judge"] = model_info(scoring.settings(parts.settings), "judge")
    name = collection.name if collection else ALL
    settings = {"history": _digest(rows), **options.settings}
    run = open_run(parts.runs, "history", name, settings, about, judge.name, options)
    parts.runs.add(run.id, _opinion_items([one for row in chosen for one in row.opinions], judge))
    work = partial(_answer_items, Entailment(judge))
    measure(parts.runs, run, chosen, lambda row: row.info.id, [ANSWERS], work, BATCH_SIZE, "judging answers")
    items = list(parts.runs.items(run.id))
    answers = [item for item in items if item.way == ANSWERS]
    return HistoryResult(parts.runs.run(run.id), answers, list(_agreements(items, judge.name)))


def _answers(parts: Parts, collection: CollectionInfo | None) -> Iterator[AnswerWithFeedback]:
    """Yield the answers that do not abstain, the newest first."""
    feedback = parts.feedback.all(collection)
    for info in parts.library.answers(collection, MAX_ANSWERS):
        answer = parts.library.answer(info.id)
        if not answer.abstained and answer.sentences:
            yield AnswerWithFeedback(info, answer, list(labelled_claims({answer.id: answer}, feedback)))


def _digest(rows: Sequence[AnswerWithFeedback]) -> str:
    """Return a hash that changes with the answers and with people's opinions on them."""
    opinions = [f"{one.feedback.id}:{one.feedback.opinion}" for row in rows for one in row.opinions]
    return hashlib.sha256("\x1f".join([*(row.info.id for row in rows), *opinions]).encode()).hexdigest()[:16]


def _answer_items(entailment: Entailment, pending: Sequence[Pending[AnswerWithFeedback]]) -> Iterator[RunItem]:
    with timed() as cost:
        scores = entailment.compute([partial(_score, one.row.answer) for one in pending])
    share = split_cost(cost, len(pending))
    for one, score in zip(pending, scores, strict=True):
        yield _answer_item(one.row, score, share)


def _score(answer: CitedAnswer, phi: Phi) -> CitationScore | None:
    """Score an answer; its markers number the cited passages, and a sentence cites those that it shows."""
    docs = {c.number: f"Title: {c.passage.title}\n{c.passage.text}" for c in answer.citations}
    places = {number: place for place, number in enumerate(sorted(docs))}
    statements = [
        Statement(" ".join(s.span.of(answer.text).split()), tuple(places[c.number] for c in s.citations))
        for s in answer.sentences
    ]
    max_citations = max(s.max_citations for s in answer.sentences)
    return citation_score(statements, [docs[number] for number in places], phi, max_citations)


def _answer_item(row: AnswerWithFeedback, score: CitationScore | None, cost: dict[str, float]) -> RunItem:
    answer = row.answer
    measures = {
        "citation_recall": score.recall if score else None,
        "citation_precision": score.precision if score else None,
        "supported_facts": answer.coverage,
        "length": len(answer.text.split()),
        "citations": score.citations if score else 0,
        "sentences": len(answer.sentences),
    }
    output = {"question": row.info.question, "text": answer.text, "collection": row.info.collection}
    return RunItem(row.info.id, ANSWERS, measures, output, cost)


def _opinion_items(opinions: Sequence[LabelledClaim], judge: Judge) -> Iterator[RunItem]:
    """Yield two items per opinion: against the verdict stored with the answer, and against the judge's verdict now."""
    with timed() as cost:
        verdicts = judge.judge([plain_case(one.claim, one.evidence) for one in opinions]) if opinions else []
    for one, verdict in zip(opinions, verdicts, strict=True):
        if one.verdict:
            yield _opinion_item(STORED, one, one.verdict, {})
        yield _opinion_item(NOW, one, verdict, split_cost(cost, len(opinions)))


def _opinion_item(way: str, opinion: LabelledClaim, verdict: Verdict, cost: dict[str, float]) -> RunItem:
    agrees = (verdict.label is Label.SUPPORTED) == opinion.supported
    output = {
        "claim": opinion.claim,
        "evidence": list(opinion.evidence),
        "said": opinion.feedback.opinion.value,
        "label": verdict.label.value,
        "judged": [{"probability": verdict.probability, "right": opinion.supported}],
    }
    key = f"{opinion.feedback.id}:{'better' if opinion.feedback.better and opinion.verdict is None else 'cited'}"
    return RunItem(key, way, {"agreement": float(agrees)}, output, cost)


def _agreements(items: Sequence[RunItem], judge: str) -> Iterator[AgreementRow]:
    for way, name in ((STORED, "of that day"), (NOW, judge)):
        outputs = [item.output for item in items if item.way == way]
        if outputs:
            judged = [output["judged"][0] for output in outputs]
            right = np.array([one["right"] for one in judged], dtype=bool)
            accepted = np.array([output["label"] == Label.SUPPORTED.value for output in outputs])
            yield _agreement(name, right, accepted, np.array([one["probability"] for one in judged], dtype=float))


def _agreement(name: str, right: Truth, accepted: Truth, probability: Floats) -> AgreementRow:
    both_kinds = bool(right.any() and not right.all())
    return AgreementRow(
        judge=name,
        labels=len(right),
        supported=_percent(right.mean()),
        agreement=_percent((right == accepted).mean()),
        kappa=round(float(cohen_kappa_score(right, accepted)), 2) if both_kinds else None,
        auc=_percent(roc_auc_score(right, probability)) if both_kinds else None,
        calibration_error=_percent(calibration_error(right, probability)),
    )


def _percent(share: float) -> float:
    return round(100 * float(share), 1)
