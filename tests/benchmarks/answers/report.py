"""What was measured, as tables in Markdown, as every answer, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from tests.benchmarks.answers.documents import (
    ABSTAINED,
    ANSWERED,
    HALF,
    MISSED,
    NEAR,
    RIGHT,
    VERDICTS,
    WRONG,
    Asked,
    Measured,
)
from tests.benchmarks.answers.packages import version_of

from propcite.app.errors import AppError


def show(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; its first column is text, the others are figures."""
    table = Table(box=box.MARKDOWN)
    for number, name in enumerate(head):
        table.add_column(name, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(str, row))
    Console(width=200).print(table)


def show_documents(measured: Measured) -> None:
    """Print the questions over documents by kind, and one line for the whole."""
    asked = measured.asked
    answerable = [one for one in asked if one.question.answerable]
    unanswerable = [one for one in asked if not one.question.answerable]
    show(
        ("answerable", "questions", RIGHT, HALF, WRONG, NEAR, MISSED, "right sentence first"),
        [_row(kind, group) for kind, group in [*_by_kind(answerable), ("all", answerable)]],
    )
    show(
        ("unanswerable", "questions", ABSTAINED, "with the nearest words", ANSWERED),
        [
            (kind, len(group), _count(group, ABSTAINED), _with_nearest(group), _count(group, ANSWERED))
            for kind, group in [*_by_kind(unanswerable), ("all", unanswerable)]
        ],
    )
    print("\n".join(_sentences(measured)))


def show_answers(asked: Iterable[Asked]) -> None:
    """Print each question with its answer, the documents that it cites, and what a right answer holds."""
    for one in asked:
        print(f"{one.verdict.upper()}  {one.question.kind}: {one.question.text}")
        cited = ", ".join(path.rpartition("/")[2] for _, path in one.cited) or "nothing"
        print(f"    {' '.join(one.answer.text.split())}\n    cites {cited}; {one.ms:.0f} ms")
        if one.question.place:
            wanted = "; ".join(" or ".join(part) for part in one.question.parts)
            print(f"    wanted: {wanted} ({one.question.place[1].rpartition('/')[2]})")


def as_json(measured: Measured, cache: Path) -> dict[str, Any]:
    """Return every answer with the parts that made it and the versions of the packages."""
    (median, p95), (cpu, cpu_p95) = measured.ms, measured.cpu_ms
    packages = {place[0] for one in measured.asked if (place := one.question.place)}
    return {
        "models": next((dict(one.answer.models) for one in measured.asked if not one.answer.abstained), {}),
        "packages": {name: version_of(name, cache) for name in sorted(packages)},
        "documents": measured.num_documents,
        "passages": measured.num_passages,
        "figures": {verdict: _count(measured.asked, verdict) for verdict in VERDICTS},
        "right_sentence_first": sum(one.first for one in measured.asked),
        "median_ms": round(median, 1),
        "p95_ms": round(p95, 1),
        "median_cpu_ms": round(cpu, 1),
        "p95_cpu_ms": round(cpu_p95, 1),
        "answers": [_answer(one) for one in measured.asked],
    }


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    try:
        path.write_text(json.dumps(content, ensure_ascii=False, indent=1), "utf-8")
    except OSError as error:
        raise AppError(f"cannot write {path} ({error.strerror}): give --json another file") from error


def percent(part: float, whole: float) -> str:
    """
    >>> percent(1, 8), percent(0, 0)
    ('12.5', '-')
    """
    return f"{100 * part / whole:.1f}" if whole else "-"


def _row(kind: str, group: Sequence[Asked]) -> tuple[object, ...]:
    counts = [_count(group, verdict) for verdict in (RIGHT, HALF, WRONG, NEAR, MISSED)]
    return kind, len(group), *counts, sum(one.first for one in group)


def _by_kind(asked: Sequence[Asked]) -> list[tuple[str, list[Asked]]]:
    kinds = dict.fromkeys(one.question.kind for one in asked)
    return [(kind, [one for one in asked if one.question.kind == kind]) for kind in kinds]


def _count(asked: Iterable[Asked], verdict: str) -> int:
    return sum(one.verdict == verdict for one in asked)


def _with_nearest(asked: Iterable[Asked]) -> int:
    return sum(one.verdict == ABSTAINED and not one.answer.is_empty for one in asked)


def _sentences(measured: Measured) -> Iterable[str]:
    given = [one.words for one in measured.asked if not one.answer.abstained]
    (median, p95), (cpu, cpu_p95) = measured.ms, measured.cpu_ms
    yield f"{measured.num_documents} documents, {measured.num_passages} passages, ingested in {measured.ingest_s:.0f} s"
    words = sum(given) / max(1, len(given))
    yield f"{words:.1f} words an answer"
    yield f"{median:.0f} ms a question, 95th percentile {p95:.0f}; of the processor {cpu:.0f} and {cpu_p95:.0f}"


def _answer(one: Asked) -> dict[str, Any]:
    question = one.question
    return {
        "kind": question.kind,
        "question": question.text,
        "answerable": question.answerable,
        "document": list(question.place or ()),
        "answer": question.parts,
        "sentences": question.sentences,
        "verdict": one.verdict,
        "right_sentence_first": one.first,
        "text": one.answer.text,
        "abstained": one.answer.abstained,
        "cited": [list(place) for place in one.cited],
        "quotes": list(dict.fromkeys(citation.quote for citation in one.answer.citations)),
        "words": one.words,
        "ms": round(one.ms, 1),
        "cpu_ms": round(one.cpu_ms, 1),
    }
