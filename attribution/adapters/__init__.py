"""Cite inside other frameworks: `langchain` and `llamaindex`, which need the extra of the same name."""
