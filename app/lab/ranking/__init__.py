"""Evaluation of rankings of passages, sentences and facts on labelled data."""
