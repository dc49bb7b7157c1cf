"""Evaluation runs on the page: list, read, compare, inspect items, start and watch."""
