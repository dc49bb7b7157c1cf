"""ALCE's ASQA: how much of the short answers the generator's text holds, and whether its first sentence holds one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.answers.report import percent

from propcite.app.errors import AppError
from propcite.app.lab.alce.answers import Answer, Row, generate_answers, stored_answer
from propcite.app.lab.alce.files import Question, read_alce
from propcite.app.lab.alce.scores import first_line, length, normalized, remove_citations, str_em
from propcite.app.lab.alce.sentences import sentences_of
from propcite.app.library.store.runs import RunItem
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.retrieval.encoding.cache import CachedEncoder

HEAD = ("passages", "questions", "abstained", "STR-EM", "STR-hit", "first sentence holds one", "words")


@dataclass(frozen=True, slots=True)
class Scored:
    """A question with its answer, and what ALCE's evaluator measures of its text alone.

    `first` says whether the first sentence holds a short answer.
    """

    question: Question
    answer: Answer
    str_em: float
    str_hit: float
    first: bool


def measure(path: Path, num_docs: int, limit: int) -> list[Scored]:
    """Answer the first questions of the file that have short answers, all of them if `limit` is 0."""
    questions = [question for question in read_alce(path).questions if question.short_answers]
    if not questions:
        raise AppError(f"{path} has no qa_pairs, which ASQA is measured by: give ALCE's file of ASQA")
    rows = [Row(question.with_docs(num_docs), num_docs) for question in questions[: limit or None]]
    items: dict[str, RunItem] = {}

    def keep(written: Sequence[RunItem]) -> None:
        items.update((item.key, item) for item in written)

    with tempfile.TemporaryDirectory(prefix="propcite-answers-") as folder:
        parts = Parts(load_settings(data_dir=Path(folder), generator="extractive"))
        generate_answers(parts, CachedEncoder(parts.encoder), rows, keep)
    return [_scored(row.question, stored_answer(items[row.key])) for row in rows]


def figures(num_docs: int, scored: Sequence[Scored]) -> list[object]:
    """Return the figures in the order of HEAD."""
    number, abstained = len(scored), sum(one.answer.abstained for one in scored)
    return [
        num_docs,
        number,
        abstained,
        percent(sum(one.str_em for one in scored), number),
        percent(sum(one.str_hit for one in scored), number),
        percent(sum(one.first for one in scored), number),
        f"{sum(length(one.answer.text) for one in scored) / number:.1f}",
    ]


def answers(scored: Iterable[Scored]) -> list[dict[str, object]]:
    """Return every answer for JSON."""
    return [
        {
            "id": one.question.key,
            "question": one.question.text,
            "short_answers": one.question.short_answers,
            "text": one.answer.text,
            "abstained": one.answer.abstained,
            "str_em": one.str_em,
            "str_hit": one.str_hit,
            "first_sentence": one.first,
        }
        for one in scored
    ]


def _scored(question: Question, answer: Answer) -> Scored:
    text = remove_citations(first_line(answer.text))
    both = str_em(text, question.short_answers)
    assert both is not None
    first = normalized(next(iter(sentences_of(text)), ""))
    short = [normalized(answer) for answers in question.short_answers for answer in answers]
    return Scored(question, answer, *both, any(answer in first for answer in short if answer))
