"""PDF files: pdfium reads the characters; their positions and sizes show lines, paragraphs and headings."""
