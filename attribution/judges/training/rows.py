"""Rows of JSON lines as pairs: claims that people marked, and questions with the sentences that answer them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from propcite.attribution.english.words import content_words, share_found
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges.training.corruptions import changes, names_in
from propcite.attribution.judges.training.lexicon import Lexicon
from propcite.attribution.judges.training.pairs import HALF, NO, YES, Pair, window
from propcite.retrieval.jsonl import numbered_lines

Row = Mapping[str, Any]

LABELS = {"supported": YES, "supports": YES, "partially": HALF, "not_supported": NO, "refutes": NO}
REFERENCE = re.compile(r"\s*\[\d+\]")
_ASKED = re.compile(r"^(?:who|what|which) (?=(?:is|was|are|were|did|has|had|[a-z]+ed|[a-z]+s)\b)", re.IGNORECASE)


def read(path: Path) -> Iterator[Row]:
    for number, line in numbered_lines(path):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise AttributionError(f"{path}, line {number}: {error}") from error
        if not isinstance(row, dict):
            raise AttributionError(f"{path}, line {number}: a row is an object")
        yield row


class Maker:
    """Makes pairs of rows; the same rows and seed make the same pairs."""

    def __init__(self, lexicon: Lexicon, seed: int) -> None:
        self.lexicon, self.dice = lexicon, random.Random(seed)

    def labelled(self, row: Row) -> list[Pair]:
        """A claim that people marked, beside all its evidence, and beside sentences that are not its evidence."""
        dice = self.dice
        if "docs" in row:
            return self._of_documents(row)
        sentences = [str(s) for s in row["sentences"]]
        found = sorted(row["positive_sentence_ids"])
        label = LABELS[str(row["label"]).lower()] if "label" in row else YES
        whole = " ".join(sentences[i].strip() for i in found)
        group, context = str(row.get("query", "")), title_of(row)
        made = [
            Pair(row["query"], whole, label, f"{row['source']} told", context if dice.random() < 0.5 else "", group)
        ]
        made.append(Pair(row["query"], window(sentences, found, dice.randint(40, 150), dice), label,
                         f"{row['source']} window", context if dice.random() < 0.3 else "", group))  # fmt: skip
        if others := nearest(row["query"], sentences, found):
            made.append(Pair(row["query"], sentences[others[0]], NO, f"{row['source']} other", "", group))
        if label == YES and len(whole.split()) < 60:
            made += self.some_changes(made[0], " ".join(sentences), 2)
        return made

    def _of_documents(self, row: Row) -> list[Pair]:
        label = LABELS[row["label"]]
        claim = REFERENCE.sub("", row["claim"])
        if row.get("supporting"):
            return self._of_sentences(row, claim)
        texts = [str(d.get("text") or "") for d in row["docs"]]
        return [
            Pair(claim, text.partition("\n\n")[2] or text, label, f"{row['source']} document", "", str(row["question"]))
            for text in texts[:1]
            if text.strip()
        ]

    def _of_sentences(self, row: Row, claim: str) -> list[Pair]:
        """The claim beside its sentences of the first document that has any, beside a window, and beside another."""
        number = row["supporting"][0][0]
        doc = row["docs"][number]
        sentences = [str(s) for s in doc["sentences"]]
        found = sorted({i for d, i in row["supporting"] if d == number})
        group, context = str(row["question"]), title_of(doc)
        near = window(sentences, found, self.dice.randint(60, 160), self.dice)
        made = [
            Pair(claim, " ".join(sentences[i] for i in found), YES, f"{row['source']} told", context, group),
            Pair(claim, near, YES, f"{row['source']} window", "", group),
        ]
        return made + [
            Pair(claim, sentences[i], NO, f"{row['source']} other", context, group)
            for i in nearest(claim, sentences, found)[:2]
        ]

    def question(self, row: Row) -> list[Pair]:
        """A question beside its answer's sentence, and beside the sentence most like it: what speaks of the same."""
        sentences, found = [str(s) for s in row["sentences"]], sorted(row["positive_sentence_ids"])
        others = nearest(row["query"], sentences, found)
        if not others or not found:
            return []
        asked = str(row["query"]).strip()
        if _ASKED.match(asked) and self.dice.random() < 0.5:
            asked = (
                _ASKED.sub(lambda m: "Someone " if m[0].lower().startswith("who") else "Something ", asked).rstrip(" ?")
                + "."
            )
        context = title_of(row) if self.dice.random() < 0.5 else ""
        return [
            Pair(asked, sentences[self.dice.choice(found)], YES, "question", context),
            Pair(asked, sentences[others[0]], 0.1, "question other", context),
        ]

    def beside(self, claim: str, own: str, others: Sequence[str]) -> list[Pair]:
        """The claim beside the other sentence most like it, which says too little unless it says all its words."""
        best = max(others, key=lambda s: share_found(content_words(claim), content_words(s)))
        if share_found(content_words(claim), content_words(best)) > 0.85:
            return []
        return [Pair(claim, best, NO, "neighbour", own if self.dice.random() < 0.2 else "")]

    def some_changes(self, pair: Pair, passage: str, most: int, title: str = "") -> list[Pair]:
        """Up to so many kinds of change, one after the other on what is still supported."""
        found = changes(pair, f"{passage} {title}", self.lexicon, self.dice)
        return [made for ways in self.dice.sample(found, min(most, len(found))) for made in ways]


def names_of(rows: Sequence[Row]) -> list[str]:
    """The names in the rows' sentences."""
    found = {name for row in rows for text in row.get("sentences", ()) for name in names_in(str(text))}
    return sorted(name for name in found if len(name.split()) <= 3 and name.replace(" ", "").isalpha())


def title_of(row: Row) -> str:
    return str(row.get("title") or "").replace("_", " ")


def nearest(claim: str, sentences: Sequence[str], found: Sequence[int]) -> list[int]:
    """The sentences that are not found, by the words they share with the claim, the most first."""
    wanted = content_words(claim)
    rest = [i for i in range(len(sentences)) if i not in found and len(sentences[i].split()) > 3]
    return sorted(rest, key=lambda i: -share_found(wanted, content_words(sentences[i])))
