"""Recognise text in pictures: scanned pages of PDFs, and PNG, JPEG and TIFF files.

| module | content |
|---|---|
| `choosing` | the recogniser that the settings name and this machine has |
| `recogniser` | what a recogniser returns: lines of words with their boxes |
| `rapid` | RapidOCR with PP-OCR models, the extra `ocr` |
| `tesseract` | the program Tesseract |
| `layout` | recognised lines in reading order, as the lines of a page |
| `scans` | the scanned pages of one document, and how surely they were read |
| `text_layers` | comparison of a PDF's layer of recognised text with the picture of its page |
"""
