"""Speed of encoding by batch size on this processor: so many texts, or so many tokens as the encoder does it.

    python -m tests.benchmarks.batches rank_dev.jsonl.gz [--texts 256] [--rounds 3] [--threads 2] [--sizes 0,4,8,16]

Passages are encoded in groups of 64, as in `propcite ingest`, queries all at once.  The sizes take turns, so that other
work on the machine affects all of them alike; the median of the rounds counts.  Size 0 means by tokens.
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

GROUP, SENTENCES = 64, 8  # passages encoded together; sentences used of a row
NUM_SINGLE = 64  # queries encoded one by one


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
    parser.add_argument("--sizes", default="16,0,4,8,32,64", help="the first is the baseline of the ratios")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with gzip.open(options.file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    rows = random.Random(0).sample(rows, min(len(rows), options.texts))
    passages = [passage_from_sentences("", row["sentences"][:SENTENCES], str(row.get("title") or "")) for row in rows]
    queries = [row["query"] for row in rows]
    single = queries[:NUM_SINGLE]
    encoders = {int(n): Encoder(batch_size=int(n), precision=options.precision) for n in options.sizes.split(",")}
    total = sum(map(len, next(iter(encoders.values())).encode_passages(passages)))
    spent: dict[int, list[tuple[float, ...]]] = {size: [] for size in encoders}
    for _ in range(options.rounds):
        for size, encoder in encoders.items():
            passage_time = seconds(
                lambda e=encoder: [e.encode_passages(passages[i : i + GROUP]) for i in range(0, len(passages), GROUP)]
            )
            query_time = seconds(lambda e=encoder: e.encode_queries(queries, Granularity.SENTENCE))
            single_time = seconds(lambda e=encoder: [e.encode_queries([q], Granularity.SENTENCE) for q in single])
            spent[size].append((passage_time, query_time, single_time / len(single)))
    conditions = f"{options.threads} thread(s), {options.precision}, {options.rounds} rounds"
    print(f"{len(rows)} passages, {total} tokens, {conditions}")
    print("\n| texts at once | passages, tokens/s | ratio | all queries, ms | ratio | one query, ms |")
    print("|---|---:|---:|---:|---:|---:|")
    medians = {size: [statistics.median(times) for times in zip(*rows, strict=True)] for size, rows in spent.items()}
    first = next(iter(medians.values()))
    for size, (passage_time, query_time, single_time) in medians.items():
        passage_cells = f"{total / passage_time:,.0f} | {first[0] / passage_time:.2f}"
        query_cells = f"{query_time * 1e3:.0f} | {first[1] / query_time:.2f} | {single_time * 1e3:.1f}"
        print(f"| {size or 'by tokens'} | {passage_cells} | {query_cells} |")


if __name__ == "__main__":
    main()
