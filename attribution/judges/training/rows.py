"""Rows of JSON lines, and the pairs made from labelled claims and from questions with their answering sentences."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from propcite.attribution.english import content_words, share_found
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges.training.corruptions import changed_pairs, names_in
from propcite.attribution.judges.training.lexicon import Lexicon
from propcite.attribution.judges.training.pairs import HALF, NO, YES, Pair, window
from propcite.retrieval.jsonl import numbered_lines

Row = Mapping[str, Any]

LABELS = {"supported": YES, "supports": YES, "partially": HALF, "not_supported": NO, "refutes": NO}
REFERENCE = re.compile(r"\s*\[\d+\]")
_SUBJECT_QUESTION = re.compile(
    r"^(?:who|what|which) (?=(?:is|was|are|were|did|has|had|[a-z]+ed|[a-z]+s)\b)", re.IGNORECASE
)


def read_rows(path: Path) -> Iterator[Row]:
    for number, line in numbered_lines(path):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise AttributionError(f"{path}, line {number}: {error}") from error
        if not isinstance(row, dict):
            raise AttributionError(f"{path}, line {number}: a row must be a JSON object")
        yield row


class RowPairMaker:
    """Makes pairs from rows; the same rows and seed give the same pairs."""

    def __init__(self, lexicon: Lexicon, seed: int) -> None:
        self.lexicon, self.rng = lexicon, random.Random(seed)

    def labelled(self, row: Row) -> list[Pair]:
        """Pair a labelled claim with its evidence, with a window around it, and with another sentence."""
        rng = self.rng
        if "docs" in row:
            return self._document_pairs(row)
        sentences = [str(s) for s in row["sentences"]]
        positives = sorted(row["positive_sentence_ids"])
        label = LABELS[str(row["label"]).lower()] if "label" in row else YES
        evidence = " ".join(sentences[i].strip() for i in positives)
        claim, source, group, context = row["query"], row["source"], str(row.get("query", "")), title_of(row)
        pairs = [Pair(claim, evidence, label, f"{source} told", context if rng.random() < 0.5 else "", group)]
        near = window(sentences, positives, rng.randint(40, 150), rng)
        pairs.append(Pair(claim, near, label, f"{source} window", context if rng.random() < 0.3 else "", group))
        if others := most_similar(claim, sentences, positives):
            pairs.append(Pair(claim, sentences[others[0]], NO, f"{source} other", "", group))
        if label == YES and len(evidence.split()) < 60:
            pairs += self.some_changes(pairs[0], " ".join(sentences), 2)
        return pairs

    def _document_pairs(self, row: Row) -> list[Pair]:
        """Pair a claim with its first document, or with sentences if the supporting ones are marked."""
        label = LABELS[row["label"]]
        claim = REFERENCE.sub("", row["claim"])
        if row.get("supporting"):
            return self._sentence_pairs(row, claim)
        texts = [str(d.get("text") or "") for d in row["docs"]]
        return [
            Pair(claim, text.partition("\n\n")[2] or text, label, f"{row['source']} document", "", str(row["question"]))
            for text in texts[:1]
            if text.strip()
        ]

    def _sentence_pairs(self, row: Row, claim: str) -> list[Pair]:
        """Pair the claim with the sentences of its first document: the supporting ones, a window, and others."""
        number = row["supporting"][0][0]
        doc = row["docs"][number]
        sentences = [str(s) for s in doc["sentences"]]
        positives = sorted({i for d, i in row["supporting"] if d == number})
        source, group, context = row["source"], str(row["question"]), title_of(doc)
        near = window(sentences, positives, self.rng.randint(60, 160), self.rng)
        pairs = [
            Pair(claim, " ".join(sentences[i] for i in positives), YES, f"{source} told", context, group),
            Pair(claim, near, YES, f"{source} window", "", group),
        ]
        return pairs + [
            Pair(claim, sentences[i], NO, f"{source} other", context, group)
            for i in most_similar(claim, sentences, positives)[:2]
        ]

    def question(self, row: Row) -> list[Pair]:
        """Pair a question with a sentence that answers it, and with the most similar one that does not."""
        sentences, positives = [str(s) for s in row["sentences"]], sorted(row["positive_sentence_ids"])
        others = most_similar(row["query"], sentences, positives)
        if not others or not positives:
            return []
        question = str(row["query"]).strip()
        if _SUBJECT_QUESTION.match(question) and self.rng.random() < 0.5:
            question = _as_statement(question)
        context = title_of(row) if self.rng.random() < 0.5 else ""
        return [
            Pair(question, sentences[self.rng.choice(positives)], YES, "question", context),
            Pair(question, sentences[others[0]], 0.1, "question other", context),
        ]

    def other_sentence(self, claim: str, own: str, others: Sequence[str]) -> list[Pair]:
        """Pair the claim with the most similar other sentence; none if that has nearly all of the claim's words."""
        best = max(others, key=lambda s: share_found(content_words(claim), content_words(s)))
        if share_found(content_words(claim), content_words(best)) > 0.85:
            return []
        return [Pair(claim, best, NO, "neighbour", own if self.rng.random() < 0.2 else "")]

    def some_changes(self, pair: Pair, passage: str, max_changes: int, title: str = "") -> list[Pair]:
        """Change a supported pair in up to `max_changes` ways, each on its own."""
        ways = changed_pairs(pair, f"{passage} {title}", self.lexicon, self.rng)
        return [changed for way in self.rng.sample(ways, min(max_changes, len(ways))) for changed in way]


def _as_statement(question: str) -> str:
    """Turn a question like "Who designed it?" into the statement "Someone designed it."."""
    subject = "Someone " if question.lower().startswith("who") else "Something "
    return _SUBJECT_QUESTION.sub(subject, question).rstrip(" ?") + "."


def names_of(rows: Sequence[Row]) -> list[str]:
    """Return the names of up to three words in the rows' sentences."""
    names = {name for row in rows for text in row.get("sentences", ()) for name in names_in(str(text))}
    return sorted(name for name in names if len(name.split()) <= 3 and name.replace(" ", "").isalpha())


def title_of(row: Row) -> str:
    return str(row.get("title") or "").replace("_", " ")


def most_similar(claim: str, sentences: Sequence[str], excluded: Sequence[int]) -> list[int]:
    """Return the numbers of the other sentences by the share of the claim's words in them, the highest first."""
    words = content_words(claim)
    rest = [i for i in range(len(sentences)) if i not in excluded and len(sentences[i].split()) > 3]
    return sorted(rest, key=lambda i: -share_found(words, content_words(sentences[i])))
