"""The status of documents: shown in formats for people, and no part of the answer."""

from __future__ import annotations

import io

import docx
import pytest
from sample_answers import ANSWER

from propcite.attribution.formats import FORMATS
from propcite.attribution.formats.cited_documents import REMOVED, CitedDocument, all_evidence, with_documents

REMOVED_DOCUMENTS = {
    e.passage.document_id: CitedDocument(e.passage.document_id, "", status=REMOVED) for e in all_evidence(ANSWER)
}


def test_the_status_of_documents_does_not_change_an_answer_or_its_id() -> None:
    removed = with_documents(ANSWER, REMOVED_DOCUMENTS)
    assert removed == ANSWER
    assert removed.id == ANSWER.id
    assert {e.document_status for e in all_evidence(removed)} == {REMOVED}
    assert with_documents(ANSWER, {}) is ANSWER


@pytest.mark.parametrize("name", ["html", "markdown", "docx"])
def test_formats_for_people_show_the_status_at_every_quote(name: str) -> None:
    plain, with_status = (FORMATS[name].write(ANSWER, documents=documents) for documents in ({}, REMOVED_DOCUMENTS))
    if name == "docx":
        plain, with_status = (
            "\n".join(p.text for p in docx.Document(io.BytesIO(d)).paragraphs).encode() for d in (plain, with_status)
        )
    assert REMOVED.encode() not in plain
    assert with_status.count(REMOVED.encode()) >= len({(e.passage.id, e.span) for e in all_evidence(ANSWER)}) > 1


@pytest.mark.parametrize("name", [n for n, f in FORMATS.items() if "json" in f.suffix])
def test_formats_for_programs_do_not_show_the_status(name: str) -> None:
    assert FORMATS[name].write(ANSWER, documents=REMOVED_DOCUMENTS) == FORMATS[name].write(ANSWER)
