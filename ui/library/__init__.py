"""The library on the page, in parts: adding, what failed, the table, one document, the collection."""
