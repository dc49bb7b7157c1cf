"""How many texts should be read at once on this processor?  By number, and by their tokens as the encoder does it.

    python -m tests.benchmarks.batches rank_dev.jsonl.gz [--texts 256] [--rounds 3] [--threads 2] [--sizes 0,4,8,16]

Passages go to the encoder in groups of 64, as `propcite ingest` sends them, queries all at once; the sizes take turns,
so that other work on the machine meets all of them; the median of the rounds counts.  0: by tokens.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch

from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.splitter import passage_from_sentences
from propcite.retrieval.text import Granularity

GROUP, SENTENCES = 64, 8  # passages sent together; sentences of a row that are read
ALONE = 64  # queries that are asked one by one


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--texts", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--sizes", default="16,0,4,8,32,64", help="the first is what the others are compared with")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    with gzip.open(given.file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    rows = random.Random(0).sample(rows, min(len(rows), given.texts))
    passages = [passage_from_sentences("", row["sentences"][:SENTENCES], str(row.get("title") or "")) for row in rows]
    queries = [row["query"] for row in rows]
    encoders = {int(n): Encoder(batch_size=int(n), precision=given.precision) for n in given.sizes.split(",")}
    total = sum(map(len, next(iter(encoders.values())).encode_passages(passages)))
    spent: dict[int, list[tuple[float, ...]]] = {size: [] for size in encoders}
    for _ in range(given.rounds):
        for size, encoder in encoders.items():
            passage_time = seconds(
                lambda e=encoder: [e.encode_passages(passages[i : i + GROUP]) for i in range(0, len(passages), GROUP)]
            )
            asking = seconds(lambda e=encoder: e.encode_queries(queries, Granularity.SENTENCE))
            one = seconds(lambda e=encoder: [e.encode_queries([q], Granularity.SENTENCE) for q in queries[:ALONE]])
            spent[size].append((passage_time, asking, one / min(ALONE, len(queries))))
    print(f"{len(rows)} passages, {total} tokens, {given.threads} thread(s), {given.precision}, {given.rounds} rounds")
    print("\n| texts at once | passages, tokens/s | ratio | all queries, ms | ratio | one query, ms |")
    print("|---|---:|---:|---:|---:|---:|")
    medians = {size: [statistics.median(times) for times in zip(*held, strict=True)] for size, held in spent.items()}
    first = next(iter(medians.values()))
    for size, (reading, asking, one) in medians.items():
        passages_told = f"{total / reading:,.0f} | {first[0] / reading:.2f}"
        queries_told = f"{asking * 1e3:.0f} | {first[1] / asking:.2f} | {one * 1e3:.1f}"
        print(f"| {size or 'by tokens'} | {passages_told} | {queries_told} |")


if __name__ == "__main__":
    main()
