"""What became of a document is told in what people read, and is no part of the answer."""

from __future__ import annotations

import io

import docx
import pytest
from sample_answers import ANSWER

from propcite.attribution.formats import FORMATS
from propcite.attribution.formats.cited_documents import REMOVED, CitedDocument, all_evidence, with_documents

GONE = {e.passage.document_id: CitedDocument(e.passage.document_id, "", status=REMOVED) for e in all_evidence(ANSWER)}


def test_an_answer_that_knows_what_became_of_its_documents_is_the_same_answer() -> None:
    marked = with_documents(ANSWER, GONE)
    assert marked == ANSWER
    assert marked.id == ANSWER.id
    assert {e.document_status for e in all_evidence(marked)} == {REMOVED}
    assert with_documents(ANSWER, {}) is ANSWER


@pytest.mark.parametrize("name", ["html", "markdown", "docx"])
def test_what_is_read_says_so_at_every_quote(name: str) -> None:
    plain, told = (FORMATS[name].write(ANSWER, documents=documents) for documents in ({}, GONE))
    if name == "docx":
        plain, told = (
            "\n".join(p.text for p in docx.Document(io.BytesIO(d)).paragraphs).encode() for d in (plain, told)
        )
    assert REMOVED.encode() not in plain
    assert told.count(REMOVED.encode()) >= len({(e.passage.id, e.span) for e in all_evidence(ANSWER)}) > 1


@pytest.mark.parametrize("name", [n for n, f in FORMATS.items() if "json" in f.suffix])
def test_what_programs_read_stays_as_it_was_given(name: str) -> None:
    assert FORMATS[name].write(ANSWER, documents=GONE) == FORMATS[name].write(ANSWER)
