"""`propcite eval tokens`: what queries retrieve, and rankings by it, beside plain sums over all tokens."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commanded import Propcite
from test_evaluate_layouts import PASSAGES, beir, figures, write

from propcite.app.lab.ranking import token_retrieval
from propcite.app.lab.ranking.token_retrieval import IMPUTED, Retrieved
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Passage

QUESTION = "How many steel gates has the barrier?"
NUMBER = 7


@pytest.fixture(scope="module")
def index(encoder: Any) -> TokenIndex:
    """Return an index of two segments with exact vectors."""
    index = TokenIndex(encoder.dimension, encoder.name, bits=16)
    for first in (0, 2):
        passages = [Passage(f"d{n}", text) for n, text in enumerate(PASSAGES[first : first + 2], first)]
        index.add(passages, encoder.encode_passages(passages))
    return index


def brute(index: TokenIndex, query: Any, number: int, imputed: str) -> dict[str, float]:
    """Return the score of each passage that has a retrieved token."""
    ids = sorted(index.ids())
    by_passage = [query.vectors @ index.vectors(id_).vectors.T for id_ in ids]
    everything = np.sort(np.concatenate(by_passage, axis=1), axis=1)[:, ::-1]
    floors = everything[:, number - 1]
    scores = {}
    for id_, similarities in zip(ids, by_passage, strict=True):
        total = weight = 0.0
        for n, row in enumerate(similarities):
            retrieved = row[row >= floors[n]]
            fill = {"floor": floors[n], "zero": 0.0, "mean": everything[n, :number].mean(), "none": 0.0, "0.2": 0.2}
            value = retrieved.max() if len(retrieved) else fill[imputed]
            counted = imputed != "none" or len(retrieved) > 0
            total, weight = total + value * query.weights()[n], weight + counted * query.weights()[n]
        if any((row >= floors[n]).any() for n, row in enumerate(similarities)):
            scores[id_] = total / weight
    return scores


def test_doctests() -> None:
    assert doctest.testmod(token_retrieval).failed == 0


@pytest.mark.parametrize("imputed", [*IMPUTED, "0.2"])
def test_a_ranking_is_that_of_plain_sums(encoder: Any, index: TokenIndex, imputed: str) -> None:
    [query] = encoder.encode_queries([QUESTION])
    ranking = Retrieved.of(index, query, NUMBER).ranking(query.weights(), imputed)
    scores = brute(index, query, NUMBER, imputed)
    assert ranking == sorted(scores, key=lambda id_: -scores[id_])


def test_all_tokens_retrieved_are_the_sums_of_nearest_tokens(encoder: Any, index: TokenIndex) -> None:
    [query] = encoder.encode_queries([QUESTION])
    whole = Retrieved.of(index, query, 10_000).ranking(query.weights(), "floor")
    hits = index.search(query.vectors, query.weights()[None], k=3, regime="exact")[0]
    assert whole == [hit.passage_id for hit in hits]


def test_the_rates_of_the_first_tokens(encoder: Any, index: TokenIndex) -> None:
    [query] = encoder.encode_queries(["steel gates"])
    rates = Retrieved.of(index, query, NUMBER).rates(query, {"d0"})
    assert rates.keys() == {"gold@1", "lexical@1"}  # seven are too few for the first ten
    assert rates["gold@1"] == rates["lexical@1"] == 1.0
    assert Retrieved.of(index, query, NUMBER).rates(query, {"d2"})["gold@1"] == 0.0


def test_the_command_measures_rates_and_rankings(propcite: Propcite, tmp_path: Path) -> None:
    arguments = ("--retrieved", "5", "--retrieved", "10", "--impute", "floor", "--impute", "0.2", "--format", "jsonl")
    said = propcite("eval", "tokens", beir(tmp_path / "one"), *arguments)
    assert {row["way"] for row in said.rows} == {
        "retrieved tokens",
        *(f"k' {number}, {how}" for number in (5, 10) for how in ("floor", "0.2")),
    }
    assert {"gold@1", "gold@10", "lexical@1", "nDCG@10", "RR@10", "R@100"} <= figures(said).keys()
    both = propcite("eval", "tokens", beir(tmp_path / "one"), beir(tmp_path / "two"), *arguments)
    assert {"one", "two", "mean"} <= {row["of"] for row in both.rows}


@pytest.mark.parametrize("value", ["most", "2", "nan"])
def test_an_unknown_value_is_one_line(propcite: Propcite, tmp_path: Path, value: str) -> None:
    said = propcite("eval", "tokens", beir(tmp_path / "one"), "--impute", value)
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert f"--impute {value}: give floor, zero, mean, none or a number from -1 to 1" in said.err


def test_answers_are_no_judgements(propcite: Propcite, tmp_path: Path) -> None:
    write(tmp_path / "wiki" / "psgs_w100.tsv", "id\ttext\ttitle", f"1\t{PASSAGES[0]}\tPort")
    write(tmp_path / "wiki" / "nq-test.qa.csv", "how many steel gates\t['fourteen']")
    said = propcite("eval", "tokens", tmp_path / "wiki")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "wiki-nq-test has answers and no judged passages" in said.err
