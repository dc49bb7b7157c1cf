"""Sentence ranking inside a passage: `propcite rank` beside BM25, a source, in one command.

    python tests/benchmarks/rank.py RANK_FILE.jsonl[.gz] [--limit ROWS_A_SOURCE]

BM25 (bm25s, Lucene variant, k1 1.2, b 0.75) takes its document frequencies from all sentences of the file.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import bm25s
import numpy as np

MEASURES = ("P@1", "R@5", "MRR")


def read(path: str, limit: int) -> list[dict]:
    text = gzip.decompress(Path(path).read_bytes()) if path.endswith(".gz") else Path(path).read_bytes()
    taken: dict[str, int] = defaultdict(int)
    rows = []
    for row in map(json.loads, text.splitlines()):
        taken[row["source"]] += 1
        if not limit or taken[row["source"]] <= limit:
            rows.append(row)
    return rows


def propcite_scores(rows: list[dict]) -> list[list[float]]:
    """Through the command, as a user would."""
    lines = "".join(json.dumps({k: row.get(k) or "" for k in ("query", "title", "sentences")}) + "\n" for row in rows)
    command = [sys.executable, "-m", "app.cli", "rank"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line)["scores"] for line in done.stdout.splitlines()]


def bm25_scores(rows: list[dict]) -> list[list[float]]:
    sentences = [sentence for row in rows for sentence in row["sentences"]]
    index = bm25s.BM25(k1=1.2, b=0.75)
    index.index(bm25s.tokenize(sentences, stopwords="en", show_progress=False), show_progress=False)
    vocabulary = index.vocab_dict
    scores, start = [], 0
    for row in rows:
        end = start + len(row["sentences"])
        words = bm25s.tokenize([row["query"]], stopwords="en", return_ids=False, show_progress=False)[0]
        known = [w for w in words if w in vocabulary]
        found = index.get_scores(known)[start:end] if known else np.zeros(end - start)
        scores.append(found.tolist())
        start = end
    return scores


def measures(scores: list[float], positives: set[int]) -> tuple[float, float, float]:
    order = np.argsort(-np.asarray(scores), kind="stable")
    first = next(rank for rank, sentence in enumerate(order, start=1) if int(sentence) in positives)
    found = sum(int(sentence) in positives for sentence in order[:5])
    return float(first == 1), found / min(5, len(positives)), 1.0 / first


def table(rows: list[dict], named: dict[str, list[list[float]]]) -> None:
    sources = sorted({row["source"] for row in rows})
    header = f"{'source':24}{'rows':>6}" + "".join(f"{f'{name} {m}':>16}" for name in named for m in MEASURES)
    print(header)
    columns = []
    for source in sources:
        chosen = [i for i, row in enumerate(rows) if row["source"] == source]
        values = [
            100 * np.mean([measures(scores[i], set(rows[i]["positive_sentence_ids"])) for i in chosen], axis=0)
            for scores in named.values()
        ]
        columns.append(np.concatenate(values))
        print(f"{source:24}{len(chosen):>6}" + "".join(f"{v:>16.1f}" for v in columns[-1]))
    print(f"{'mean of sources':24}{len(rows):>6}" + "".join(f"{v:>16.1f}" for v in np.mean(columns, axis=0)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--limit", type=int, default=0, help="rows a source; 0: all")
    given = parser.parse_args()
    rows = [r for r in read(given.file, given.limit) if r["positive_sentence_ids"]]
    named = {"BM25": bm25_scores(rows), "propcite": propcite_scores(rows)}
    table(rows, named)


if __name__ == "__main__":
    main()
