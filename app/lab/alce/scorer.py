"""All measures of answers with markers: those that need a judge, and those of the texts alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from propcite.app.lab.alce import scores
from propcite.app.lab.alce.entailment import Entailment, Pair
from propcite.app.lab.alce.files import Kind, Question
from propcite.app.lab.alce.reader import QaReader
from propcite.app.lab.alce.reference_scores import Rouge
from propcite.app.lab.alce.scores import CitationScore, Phi, Premise, Statement
from propcite.app.lab.alce.sentences import sentences_of

Measures = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """An answer's measures with the judgements behind them: which documents, from 1, entail which sentence."""

    measures: Measures
    judgements: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class JudgedScores:
    """The scores that need a judge, and its judgements of sentences."""

    citations: CitationScore | None
    claims: float | None
    judgements: Mapping[Pair, bool]


@dataclass(slots=True)
class Scorer:
    """Scores answers of one kind; a text that several ways have in common is compared with its references once."""

    kind: Kind
    entailment: Entailment
    rouge: Rouge | None = None
    reader: QaReader | None = None
    _text_measures: dict[tuple[str, str], Measures] = field(default_factory=dict)

    def score(self, answers: Sequence[tuple[Question, str]]) -> list[AnswerScores]:
        """Score outputs with their markers; only their first lines count."""
        rows = [(question, scores.first_line(output)) for question, output in answers]
        judged = self.entailment.compute([partial(self._judge, *row) for row in rows])
        self._read([(question, scores.remove_citations(output)) for question, output in rows])
        return [
            AnswerScores({**_citations(one), **self._measures(*row, one)}, _judgements(row[0], one.judgements))
            for row, one in zip(rows, judged, strict=True)
        ]

    def add_judgements(self, question: Question, judgements: Sequence[Mapping[str, Any]]) -> None:
        """Add what the judge said of this question's documents in an earlier call."""
        docs = question.premises
        pairs = {(tuple(docs[n - 1] for n in one["docs"]), one["text"]): one["holds"] for one in judgements}
        self.entailment.add(pairs)

    def _statements(self, question: Question, output: str) -> list[Statement]:
        if self.kind == "qampari":
            return scores.list_statements(question.item["question"], output)
        return scores.statements(sentences_of(output))

    def _judge(self, question: Question, output: str, phi: Phi) -> JudgedScores:
        judgements: dict[Pair, bool] = {}

        def recorded(premise: Premise, hypothesis: str) -> bool:
            return judgements.setdefault((premise, hypothesis), phi(premise, hypothesis))

        citations = scores.citation_score(self._statements(question, output), question.premises, recorded)
        claims = question.item.get("claims") if self.kind == "eli5" else None
        text = scores.remove_citations(output)
        return JudgedScores(citations, scores.claim_recall(text, claims, phi) if claims else None, judgements)

    def _measures(self, question: Question, output: str, judged: JudgedScores) -> Measures:
        text = scores.remove_citations(output)
        key = question.key, text
        if key not in self._text_measures:
            self._text_measures[key] = {**_FOR[self.kind](question, text), **self._rouge(question, text)}
        claims: Measures = {"claim_recall": judged.claims} if self.kind == "eli5" else {}
        return {**claims, **self._text_measures[key], "length": float(scores.length(text))}

    def _rouge(self, question: Question, text: str) -> Measures:
        return {"rouge_lsum": self.rouge.score(text, question.references)} if self.rouge else {}

    def _read(self, rows: Sequence[tuple[Question, str]]) -> None:
        """Let the reader answer the sub-questions over the new texts in one batch."""
        if self.reader is None:
            return
        new = {(q.key, text): q for q, text in rows if q.short_answers and (q.key, text) not in self._text_measures}
        pairs = [(sub_question, text) for (_, text), question in new.items() for sub_question in question.sub_questions]
        answers = iter(self.reader.answers(pairs))
        for (key, text), question in new.items():
            qa = scores.qa_scores([next(answers) for _ in question.sub_questions], question.short_answers)
            names = ("qa_em", "qa_f1", "qa_hit")
            measures: Measures = dict(zip(names, qa or (None, None, None), strict=True))
            self._text_measures[key, text] = {**_asqa(question, text), **self._rouge(question, text), **measures}


def _asqa(question: Question, text: str) -> Measures:
    em, hit = scores.str_em(text, question.short_answers) or (None, None)
    return {"str_em": em, "str_hit": hit}


def _qampari(question: Question, text: str) -> Measures:
    score = scores.list_score(text, question.item.get("answers") or [])
    names = ("precision", "recall", "recall_5", "f1", "f1_5")
    measures: Measures = {f"qampari_{name}": getattr(score, name) if score else None for name in names}
    return {**measures, "answers": float(score.answers) if score else None}


def _eli5(_: Question, __: str) -> Measures:
    return {}


_FOR: Mapping[str, Callable[[Question, str], Measures]] = {"asqa": _asqa, "qampari": _qampari, "eli5": _eli5}


def _citations(judged: JudgedScores) -> Measures:
    """Return citation measures; an answer without sentences has neither recall nor precision."""
    score = judged.citations
    return {
        "citation_recall": score.recall if score else None,
        "citation_precision": score.precision if score else None,
        "citations": float(score.citations) if score else 0.0,
        "sentences": float(score.sentences) if score else 0.0,
    }


def _judgements(question: Question, judgements: Mapping[Pair, bool]) -> list[dict[str, Any]]:
    numbers = {premise: number for number, premise in reversed(list(enumerate(question.premises, start=1)))}
    return [
        {"text": text, "docs": [numbers[one] for one in premise], "holds": holds}
        for (premise, text), holds in judgements.items()
    ]
