"""Write a cited answer as a table for a spreadsheet: a row per citation and per fact without one."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from propcite.attribution.citations import Citation, CitedAnswer, CitedProposition, Evidence
from propcite.attribution.formats.text import printable
from propcite.attribution.formats.wording import label_of

COLUMNS = (
    "answer_id question sentence fact verdict probability reason kind marker title pages places quote document_id "
    "passage_id start end document_start document_end score elsewhere citation_id"
).split()

_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")

Cell = str | int | float


def to_csv(answer: CitedAnswer) -> str:
    """Return CSV with a byte order mark, so that Excel reads UTF-8; formulas are made text."""
    file = io.StringIO(newline="")
    table = csv.writer(file)
    table.writerow(COLUMNS)
    for row in _rows(answer):
        table.writerow([safe_cell(row.get(column, "")) for column in COLUMNS])
    return "\ufeff" + file.getvalue()


def safe_cell(cell: Cell) -> Cell:
    """Put an apostrophe before a text that a spreadsheet would compute, with or without space in front."""
    if not isinstance(cell, str):
        return cell
    text = printable(cell)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) or text.lstrip().startswith(_FORMULA_STARTS) else text


def _rows(answer: CitedAnswer) -> Iterator[dict[str, Cell]]:
    of_answer: dict[str, Cell] = {"answer_id": answer.id, "question": answer.question}
    for sentence in answer.sentences:
        for cited in sentence.propositions:
            common = {**of_answer, "sentence": sentence.span.of(answer.text), **_fact(cited)}
            yield from ({**common, **_citation(c)} for c in cited.citations)
            if cited.proposition.check_worthy and not cited.citations:
                yield {**common, **(_place(cited.nearest) if cited.nearest else {}), "kind": "without support"}


def _citation(citation: Citation) -> dict[str, Cell]:
    verdict = citation.verdict
    return {
        "verdict": verdict.label.value,
        "probability": verdict.probability,
        **_place(citation.evidence),
        "kind": "citation",
        "marker": citation.number,
        "citation_id": citation.id,
    }


def _fact(cited: CitedProposition) -> dict[str, Cell]:
    verdict = cited.verdict
    return {
        "fact": cited.proposition.text,
        "verdict": label_of(cited).value,
        "probability": verdict.probability if verdict else "",
        "reason": verdict.reason if verdict else "",
    }


def _place(evidence: Evidence) -> dict[str, Cell]:
    passage, span = evidence.passage, evidence.span
    place = passage.in_document(span)
    return {
        "title": passage.title,
        "pages": " ".join(map(str, passage.pages_of(span))),
        "places": "; ".join(passage.places_of(span)),
        "quote": evidence.quote,
        "document_id": passage.document_id,
        "passage_id": passage.id,
        "start": span.start,
        "end": span.end,
        "document_start": place.start,
        "document_end": place.end,
        "score": evidence.score,
        "elsewhere": "" if evidence.shown else "yes",
    }
