"""Questions: their parts, the texts that answer them, and whether an answer does."""
