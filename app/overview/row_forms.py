"""Turn a row of a table into a question: "Line = Harbour tram; Fare = 3.20 euros." → "What fare is listed for …?"."""

from __future__ import annotations

import re

from propcite.app.overview.clauses import Form
from propcite.app.overview.subjects import ROLES, is_plural
from propcite.attribution.english import content_words

MAX_CELL_WORDS = 6

_CELL = re.compile(r"(?:^|; )(?P<column>[^=;]+) = (?P<value>[^=;]+)")
_PLAIN = re.compile(r"[A-Za-z][\w’' -]*[A-Za-z]")
_UNIT = re.compile(r" \([^()]{1,8}\)$")  # of a column's figures
_CODE = re.compile(r"[A-Z]{1,6}[-/ ]?\d[\w/-]*")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


def row_form(row: str, number: int = 0) -> Form | None:
    """Return the question that a cell of a row answers; None where its columns or its key are no plain words.

    Rows are asked for different columns by their `number`.  What a row is about may be a name or a plain word, which
    "listed for" goes with alike.

    >>> row_form("Item = columns per index; Upper Limit = 32; Comment = may be raised.").question
    'What upper limit is listed for columns per index?'
    >>> row_form("Line = Harbour tram; Fare = 3.20 euros; Operator = Vennmouth Lines.", 1).question
    'Which operator is listed for Harbour tram?'
    >>> row_form("Year = 2023; Visitors = 41,000.").question
    'How many visitors are listed for 2023?'
    >>> row_form("1 = 17; 2 = 19.") is None
    True
    """
    first, *others = [
        (match["column"].strip(), match["value"].strip()) for match in _CELL.finditer(" ".join(row.split()))
    ] or [("", "")]
    if not others:
        return None
    (column, key), (asked, value) = first, others[number % len(others)]
    asked = _UNIT.sub("", asked)
    short = all(len(cell.split()) <= MAX_CELL_WORDS for cell in (column, key, asked))
    is_key = any(kind.fullmatch(key) for kind in (_PLAIN, _CODE, _YEAR))
    plain = is_key and _PLAIN.fullmatch(column) and _PLAIN.fullmatch(asked)
    if not short or not plain or not content_words(asked) or not re.search(r"\w", value):
        return None
    low = " ".join(word if word[1:].upper() == word[1:] and len(word) > 1 else word.lower() for word in asked.split())
    head = re.split(r" (?:of|in|for|per|to|at|by|on)\b", low)[0]
    is_number, several = value[:1] in "0123456789€$£", is_plural(head) and not head.endswith("ss")
    names_somebody = head.split()[-1] in ROLES or head.endswith(("er", "or"))
    which = "How many" if is_number and several else "Which" if names_somebody and not is_number else "What"
    return Form(f"{which} {low} {'are' if several else 'is'} listed for {key}?", "row")
