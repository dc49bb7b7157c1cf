"""PropCite: answers in which every fact shows the words that support it."""
