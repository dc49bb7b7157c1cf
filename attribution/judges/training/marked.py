"""Rows that people marked, as cases with an answer: what measuring reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from propcite.attribution.judges import Case
from propcite.attribution.judges.training.rows import REFERENCE, Row, nearest, title_of

MOST_SENTENCES = 12  # of one claim's evidence


@dataclass(frozen=True, slots=True)
class Marked:
    """A case, whether people found it supported, and rows of a kind that are measured together."""

    case: Case
    supported: bool
    source: str
    group: str


def marked(rows: Sequence[Row]) -> list[Marked]:
    """All cases of these rows that say whether their evidence supports their claim."""
    return [found for row in rows for found in _cases(row)]


def _cases(row: Row) -> Iterator[Marked]:
    if "supporting" in row:
        yield from _sentences(row)
    elif "docs" in row:
        yield from _documents(row)
    elif row.get("kind") in ("claim", "proposition"):
        yield from _ranked(row)


def _documents(row: Row) -> Iterator[Marked]:
    texts = [str(doc.get("text") or " ".join(doc.get("sentences") or ())) for doc in row["docs"]]
    if any(text.strip() for text in texts):
        claim = REFERENCE.sub("", str(row["claim"]))
        yield Marked(Case(claim, tuple(texts)), row["label"] == "supported", row["source"], str(row["question"]))


def _sentences(row: Row) -> Iterator[Marked]:
    number = row["supporting"][0][0]
    sentences = [str(s) for s in row["docs"][number]["sentences"]]
    found = sorted({i for doc, i in row["supporting"] if doc == number})
    yield from _both(str(row["claim"]), sentences, found, row["source"], str(row["question"]))


def _ranked(row: Row) -> Iterator[Marked]:
    """With a label the claim beside its evidence; without one beside its sentence, and beside the one most like it."""
    sentences, found = [str(s) for s in row["sentences"]], sorted(row["positive_sentence_ids"])
    source, group = str(row["source"]), re.sub(r"\W", "", "".join(sentences))[:80]
    if "label" not in row:
        yield from _both(str(row["query"]), sentences, found, source, group)
        return
    told = str(row["label"]).lower() in ("supports", "supported")
    evidence = " ".join(sentences[i].strip() for i in found[:MOST_SENTENCES])
    yield Marked(Case(str(row["query"]), (evidence,), title_of(row)), told, source, title_of(row) or group)


def _both(claim: str, sentences: Sequence[str], found: Sequence[int], source: str, group: str) -> Iterator[Marked]:
    others = nearest(claim, sentences, found)
    if others and found:
        yield Marked(Case(claim, (" ".join(sentences[i] for i in found),)), True, source, group)
        yield Marked(Case(claim, (sentences[others[0]],)), False, source, group)
