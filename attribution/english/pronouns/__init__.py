"""Pronouns at the beginning of a sentence, replaced by what they refer to."""
