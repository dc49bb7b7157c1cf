"""Answers in the sources' own words: sentences that answer are found, chosen, and put together."""
