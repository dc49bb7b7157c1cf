"""How well each splitter finds the propositions that people wrote: python tests/benchmarks/propositions.py DATA_FILE...

Rows that the learned splitter was trained on are left out: factscore in a file named train, and all propsegment
sentences but the quarter that training keeps for measuring.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from attribution import metrics
from attribution.propositions import PropositionSplitter
from attribution.propositions.learned import LearnedSplitter
from attribution.propositions.rules import RuleSplitter
from attribution.propositions.training import is_held_out
from retrieval.text import Span

Row = dict[str, Any]
Spans = list[tuple[Span, ...]]
SplitMany = Callable[[Sequence[str]], "list[Spans]"]
MOST_ROWS = 1500  # of one source in one file: enough to choose by, short on two cores


def main(paths: Sequence[str]) -> None:
    splitters: dict[str, SplitMany] = {
        "learned": spans_of(LearnedSplitter()),
        "learned, atomic": spans_of(LearnedSplitter(style="atomic")),
        "learned, span": spans_of(LearnedSplitter(style="span")),
        "rules": spans_of(RuleSplitter()),
        "whole sentence": lambda sentences: [[(Span(0, len(sentence)),)] for sentence in sentences],
        "commas and and": lambda sentences: [at_commas(sentence) for sentence in sentences],
    }
    print("| file | source | rows | splitter | P@.8 | R@.8 | F1@.8 | P exact | R exact | F1 exact | coverage | props"
          " | single left whole | sentences/s of one core |")  # fmt: skip
    print("|" + "---|" * 14)
    for path in paths:
        for source, rows in by_source(path).items():
            gold = [gold_sets(row) for row in rows]
            for name, split in splitters.items():
                print("|", " | ".join([Path(path).name.split(".")[0], source, str(len(rows)), name]), end=" | ")
                print(" | ".join(measured(split, rows, gold)), "|", flush=True)


def by_source(path: str) -> dict[str, list[Row]]:
    """The rows of each source, the pair sets that are for warming up left out."""
    kinds: dict[str, list[Row]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            trained = row["source"] == "factscore" and "train" in path
            if row["source"] == "propsegment":
                trained = not is_held_out(row["sentence"])
            if row["source"] != "wikisplit" and not trained:
                kinds.setdefault(f"{row['source']} {row['style']}", []).append(row)
    return {kind: rows[:: max(1, len(rows) // MOST_ROWS)] for kind, rows in kinds.items()}


def token_spans(row: Row) -> list[Span]:
    """The tokens that gold counts: the set's own where it has them, otherwise the aligner's words."""
    if "tokens" not in row:
        return metrics.word_spans(row["sentence"])
    spans, at = [], 0
    for token in row["tokens"]:
        at = row["sentence"].index(token, at)
        spans.append(Span(at, at + len(token)))
        at += len(token)
    return spans


def gold_sets(row: Row) -> list[list[set[int]]]:
    """Each reference as token sets; only hsplit has several references."""
    if "token_indices" in row:
        return [[set(indices) for indices in row["token_indices"]]]
    references = row.get("all_references") or [row["propositions"]]
    aligned = [[metrics.align(told, row["sentence"]) for told in reference] for reference in references]
    return [[tokens for tokens in reference if tokens] for reference in aligned]


def spans_of(splitter: PropositionSplitter) -> SplitMany:
    def split(sentences: Sequence[str]) -> list[Spans]:
        found = splitter.split_many(sentences, [()] * len(sentences))
        return [[p.spans for p in propositions] for propositions in found]

    return split


def measured(split: SplitMany, rows: Sequence[Row], gold: Sequence[list[list[set[int]]]]) -> list[str]:
    started = time.process_time()
    found = split([row["sentence"] for row in rows])
    speed = len(rows) / (time.process_time() - started)
    close, exact, coverage, single = [], [], [], []
    for row, spans, references in zip(rows, found, gold, strict=True):
        tokens = token_spans(row)
        predicted = [metrics.tokens_within(tokens, told) for told in spans]
        at_eight = [metrics.agreement(predicted, reference) for reference in references]
        best = max(range(len(references)), key=lambda i: at_eight[i].f1)
        close.append(at_eight[best])
        exact.append(metrics.agreement(predicted, references[best], threshold=1.0))
        coverage.append(metrics.token_coverage(predicted, references[best]))
        if all(len(reference) == 1 for reference in references):
            single.append(len(spans) == 1)
    figures = [f"{100 * x:.1f}" for total in (metrics.macro(close), metrics.macro(exact))
               for x in (total.precision, total.recall, total.f1)]  # fmt: skip
    figures.append(f"{100 * sum(coverage) / len(coverage):.1f}")
    figures.append(f"{sum(map(len, found)) / len(found):.2f}")
    return [*figures, f"{sum(single)}/{len(single)}", f"{speed:,.0f}"]


def at_commas(sentence: str) -> Spans:
    """The naive splitter: a piece for each stretch between commas, semicolons and `and`."""
    pieces: Spans = []
    at = 0
    for cut in [*re.finditer(r"\s*[,;]\s*(?:and\s)?|\sand\s", sentence), None]:
        span = Span(at, cut.start() if cut else len(sentence)).trimmed(sentence)
        if span:
            pieces.append((span,))
        at = cut.end() if cut else at
    return pieces


if __name__ == "__main__":
    main(sys.argv[1:])
