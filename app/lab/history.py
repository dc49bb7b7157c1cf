"""`propcite eval history`: how well the answers that were given are cited, and whether people agree with the judge."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from propcite.app.errors import AppError
from propcite.app.lab.alce.entailment import Entailment
from propcite.app.lab.alce.evaluating import Scoring
from propcite.app.lab.alce.scores import CitationScore, Phi, Statement, citation_score
from propcite.app.lab.citing.judging import calibration_error
from propcite.app.lab.runs.about import about_run, model
from propcite.app.lab.runs.keeping import Todo, clocked, measure, open_run, portion
from propcite.app.lab.runs.shares import Share
from propcite.app.library.opinions import Labelled, labelled
from propcite.app.library.store import AnswerInfo, CollectionInfo, RunInfo, RunItem
from propcite.app.parts import Parts
from propcite.attribution.citations import CitedAnswer, Label, Verdict
from propcite.attribution.judges import Case, Judge

ALL = "all collections"
ANSWERS = "answers"
KEPT = "people and the judge of that day"
NOW = "people and the judge now"
TOGETHER = 16
MOST_ANSWERS = 100_000


@dataclass(frozen=True, slots=True)
class Agreement:
    """What people said of claims beside what a judge says: shares, kappa, AUC and calibration, None without both."""

    judge: str
    labels: int
    supported: float
    agreement: float
    kappa: float | None
    auc: float | None
    calibration_error: float


@dataclass(frozen=True, slots=True)
class History:
    """A kept answer, with its facts of which people said whether they are supported."""

    info: AnswerInfo
    answer: CitedAnswer
    said: Sequence[Labelled] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Told:
    run: RunInfo
    answers: Sequence[RunItem]
    agreements: Sequence[Agreement]


def evaluate(parts: Parts, collection: CollectionInfo | None, scoring: Scoring, share: Share) -> Told:
    """Each kept answer measured as ALCE measures answers, and what people said of its facts."""
    rows = list(_history(parts, collection))
    if not rows:
        raise AppError("no answer is kept yet: propcite ask QUESTION keeps the first")
    chosen, judge = share.of(rows), scoring.build(parts)
    about = about_run(parts.settings)
    about["models"]["scoring judge"] = model(scoring.settings(parts.settings), "judge")
    name = collection.name if collection else ALL
    settings = {"history": _digest(rows), **share.settings}
    run = open_run(parts.runs, "history", name, settings, about, judge.name, new=share.new, say=share.say)
    parts.runs.add(run.id, _people([one for row in chosen for one in row.said], judge))
    work = partial(_measured, Entailment(judge))
    measure(parts.runs, run, chosen, lambda row: row.info.id, [ANSWERS], work, TOGETHER, "judging answers")
    items = list(parts.runs.items(run.id))
    return Told(
        parts.runs.run(run.id), [item for item in items if item.way == ANSWERS], list(_agreements(items, judge.name))
    )


def _history(parts: Parts, collection: CollectionInfo | None) -> Iterator[History]:
    """The answers that say something, the newest first."""
    given = parts.feedback.all(collection)
    for info in parts.library.answers(collection, MOST_ANSWERS):
        answer = parts.library.answer(info.id)
        if not answer.abstained and answer.sentences:
            yield History(info, answer, list(labelled({answer.id: answer}, given)))


def _digest(rows: Sequence[History]) -> str:
    """Names what there is to measure: which answers, and what people have said of them."""
    said = [f"{one.given.id}:{one.given.opinion}" for row in rows for one in row.said]
    return hashlib.sha256("\x1f".join([*(row.info.id for row in rows), *said]).encode()).hexdigest()[:16]


def _measured(entailment: Entailment, todos: Sequence[Todo[History]]) -> Iterator[RunItem]:
    with clocked() as cost:
        scores = entailment.together([partial(_score, todo.row.answer) for todo in todos])
    each = portion(cost, len(todos))
    for todo, score in zip(todos, scores, strict=True):
        yield _item(todo.row, score, each)


def _score(answer: CitedAnswer, phi: Phi) -> CitationScore | None:
    """Markers count the cited passages; a sentence cites those that it shows."""
    docs = {c.number: f"Title: {c.passage.title}\n{c.passage.text}" for c in answer.citations}
    places = {number: place for place, number in enumerate(sorted(docs))}
    said = [
        Statement(" ".join(s.span.of(answer.text).split()), tuple(places[c.number] for c in s.citations))
        for s in answer.sentences
    ]
    return citation_score(
        said, [docs[number] for number in places], phi, max(s.max_citations for s in answer.sentences)
    )


def _item(row: History, score: CitationScore | None, cost: dict[str, float]) -> RunItem:
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


def _people(said: Sequence[Labelled], judge: Judge) -> Iterator[RunItem]:
    """Two items an opinion: the verdict that was kept with the answer, and what the judge says now."""
    with clocked() as cost:
        verdicts = judge.judge([Case(one.claim, one.evidence) for one in said]) if said else []
    for one, now in zip(said, verdicts, strict=True):
        if one.verdict:
            yield _opinion(KEPT, one, one.verdict, {})
        yield _opinion(NOW, one, now, portion(cost, len(said)))


def _opinion(way: str, one: Labelled, verdict: Verdict, cost: dict[str, float]) -> RunItem:
    same = (verdict.label is Label.SUPPORTED) == one.supported
    output = {
        "claim": one.claim,
        "evidence": list(one.evidence),
        "said": one.given.opinion.value,
        "label": verdict.label.value,
        "judged": [{"probability": verdict.probability, "right": one.supported}],
    }
    key = f"{one.given.id}:{'better' if one.given.better and one.verdict is None else 'cited'}"
    return RunItem(key, way, {"agreement": float(same)}, output, cost)


def _agreements(items: Sequence[RunItem], judge: str) -> Iterator[Agreement]:
    for way, name in ((KEPT, "of that day"), (NOW, judge)):
        told = [(i.output["judged"][0], i.output["label"]) for i in items if i.way == way]
        if told:
            right = np.array([one["right"] for one, _ in told], dtype=bool)
            said = np.array([label == Label.SUPPORTED.value for _, label in told])
            yield _agreement(name, right, said, np.array([one["probability"] for one, _ in told], dtype=float))


def _agreement(name: str, right: np.ndarray, said: np.ndarray, probability: np.ndarray) -> Agreement:
    both = bool(right.any() and not right.all())
    return Agreement(
        judge=name,
        labels=len(right),
        supported=_percent(right.mean()),
        agreement=_percent((right == said).mean()),
        kappa=round(float(cohen_kappa_score(right, said)), 2) if both else None,
        auc=_percent(roc_auc_score(right, probability)) if both else None,
        calibration_error=_percent(calibration_error(right, probability)),
    )


def _percent(share: float) -> float:
    return round(100 * float(share), 1)
