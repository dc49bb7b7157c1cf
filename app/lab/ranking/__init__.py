"""Rankings of passages, sentences and facts, measured on data that a user brings."""
