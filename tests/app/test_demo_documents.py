"""The demo collection is consistent: its questions and answers match its documents."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import lxml.html
import pypdfium2
import pytest
from paths import ROOT

DEMO = ROOT / "app" / "demo"
DOCUMENTS = DEMO / "documents"
KINDS = {"answerable", "multi_document", "near_duplicate", "contradiction", "unanswerable", "follow_up_detail"}
LINE_END_HYPHEN = "\ufffe"  # what pdfium reads at a hyphenation
MAX_BYTES = 60_000


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DEMO / name).read_text(encoding="utf-8").splitlines()]


def flat(text: str) -> str:
    return " ".join(text.split())


def pdf_pages(path: Path) -> list[str]:
    with pypdfium2.PdfDocument(path) as pdf:
        return [page.get_textpage().get_text_range() for page in pdf]


@cache
def text_of(name: str) -> str:
    """Return a document's text, whatever its format, with each run of white space as one space."""
    path = DOCUMENTS / name
    if path.suffix == ".pdf":
        return flat(" ".join(pdf_pages(path)).replace(f"{LINE_END_HYPHEN}\r\n", "").replace(LINE_END_HYPHEN, ""))
    text = path.read_text(encoding="utf-8")
    return flat(lxml.html.fromstring(text).text_content() if path.suffix == ".html" else text)


def questions(*kinds: str) -> list[Any]:
    return [pytest.param(row, id=row["question"]) for row in rows("questions.jsonl") if row["kind"] in kinds]


def answers() -> list[Any]:
    return [pytest.param(row, id=row["question"]) for row in rows("answers.jsonl")]


def test_the_collection_is_large_and_mixed() -> None:
    names = [path for path in DOCUMENTS.iterdir() if path.is_file()]
    assert len(names) >= 15
    assert {path.suffix for path in names} == {".md", ".html", ".pdf"}
    assert all(150 < len(text_of(path.name).split()) < 1000 for path in names)


def test_the_readme_names_every_document() -> None:
    readme = (DEMO / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in DOCUMENTS.iterdir() if path.name not in readme] == []


def test_questions_are_of_every_kind_and_unique() -> None:
    records = rows("questions.jsonl")
    assert len(records) >= 24
    assert {row["kind"] for row in records} == KINDS
    assert records[0]["kind"] == "multi_document"
    assert len({row["question"] for row in records}) == len(records)
    assert sum(row["kind"] == "unanswerable" for row in records) >= 6


@pytest.mark.parametrize("row", questions(*(KINDS - {"unanswerable"})))
def test_every_expected_string_is_in_a_named_source(row: dict[str, Any]) -> None:
    assert row["sources"]
    assert row["expect"]
    for expected in row["expect"]:
        assert any(expected in text_of(name) for name in row["sources"]), expected


@pytest.mark.parametrize("row", questions(*(KINDS - {"unanswerable"})))
def test_every_named_source_holds_an_expected_string(row: dict[str, Any]) -> None:
    for name in row["sources"]:
        assert any(expected in text_of(name) for expected in row["expect"]), name


@pytest.mark.parametrize("row", questions("multi_document", "contradiction"))
def test_no_document_alone_answers_a_question_over_several(row: dict[str, Any]) -> None:
    assert len(row["sources"]) > 1
    assert not any(all(expected in text_of(path.name) for expected in row["expect"]) for path in DOCUMENTS.iterdir())


@pytest.mark.parametrize("row", questions("unanswerable"))
def test_an_unanswerable_question_has_no_source(row: dict[str, Any]) -> None:
    assert row["sources"] == []
    assert row["expect"] == []


@pytest.mark.parametrize("row", answers())
def test_an_answer_holds_right_wrong_and_invented_facts(row: dict[str, Any]) -> None:
    assert {fact["label"] for fact in row["facts"]} == {"supported", "contradicted", "unsupported"}


@pytest.mark.parametrize("row", answers())
def test_a_fact_with_a_source_quotes_it_and_one_without_does_not(row: dict[str, Any]) -> None:
    for fact in row["facts"]:
        if fact["label"] == "unsupported":
            assert fact["source"] is None
            assert "quote" not in fact
        else:
            assert fact["quote"] in text_of(fact["source"])


@pytest.mark.parametrize("path", sorted(DOCUMENTS.glob("*.pdf")), ids=lambda path: path.name)
def test_a_stored_pdf_is_small_titled_and_numbered(path: Path) -> None:
    assert path.stat().st_size < MAX_BYTES
    pages = pdf_pages(path)
    assert len(pages) > 1
    assert all(f"Page {number}" in page for number, page in enumerate(pages, start=1))
    with pypdfium2.PdfDocument(path) as pdf:
        assert flat(pdf.get_metadata_dict()["Title"]) in flat(pages[0])


def test_a_stored_pdf_has_a_word_hyphenated_at_a_line_end() -> None:
    assert any(LINE_END_HYPHEN in page for page in pdf_pages(DOCUMENTS / "geotechnical-report-coal-quay.pdf"))


def test_rebuilding_the_pdfs_gives_the_stored_text(tmp_path: Path) -> None:
    pytest.importorskip("reportlab", reason="reportlab is in the dev extra")
    from propcite.app.demo.make_pdfs import build_all

    built = build_all(tmp_path)
    assert [path.name for path in built] == sorted(path.name for path in DOCUMENTS.glob("*.pdf"))
    for path in built:
        assert pdf_pages(path) == pdf_pages(DOCUMENTS / path.name)
