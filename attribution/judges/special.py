"""Text as data: what a tokenizer would take for one of its own marks is no part of any evidence or claim."""

from __future__ import annotations

import re
from typing import Any


class Cleaner:
    """Takes a tokenizer's special tokens out of a text, so that no text can end itself and begin a claim.

    Halves of surrogate pairs, which no tokenizer reads, become question marks.
    """

    def __init__(self, tokenizer: Any) -> None:
        marks = sorted(filter(None, tokenizer.all_special_tokens), key=len, reverse=True)
        self._marks = re.compile("|".join(map(re.escape, marks)) or r"(?!)")

    def __call__(self, text: str) -> str:
        return self._marks.sub(" ", text.encode("utf-8", "replace").decode())
