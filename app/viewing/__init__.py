"""Show documents with the cited words marked: pages of PDFs, rendered text, rows of tables.

| module | content |
|---|---|
| `viewer` | responses for the documents of a library |
| `page_images` | pages of PDFs as images, drawn in another process (`process`, `drawing`) |
| `document_html` | any document as one HTML page without active content |
| `sanitized_html` | Markdown and HTML without scripts, links and external content |
| `tables` | the rows around a cited row |
| `marking` | finding and marking quotes in HTML |
"""
