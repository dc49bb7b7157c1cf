"""Train the question reader: examples from questions with passages, and the loop that learns from them."""
