"""Long PDFs are read in parts of several pages, and an interrupt while they are read or recognised loses nothing."""

from __future__ import annotations

import io
import signal
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas
from scanned import HEIGHT, WIDTH, Scanner, printed, saved
from word_encoder import WordEncoder

from propcite.app.ingest.outcomes import Progress
from propcite.app.ingest.reader_pool import RawDocument, ReaderLimits, ReaderPool
from propcite.app.ingest.readers import document_from_bytes, document_parts
from propcite.app.ingest.readers.pdf.reader import PAGES_PER_PART
from propcite.app.parts import Parts
from propcite.app.processes import Step
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Document

OpenParts = Callable[..., Parts]
PAGES = 2 * PAGES_PER_PART + 20


def report(pages: int) -> bytes:
    """Print a report whose sentences go on from page to page, with a title, headings and running headers."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(WIDTH, HEIGHT))
    for page in range(pages):
        canvas.setFont("Times-Roman", 9)
        canvas.drawString(72, HEIGHT - 40, "Report of the harbour")
        canvas.drawString(300, 40, str(page + 1))
        if page % 20 == 0:
            canvas.setFont("Times-Roman", 24 if page == 0 else 16)
            canvas.drawString(72, HEIGHT - 100, "The harbour in numbers" if page == 0 else f"Chapter {page // 20}")
        canvas.setFont("Times-Roman", 11)
        lines = [f"that ship {page} carried grain and coal to the northern quay of the town, where it", "was weighed."]
        lines += [f"In week {page} the harbour master wrote in the book of the port, which is kept in the hall,"]
        for number, line in enumerate(lines):
            canvas.drawString(72, HEIGHT - 140 - 14 * number, line)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


@pytest.fixture(scope="module")
def long_report() -> bytes:
    return report(PAGES)


def words_of_pages(document: Document) -> dict[int, list[str]]:
    return {page.number: page.span.of(document.text).split() for page in document.pages}


def test_the_parts_of_a_long_pdf_are_its_text_without_running_headers_and_broken_sentences(long_report: bytes) -> None:
    whole = document_from_bytes("report.pdf", long_report, "/srv/report.pdf")
    parts = list(document_parts("report.pdf", long_report, "/srv/report.pdf"))
    assert len(parts) == 3
    assert "".join(part.text for part in parts) == whole.text
    assert "Report of the harbour" not in whole.text
    boxes = [(box.page, box.top, box.span.of(part.text)) for part in parts for box in part.boxes]
    assert boxes == [(box.page, box.top, box.span.of(whole.text)) for box in whole.boxes]
    headings = [(heading.level, heading.span.of(part.text)) for part in parts for heading in part.headings]
    assert headings[:2] == [(1, "The harbour in numbers"), (2, "Chapter 1")]
    assert headings == [(heading.level, heading.span.of(whole.text)) for heading in whole.headings]
    assert {part.title for part in parts} == {"The harbour in numbers"}
    assert parts[-1].metadata == whole.metadata


def test_a_long_pdf_has_the_pages_and_passages_of_the_whole(long_report: bytes) -> None:
    steps: list[str] = []

    def note(_: RawDocument, step: Step) -> None:
        steps.append(step.at)

    with ReaderPool(PassageSplitter(100), ReaderLimits(1), note) as pool:
        future = pool.submit(RawDocument("/srv/report.pdf", "report.pdf", long_report, "0" * 64, "d"))
        assert isinstance(future, Future)
        parsed = future.result()
    assert steps == [f"page {number} of {PAGES}" for number in range(1, PAGES + 1)]
    assert [page.number for page in parsed.document.pages] == list(range(1, PAGES + 1))
    text = "".join(passage.text for passage in parsed.passages)
    whole = document_from_bytes("report.pdf", long_report, "")
    assert text == whole.text
    assert [page.span for page in parsed.document.pages] == [page.span for page in whole.pages]
    assert {passage.title for passage in parsed.passages} >= {"The harbour in numbers › Chapter 4"}


def interrupting(after: str) -> Callable[[Progress], None]:
    """Return a listener that presses Ctrl-C once, after a page was read."""
    pressed: list[str] = []

    def listen(progress: Progress) -> None:
        if progress.reading.endswith(after) and not pressed:
            pressed.append(progress.reading)
            signal.raise_signal(signal.SIGINT)

    return listen


@pytest.mark.parametrize(("is_scan", "after"), [(True, "page 1 of 2"), (False, f"page 60 of {PAGES}")])
def test_an_interrupt_while_a_pdf_is_read_loses_nothing(
    open_parts: OpenParts, tmp_path: Path, long_report: bytes, is_scan: bool, after: str
) -> None:
    scan = Scanner(dpi=100).scan(printed(["The harbour of the town was rebuilt in 1897."]))
    (tmp_path / "first.txt").write_text("The quay was built of granite.")
    (tmp_path / "report.pdf").write_bytes(saved(scan, scan, dpi=100) if is_scan else long_report)
    files = [tmp_path / "first.txt", tmp_path / "report.pdf"]
    parts = open_parts()
    parts.__dict__["encoder"] = WordEncoder()
    harbour = parts.library.create_collection("harbour")
    with pytest.raises(KeyboardInterrupt):
        list(parts.ingester(harbour, progress=interrupting(after)).ingest(files))
    assert not parts.workspace(harbour).differs_from_library()
    outcomes = list(parts.ingester(harbour).ingest(files))
    assert [outcome.state for outcome in outcomes] in (["unchanged", "added"], ["added", "added"])
    assert not parts.workspace(harbour).differs_from_library()
    assert len(parts.library.documents(harbour)) == 2
    assert len(parts.library.document(outcomes[1].document_id).pages) == (2 if is_scan else PAGES)
