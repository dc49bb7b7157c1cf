"""PDF files: pdfium reads the characters; their positions and sizes show lines, paragraphs and headings."""

from propcite.app.ingest.readers.pdf.reader import PDFIUM_LOCK, read_pdf

__all__ = ["PDFIUM_LOCK", "read_pdf"]
