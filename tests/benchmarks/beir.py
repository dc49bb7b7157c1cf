"""Passage ranking over BEIR folders: nDCG@10 and recall@100 of BM25 beside the encoder asked in each way.

    python tests/benchmarks/beir.py FOLDER... [--encoder NAME_OR_FOLDER] [--bits 16,8,4,2,1]

A folder holds corpus.jsonl[.gz], queries.jsonl[.gz] and qrels/*.tsv.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bm25s
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from retrieval.encoder import Encoder
from retrieval.index.token_index import TokenIndex
from retrieval.splitter import passage_from_text
from retrieval.text import Granularity

BLOCK = 256

Ranking = dict[str, list[str]]
Judged = dict[str, dict[str, float]]


def lines(folder: Path, name: str) -> Iterator[dict]:
    path = next(folder.glob(f"{name}.jsonl*"))
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    yield from map(json.loads, data.splitlines())


def judgements(folder: Path) -> Judged:
    judged: Judged = defaultdict(dict)
    for line in next(folder.glob("qrels/*.tsv")).read_text("utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        judged[query][document] = float(grade)
    return {query: grades for query, grades in judged.items() if any(g > 0 for g in grades.values())}


def by_bm25(corpus: list[dict], queries: dict[str, str]) -> Ranking:
    index = bm25s.BM25(k1=0.9, b=0.4)
    texts = [f"{d.get('title', '')} {d['text']}" for d in corpus]
    index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
    tokens = bm25s.tokenize(list(queries.values()), stopwords="en", show_progress=False)
    found, _ = index.retrieve(tokens, k=min(100, len(corpus)), show_progress=False)
    return {query: [corpus[i]["_id"] for i in row] for query, row in zip(queries, found.tolist(), strict=True)}


def by_encoder(corpus: list[dict], queries: dict[str, str], encoder: Encoder, bits: list[int]) -> dict[str, Ranking]:
    """The encoder's ways to ask over an index of the first bits; m_q over every index and in every regime."""
    indexes = [TokenIndex(encoder.dimension, encoder.name, bits=b, exact_up_to=0) for b in bits]
    for first in track(range(0, len(corpus), BLOCK), "encoding", transient=True, console=Console(stderr=True)):
        block = corpus[first : first + BLOCK]
        passages = [passage_from_text(d["_id"], d["text"] or d["title"] or ".", d.get("title") or "") for d in block]
        vectors = encoder.encode_passages(passages)
        for index in indexes:
            index.add(passages, vectors)

    def asked(index: TokenIndex, granularity: Granularity = Granularity.PASSAGE, **options: Any) -> Ranking:
        read = encoder.encode_queries(list(queries.values()), granularity)
        return {
            query: [hit.passage_id for hit in index.search(q.vectors, q.weights()[None], k=100, **options)[0]]
            for query, q in zip(queries, read, strict=True)
        }

    rankings = {"m_q": asked(indexes[0], regime="exact")}
    if encoder.knows(Granularity.SENTENCE):
        rankings["m'_q"] = asked(indexes[0], Granularity.SENTENCE, regime="exact")
    if len(bits) > 1:
        for index in indexes:
            name = f"m_q, {index.codec.bits} bits"
            rankings[name] = asked(index, regime="exact")
            with TemporaryDirectory() as folder:
                index.save(Path(folder))
                size = f"{index.stats().bytes_per_token:.0f} bytes a token"
                rankings[f"{name}, tokens, {size}"] = asked(index, regime="tokens")
                rankings[f"{name}, tokens, XTR alone"] = asked(index, regime="tokens", refine=0)
    return rankings


def ndcg(ranked: list[str], grades: dict[str, float], k: int = 10) -> float:
    gained = sum(grades.get(document, 0.0) / math.log2(i + 2) for i, document in enumerate(ranked[:k]))
    ideal = sorted(grades.values(), reverse=True)[:k]
    return gained / sum(grade / math.log2(i + 2) for i, grade in enumerate(ideal))


def recall(ranked: list[str], grades: dict[str, float]) -> float:
    relevant = {document for document, grade in grades.items() if grade > 0}
    return len(relevant & set(ranked)) / len(relevant)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--encoder", default="")
    parser.add_argument("--bits", default="16", help="bits of the index; several are compared: 16,8,4,2,1")
    given = parser.parse_args()
    bits = [int(number) for number in given.bits.split(",")]
    shown = Table("collection", "passages", "queries", "ranked by", "nDCG@10", "recall@100", box=None)
    encoder = Encoder(given.encoder)
    for folder in given.folders:
        corpus, judged = list(lines(folder, "corpus")), judgements(folder)
        queries = {q["_id"]: q["text"] for q in lines(folder, "queries") if q["_id"] in judged}
        ranked = {"BM25": by_bm25(corpus, queries), **by_encoder(corpus, queries, encoder, bits)}
        for name, ranking in ranked.items():
            told = [(ndcg(ranking[q], judged[q]), recall(ranking[q], judged[q])) for q in queries]
            means = (f"{m:.3f}" for m in np.mean(told, axis=0))
            shown.add_row(folder.name, str(len(corpus)), str(len(queries)), name, *means)
    Console(width=120).print(shown)


if __name__ == "__main__":
    main()
