"""Sentence ranking inside a passage: the ways to do it side by side, a source a row, from one encoding of passages.

    python tests/benchmarks/rank.py RANK_FILE.jsonl[.gz] [--limit ROWS_A_SOURCE] [--encoder NAME_OR_FOLDER] [--alone]

BM25 (bm25s, Lucene variant, k1 1.2, b 0.75) takes its document frequencies from all sentences of the file.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import bm25s
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from retrieval.encoder import Encoder, TokenVectors
from retrieval.granularity import score_units
from retrieval.splitter import passage_from_sentences
from retrieval.text import Granularity, Passage

MEASURES = ("P@1", "R@5", "MRR")
BLOCK = 256  # passages encoded together

Scores = list[float]


def read(path: str, limit: int) -> list[dict]:
    text = gzip.decompress(Path(path).read_bytes()) if path.endswith(".gz") else Path(path).read_bytes()
    taken: dict[str, int] = defaultdict(int)
    rows = []
    for row in map(json.loads, text.splitlines()):
        taken[row["source"]] += 1
        if row["positive_sentence_ids"] and (not limit or taken[row["source"]] <= limit):
            rows.append(row)
    return rows


def bm25_scores(rows: list[dict]) -> list[Scores]:
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


def encoder_scores(rows: list[dict], encoder: Encoder) -> dict[str, list[Scores]]:
    """Every way to ask, over the same passage vectors."""
    ways = ways_to_ask(encoder, [row["query"] for row in rows])
    found: dict[str, list[Scores]] = {name: [[] for _ in rows] for name in ways}
    for numbers, passages in blocks(rows):
        for asking, passage, tokens in zip(numbers, passages, encoder.encode_passages(passages), strict=True):
            units = [(s.span,) for s in passage.sentences]
            for number in asking:
                for name, asked in ways.items():
                    query = asked[number]
                    found[name][number] = score_units(query.vectors, query.weights(), tokens, units).tolist()
    return found


def alone_scores(rows: list[dict], encoder: Encoder) -> dict[str, list[Scores]]:
    """Every sentence encoded by itself: all its token vectors, and one vector."""
    queries = encoder.encode_queries([row["query"] for row in rows])
    many: list[Scores] = [[] for _ in rows]
    one: list[Scores] = [[] for _ in rows]
    for numbers, passages in blocks(rows):
        for asking, passage in zip(numbers, passages, strict=True):
            lone = encoder.encode_passages([Passage("", s.span.of(passage.text)) for s in passage.sentences])
            means = np.stack([mean(t) for t in lone])
            for number in asking:
                query = queries[number]
                many[number] = [float(query.weights() @ (query.vectors @ t.vectors.T).max(axis=1)) for t in lone]
                one[number] = (means @ mean(query)).tolist()
    return {"sentences encoded alone": many, "single-vector": one}


def blocks(rows: list[dict]) -> Iterator[tuple[list[list[int]], list[Passage]]]:
    """Passages to be encoded together, each with the numbers of the rows that ask it."""
    asking: dict[tuple, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        asking[row.get("title") or "", tuple(row["sentences"])].append(number)
    keys = list(asking)
    for first in track(range(0, len(keys), BLOCK), "encoding", transient=True, console=Console(stderr=True)):
        block = keys[first : first + BLOCK]
        passages = [passage_from_sentences("", list(sentences), title) for title, sentences in block]
        yield [asking[key] for key in block], passages


def ways_to_ask(encoder: Encoder, queries: Sequence[str]) -> dict[str, list[TokenVectors]]:
    ways = {"m_q": encoder.encode_queries(queries)}
    if encoder.knows(Granularity.SENTENCE):
        sentence = encoder.encode_queries(queries, Granularity.SENTENCE)
        ways["m'_q without salience"] = [TokenVectors(t.vectors, t.offsets) for t in sentence]
        ways["m'_q"] = sentence
    if encoder.knows(Granularity.PROPOSITION):
        ways["m''_q (propositions')"] = encoder.encode_queries(queries, Granularity.PROPOSITION)
    return ways


def mean(tokens: TokenVectors) -> np.ndarray:
    """The mean of the unit token vectors, as unit vector: nearly the base's own sentence embedding."""
    vector = tokens.vectors.mean(axis=0)
    return vector / max(float(np.linalg.norm(vector)), 1e-9)


def measures(scores: Scores, positives: set[int]) -> tuple[float, float, float]:
    order = np.argsort(-np.asarray(scores), kind="stable")
    first = next(rank for rank, sentence in enumerate(order, start=1) if int(sentence) in positives)
    found = sum(int(sentence) in positives for sentence in order[:5])
    return float(first == 1), found / min(5, len(positives)), 1.0 / first


def table(rows: list[dict], named: dict[str, list[Scores]]) -> Table:
    """A way a row, a source a column: P@1 of each, then the means over sources."""
    sources = sorted({row["source"] for row in rows})
    shown = Table("", *sources, *(f"mean {m}" for m in MEASURES), box=None)
    chosen = [[i for i, row in enumerate(rows) if row["source"] == source] for source in sources]
    shown.add_row("rows", *(str(len(c)) for c in chosen))
    for name, scores in named.items():
        told = [measures(scores[i], set(rows[i]["positive_sentence_ids"])) for i in range(len(rows))]
        by_source = [100 * np.mean([told[i] for i in c], axis=0) for c in chosen]
        shown.add_row(name, *(f"{m[0]:.1f}" for m in by_source), *(f"{m:.1f}" for m in np.mean(by_source, axis=0)))
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--limit", type=int, default=0, help="rows a source; 0: all")
    parser.add_argument("--encoder", default="", help="a folder or name; the default encoder otherwise")
    parser.add_argument("--alone", action="store_true", help="also with every sentence encoded by itself")
    given = parser.parse_args()
    rows = read(given.file, given.limit)
    encoder = Encoder(given.encoder)
    named = {"BM25": bm25_scores(rows), **encoder_scores(rows, encoder)}
    if given.alone:
        named |= alone_scores(rows, encoder)
    Console(width=200).print(table(rows, named))


if __name__ == "__main__":
    main()
