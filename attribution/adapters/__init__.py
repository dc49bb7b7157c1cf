"""Citing inside other frameworks: `langchain` and `llamaindex`, each with the extra of its name."""
