"""Turn rows with human labels into cases for evaluating a judge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from propcite.attribution.judges import Case
from propcite.attribution.judges.training.rows import REFERENCE, Row, most_similar, title_of

MAX_SENTENCES = 12  # per claim's evidence


@dataclass(frozen=True, slots=True)
class LabelledCase:
    """A case with its label; cases of one `group` share a question or a passage."""

    case: Case
    supported: bool
    source: str
    group: str


def labelled_cases(rows: Sequence[Row]) -> list[LabelledCase]:
    """Return the cases of all rows that say whether their evidence supports their claim."""
    return [case for row in rows for case in _cases(row)]


def _cases(row: Row) -> Iterator[LabelledCase]:
    if "supporting" in row:
        yield from _supporting_sentences(row)
    elif "docs" in row:
        yield from _documents(row)
    elif row.get("kind") in ("claim", "proposition"):
        yield from _ranked_sentences(row)


def _documents(row: Row) -> Iterator[LabelledCase]:
    texts = [str(doc.get("text") or " ".join(doc.get("sentences") or ())) for doc in row["docs"]]
    if any(text.strip() for text in texts):
        claim = REFERENCE.sub("", str(row["claim"]))
        yield LabelledCase(Case(claim, tuple(texts)), row["label"] == "supported", row["source"], str(row["question"]))


def _supporting_sentences(row: Row) -> Iterator[LabelledCase]:
    number = row["supporting"][0][0]
    sentences = [str(s) for s in row["docs"][number]["sentences"]]
    positives = sorted({i for doc, i in row["supporting"] if doc == number})
    yield from _positive_and_negative(str(row["claim"]), sentences, positives, row["source"], str(row["question"]))


def _ranked_sentences(row: Row) -> Iterator[LabelledCase]:
    """Yield a labelled claim with its evidence; an unlabelled one with its sentences, and with the most similar other.

    A claim without a label is supported by its own sentences.
    """
    sentences, positives = [str(s) for s in row["sentences"]], sorted(row["positive_sentence_ids"])
    source, group = str(row["source"]), re.sub(r"\W", "", "".join(sentences))[:80]
    if "label" not in row:
        yield from _positive_and_negative(str(row["query"]), sentences, positives, source, group)
        return
    supported = str(row["label"]).lower() in ("supports", "supported")
    evidence = " ".join(sentences[i].strip() for i in positives[:MAX_SENTENCES])
    case = Case(str(row["query"]), (evidence,), title_of(row))
    yield LabelledCase(case, supported, source, title_of(row) or group)


def _positive_and_negative(
    claim: str, sentences: Sequence[str], positives: Sequence[int], source: str, group: str
) -> Iterator[LabelledCase]:
    others = most_similar(claim, sentences, positives)
    if others and positives:
        evidence = " ".join(sentences[i] for i in positives)
        yield LabelledCase(Case(claim, (evidence,)), True, source, group)
        yield LabelledCase(Case(claim, (sentences[others[0]],)), False, source, group)
