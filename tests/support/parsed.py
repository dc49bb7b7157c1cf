"""Parsed sentences for tests: no model is loaded, each word has its lemma, tags, head, relation and entity in a file.

A word is a line of parsed_sentences.tsv; "~" marks one that no space follows.
"""

from __future__ import annotations

from functools import cache

import spacy
from paths import SUPPORT
from spacy.tokens import Doc

_VOCAB = spacy.blank("en").vocab


def parsed(text: str) -> Doc:
    """Return the sentence as a pipeline would parse it."""
    rows = _sentences()[text]
    words, lemmas, pos, tags, heads, deps, ents = (list(column) for column in zip(*rows, strict=True))
    return Doc(
        _VOCAB,
        words=[word.rstrip("~") for word in words],
        spaces=[not word.endswith("~") for word in words],
        lemmas=lemmas,
        pos=pos,
        tags=tags,
        heads=[int(head) for head in heads],
        deps=deps,
        ents=ents,
    )


@cache
def _sentences() -> dict[str, list[list[str]]]:
    blocks = (SUPPORT / "parsed_sentences.tsv").read_text(encoding="utf-8").strip().split("\n\n")
    return {lines[0][2:]: [line.split("\t") for line in lines[1:]] for lines in (b.split("\n") for b in blocks)}
