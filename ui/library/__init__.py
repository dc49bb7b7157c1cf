"""The library on the page: adding, failures, the table, one document, the collection."""
