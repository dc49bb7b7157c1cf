"""A cited answer as a table for a spreadsheet: a row for each citation, and for each fact without one."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from propcite.attribution.citations import Citation, CitedAnswer, CitedProposition, Evidence
from propcite.attribution.formats.plain import printable
from propcite.attribution.formats.words import label_of
from propcite.retrieval.text import Span

COLUMNS = (
    "answer_id question sentence fact verdict probability reason kind marker title pages places quote document_id "
    "passage_id start end document_start document_end score elsewhere citation_id"
).split()

_STARTS_A_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")

Cell = str | int | float


def to_csv(answer: CitedAnswer) -> str:
    """Lines of text that Excel reads as UTF-8.  A cell that would be a formula begins with an apostrophe."""
    written = io.StringIO(newline="")
    table = csv.writer(written)
    table.writerow(COLUMNS)
    for row in _rows(answer):
        table.writerow([safe_cell(row.get(column, "")) for column in COLUMNS])
    return "\ufeff" + written.getvalue()


def safe_cell(cell: Cell) -> Cell:
    """A number stays one; a text that a spreadsheet would compute, with or without space before it, is defused."""
    if not isinstance(cell, str):
        return cell
    text = printable(cell)
    return f"'{text}" if text.startswith(_STARTS_A_FORMULA) or text.lstrip().startswith(_STARTS_A_FORMULA) else text


def _rows(answer: CitedAnswer) -> Iterator[dict[str, Cell]]:
    whole: dict[str, Cell] = {"answer_id": answer.id, "question": answer.question}
    for sentence in answer.sentences:
        for cited in sentence.propositions:
            common = {**whole, "sentence": sentence.span.of(answer.text), **_fact(cited)}
            yield from ({**common, **_citation(c)} for c in cited.citations)
            if cited.proposition.check_worthy and not cited.citations:
                yield {**common, **(_place(cited.nearest) if cited.nearest else {}), "kind": "without support"}


def _citation(citation: Citation) -> dict[str, Cell]:
    verdict = citation.verdict
    judged: dict[str, Cell] = {"verdict": verdict.label.value, "probability": verdict.probability}
    named: dict[str, Cell] = {"kind": "citation", "marker": citation.number, "citation_id": citation.id}
    return {**judged, **_place(citation.evidence), **named}


def _fact(cited: CitedProposition) -> dict[str, Cell]:
    verdict = cited.verdict
    return {
        "fact": cited.proposition.text,
        "verdict": label_of(cited).value,
        "probability": verdict.probability if verdict else "",
        "reason": verdict.reason if verdict else "",
    }


def _place(evidence: Evidence) -> dict[str, Cell]:
    """The cited words, or for a fact without support the nearest."""
    passage, span = evidence.passage, evidence.span
    place: Span = passage.in_document(span)
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
