"""Split pasted text into passages: a blank line separates two, and `[n]` in front may number them."""

from __future__ import annotations

import re

from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Passage

_BLANK_LINES = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_NUMBER = re.compile(r"\s*(?:\[(\d{1,3})\]:?|(\d{1,3})[.)])\s+")


def passages_of(text: str) -> list[Passage]:
    """Return the passages in order, or by their numbers if these count from 1 without a gap.

    >>> [p.text for p in passages_of("[2] It is paid.\\n\\n[1] It cost 5 euros.")]
    ['It cost 5 euros.', 'It is paid.']
    """
    blocks = [block.strip() for block in _BLANK_LINES.split(text) if block.strip()]
    numbers = [_NUMBER.match(block) for block in blocks]
    given = [int(match[1] or match[2]) for match in numbers if match]
    if given and sorted(given) == list(range(1, len(blocks) + 1)):
        by_number = {int(f[1] or f[2]): block[f.end() :] for f, block in zip(numbers, blocks, strict=True) if f}
        blocks = [by_number[number] for number in sorted(by_number)]
    return [passage_from_text(f"given:{n}", block, f"Passage {n}") for n, block in enumerate(blocks, start=1)]
