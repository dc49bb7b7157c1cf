"""A PDF of very many pages is read to a bound, and says what was left."""

from __future__ import annotations

import io

import pytest
from reportlab.pdfgen import canvas

from propcite.app.ingest.readers import document_from_bytes


def test_pages_behind_the_bound_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO()
    pdf = canvas.Canvas(file)
    for number in ("one", "two", "three"):
        pdf.drawString(72, 700, f"The words of page {number}.")
        pdf.showPage()
    pdf.save()
    monkeypatch.setattr("propcite.app.ingest.readers.pdf._MOST_PAGES", 2)
    document = document_from_bytes("x.pdf", file.getvalue(), "")
    assert [page.number for page in document.pages] == [1, 2]
    assert document.metadata["pages"] == "3"
    assert document.metadata["pages_left_out"] == "1"
    assert "pages_without_text" not in document.metadata
