"""How often a search finds the one passage of many that has a rare name, number or code, and what it costs.

    python -m tests.benchmarks.planted [--passages N] [--facts N] [--encoder small|default]

Every passage has a name, a number and a code of its own, in sentences that are otherwise alike.  Questions name one of
them.  `small` is an encoder without a network, for a million passages; `default` is the bundled one.  A search is by
vectors, by words or by both; found first: the sentence with the words is at rank 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from planted_facts import KINDS, Planted, SmallEncoder, passages, planted

from propcite.retrieval.encoding.base import TextEncoder
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Passage, Span
from propcite.retrieval.words.query import WAYS

BATCH = 2_000  # passages encoded at once
BITS = 8
NUM_HITS = 10
CLAIM = "claim"  # a sentence that is searched as evidence of a claim
UNITS = ("passage", "sentence", CLAIM)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--facts", type=int, default=150)
    parser.add_argument("--encoder", choices=("small", "default"), default="small")
    options = parser.parse_args()
    encoder: TextEncoder = SmallEncoder() if options.encoder == "small" else Encoder()
    with TemporaryDirectory() as folder:
        started = time.process_time()
        index = _built(encoder, options.passages, Path(folder))
        stats = index.stats()
        print(
            f"{stats.passages:,} passages, {stats.tokens:,} tokens, {stats.bytes / 2**20:,.0f} MiB, regime"
            f" {stats.regime}, built in {time.process_time() - started:,.0f} s of CPU",
            flush=True,
        )
        facts = planted(options.passages, options.facts)
        _measure(encoder, index, facts)


def _built(encoder: TextEncoder, number: int, folder: Path) -> TokenIndex:
    index = TokenIndex(encoder.dimension, encoder.name, bits=BITS)
    coming = passages(number)
    while batch := list(islice(coming, BATCH)):
        index.add(batch, encoder.encode_passages(batch))
    index.save(folder)
    return TokenIndex.load(folder)


def _measure(encoder: TextEncoder, index: TokenIndex, facts: Sequence[Planted]) -> None:
    columns = [f"first, {kind}" for kind in KINDS]
    print(f"{'found':10} {'way':8} " + " ".join(f"{c:>14}" for c in [*columns, "first, all", "in ten", "CPU ms"]))
    for unit in UNITS:
        for way in WAYS:
            retriever = Retriever(encoder, index, _passages, way=way)
            _rank(retriever, facts[0], unit)  # loads what is loaded once
            started = time.process_time()
            ranks = [_rank(retriever, fact, unit) for fact in facts]
            spent = 1000 * (time.process_time() - started) / len(facts)
            first = [rank == 1 for rank in ranks]
            by_kind = [[is_first for is_first, fact in zip(first, facts, strict=True) if fact.kind == k] for k in KINDS]
            shares = [_share(found) for found in (*by_kind, first, [rank > 0 for rank in ranks])]
            figures = " ".join(f"{share:14.1%}" for share in shares)
            print(f"{unit:10} {way:8} {figures} {spent:14.1f}", flush=True)


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found) if found else 0.0


def _rank(retriever: Retriever, fact: Planted, unit: str) -> int:
    """Return the rank of the unit with a fact's words; 0 where it is not found."""
    if unit == CLAIM:
        whole = [(Span(0, len(fact.question)),)]
        hits = retriever.search_spans([fact.question], [whole], NUM_HITS)[0][0]
    else:
        hits = retriever.search(fact.question, Granularity(unit), NUM_HITS)
    return next((rank for rank, hit in enumerate(hits, start=1) if fact.words in hit.text), 0)


def _passages(ids: Sequence[str]) -> Mapping[str, Passage]:
    """Return passages by id, written again: a million of them would fill the memory."""
    return {id_: passage for id_ in ids for passage in passages(int(id_[1:]) + 1, first=int(id_[1:]))}


if __name__ == "__main__":
    main()
