"""The measures of answers with their markers: what a judge must say, and what the texts say alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from propcite.app.lab.alce import scores
from propcite.app.lab.alce.entailment import Entailment, Pair
from propcite.app.lab.alce.files import Kind, Question
from propcite.app.lab.alce.reader import Reader
from propcite.app.lab.alce.rouge import Rouge
from propcite.app.lab.alce.scores import CitationScore, Phi, Premise, Statement
from propcite.app.lab.alce.sentences import sentences_of

Measures = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Scored:
    """An answer's measures, and what the judge said for them: which documents, from 1, entail which sentence."""

    measures: Measures
    judgements: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Judged:
    """What is computed by the judge's word, and all that it was asked."""

    citations: CitationScore | None
    claims: float | None
    asked: Mapping[Pair, bool]


@dataclass(slots=True)
class Scorer:
    """Scores answers of one kind.  A text that several ways share is compared with its references once."""

    kind: Kind
    entailment: Entailment
    rouge: Rouge | None = None
    reader: Reader | None = None
    _known: dict[tuple[str, str], Measures] = field(default_factory=dict)

    def scored(self, answers: Sequence[tuple[Question, str]]) -> list[Scored]:
        """Outputs as they were written: what stands behind the first line is no part of an answer."""
        rows = [(question, scores.first_line(output)) for question, output in answers]
        judged = self.entailment.together([partial(self._judged, *row) for row in rows])
        self._read([(question, scores.remove_citations(output)) for question, output in rows])
        return [
            Scored({**_citations(told), **self._of_text(*row, told)}, _judgements(row[0], told.asked))
            for row, told in zip(rows, judged, strict=True)
        ]

    def said(self, question: Question, output: str) -> list[Statement]:
        if self.kind == "qampari":
            return scores.listed_statements(question.item["question"], output)
        return scores.statements(sentences_of(output))

    def remember(self, question: Question, judgements: Sequence[Mapping[str, Any]]) -> None:
        """What the judge said of this question's documents in an earlier call."""
        docs = question.premises
        told = {(tuple(docs[n - 1] for n in one["docs"]), one["text"]): one["holds"] for one in judgements}
        self.entailment.remember(told)

    def _judged(self, question: Question, output: str, phi: Phi) -> Judged:
        asked: dict[Pair, bool] = {}

        def noted(premise: Premise, hypothesis: str) -> bool:
            return asked.setdefault((premise, hypothesis), phi(premise, hypothesis))

        citations = scores.citation_score(self.said(question, output), question.premises, noted)
        claims = question.item.get("claims") if self.kind == "eli5" else None
        text = scores.remove_citations(output)
        return Judged(citations, scores.claim_recall(text, claims, phi) if claims else None, asked)

    def _of_text(self, question: Question, output: str, judged: Judged) -> Measures:
        text = scores.remove_citations(output)
        if (question.key, text) not in self._known:
            self._known[question.key, text] = {**_FOR[self.kind](question, text), **self._references(question, text)}
        claims: Measures = {"claim_recall": judged.claims} if self.kind == "eli5" else {}
        return {**claims, **self._known[question.key, text], "length": float(scores.length(text))}

    def _references(self, question: Question, text: str) -> Measures:
        return {"rouge_lsum": self.rouge.score(text, question.references)} if self.rouge else {}

    def _read(self, rows: Sequence[tuple[Question, str]]) -> None:
        """Ask the reader about the texts that are new, together."""
        if self.reader is None:
            return
        new = {(q.key, text): q for q, text in rows if q.short_answers and (q.key, text) not in self._known}
        pairs = [(asked, text) for (_, text), question in new.items() for asked in question.sub_questions]
        told = iter(self.reader.answers(pairs))
        for (key, text), question in new.items():
            found = scores.qa_scores([next(told) for _ in question.sub_questions], question.short_answers)
            names = ("qa_em", "qa_f1", "qa_hit")
            qa: Measures = dict(zip(names, found or (None, None, None), strict=True))
            self._known[key, text] = {**_asqa(question, text), **self._references(question, text), **qa}


def _asqa(question: Question, text: str) -> Measures:
    found = scores.str_em(text, question.short_answers) or (None, None)
    return {"str_em": found[0], "str_hit": found[1]}


def _qampari(question: Question, text: str) -> Measures:
    found = scores.list_score(text, question.item.get("answers") or [])
    names = ("precision", "recall", "recall_5", "f1", "f1_5")
    measures: Measures = {f"qampari_{name}": getattr(found, name) if found else None for name in names}
    return {**measures, "answers": float(found.answers) if found else None}


def _eli5(_: Question, __: str) -> Measures:
    return {}


_FOR: Mapping[str, Callable[[Question, str], Measures]] = {"asqa": _asqa, "qampari": _qampari, "eli5": _eli5}


def _citations(judged: Judged) -> Measures:
    """An answer without a sentence has neither recall nor precision."""
    found = judged.citations
    return {
        "citation_recall": found.recall if found else None,
        "citation_precision": found.precision if found else None,
        "citations": float(found.citations) if found else 0.0,
        "sentences": float(found.sentences) if found else 0.0,
    }


def _judgements(question: Question, asked: Mapping[Pair, bool]) -> list[dict[str, Any]]:
    numbers = {premise: number for number, premise in reversed(list(enumerate(question.premises, start=1)))}
    return [
        {"text": text, "docs": [numbers[one] for one in premise], "holds": holds}
        for (premise, text), holds in asked.items()
    ]
