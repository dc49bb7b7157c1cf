"""Turn a row of a table into a question: "Line = Harbour tram; Fare = 3.20 euros." → "What is the fare of the …?"."""

from __future__ import annotations

import re

from propcite.app.overview.clauses import Form
from propcite.app.overview.subjects import is_plural
from propcite.attribution.english import content_words

MAX_CELL_WORDS = 6

_ROW = re.compile(r"(?P<column>[^=;]+) = (?P<key>[^=;]+); (?P<asked>[^=;]+) = (?P<value>[^=;]*\w[^=;]*)")
_PLAIN = re.compile(r"[A-Za-z][\w’' -]*[A-Za-z]")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


def row_form(row: str) -> Form | None:
    """Return the question that the second cell of a row answers; None where its columns or its key are no plain words.

    >>> row_form("Item = columns per index; Upper Limit = 32; Comment = may be raised.").question
    'What is the upper limit of columns per index?'
    >>> row_form("Year = 2023; Visitors = 41,000.").question
    'What are the visitors of 2023?'
    >>> row_form("1 = 17; 2 = 19.") is None
    True
    """
    match = _ROW.match(" ".join(row.split()))
    if match is None:
        return None
    column, key, asked = (match[name].strip() for name in ("column", "key", "asked"))
    short = all(len(cell.split()) <= MAX_CELL_WORDS for cell in (column, key, asked))
    plain = _PLAIN.fullmatch(column) and _PLAIN.fullmatch(asked) and (_PLAIN.fullmatch(key) or _YEAR.fullmatch(key))
    if not short or not plain or not content_words(asked):
        return None
    low = " ".join(word if word[1:].upper() == word[1:] and len(word) > 1 else word.lower() for word in asked.split())
    head = re.split(r" (?:of|in|for|per|to|at|by|on)\b", low)[0]
    return Form(f"What {'are' if is_plural(head) and not head.endswith('ss') else 'is'} the {low} of {key}?", "row")
