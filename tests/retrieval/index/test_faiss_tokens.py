"""FAISS returns as many tokens as it is asked for, also where its quantised search leaves some out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small_passages import encoded_passage

from propcite.retrieval.index.token_index import TokenIndex

pytest.importorskip("faiss")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("num_distinct", [1, 3])
@pytest.mark.parametrize("allow", [None, {"p3", "p7"}])
def test_repeated_vectors_are_all_found(tmp_path: Path, seed: int, num_distinct: int, allow: set[str] | None) -> None:
    random = np.random.default_rng(seed)
    distinct = random.integers(-8, 9, (num_distinct, 3)) / 8
    vectors = distinct[random.integers(0, num_distinct, 48)].reshape(12, 4, 3)
    passages = [encoded_passage(f"p{n}", vectors[n].tolist(), [0, 1, 2, 3], [4]) for n in range(12)]
    index = TokenIndex(3, "made-up", bits=16, regime="faiss")
    index.add([p.passage for p in passages], [p.tokens for p in passages])
    index.save(tmp_path)
    query = vectors[3, :1].astype(np.float32)
    options = {"k": 12, "refine": 12, "num_retrieved": 100, "allow": allow}
    [hits] = index.search(query, np.ones((1, 1), np.float32), regime="faiss", **options)
    assert {hit.passage_id for hit in hits} == (allow or {p.passage.id for p in passages})
