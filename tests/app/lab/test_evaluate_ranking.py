"""`propcite eval beir` and `sentences`: commands over small files, with figures checked by hand."""

from __future__ import annotations

import doctest
import gzip
import json
import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commanded import Propcite, Said

from propcite.app.lab.citing import answers
from propcite.app.lab.ranking import fact_rows, relevance, sentences
from propcite.app.lab.ranking.encoders import LoadedEncoders, RankingConfig
from propcite.app.lab.ranking.rank_rows import read_rank_rows
from propcite.app.lab.runs import inputs, text_tables
from propcite.app.lab.runs.runner import Pending
from propcite.app.library.store import RunItem
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.extras import install_command
from propcite.retrieval.index.manifest import MANIFEST_FILE
from propcite.retrieval.text import Passage

CORPUS = [
    {"_id": "gates", "title": "Barrier", "text": "The tidal barrier has fourteen steel gates."},
    {"_id": "cost", "title": "Barrier", "text": "The barrier cost 410 million euros. Divers checked it."},
    {"_id": "terns", "title": "", "text": "Terns breed on the gravel roof of the warehouse."},
    {"_id": "empty", "title": "", "text": ""},
]
QUERIES = [
    {"_id": "q1", "text": "How many steel gates?"},
    {"_id": "q2", "text": "What did divers check?"},
    {"_id": "q3", "text": "Xylophone?"},
    {"_id": "unjudged", "text": "Who sings?"},
]
QRELS = ["query-id\tcorpus-id\tscore", "q1\tgates\t2", "q1\tterns\t1", "q2\tcost\t1", "q2\tterns\t0", "q3\tterns\t1"]


RARE = [
    "The barrier of the harbour holds back the sea.",
    "The gates of the barrier of the harbour shine.",
    "Of the zinc in the mine nothing is left.",
    "Lead and copper melt early.",
    "The barrier of the river was built in the spring of the year.",
]


def figures(result: Said, way: str, of: str = "") -> dict[str, float]:
    return {row["measure"]: row["value"] for row in result.rows if (row["way"], row["of"]) == (way, of)}


def lines(path: Path, rows: Sequence[object]) -> Path:
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, "utf-8")
    return path


def beir(folder: Path, corpus: Sequence[Any] = CORPUS, queries: Sequence[Any] = QUERIES, qrels: Any = QRELS) -> Path:
    lines(folder / "corpus.jsonl.gz", corpus)
    lines(folder / "queries.jsonl", queries)
    lines(folder / "qrels" / "test.tsv", qrels)
    return folder


def stored_items() -> list[RunItem]:
    """Return the items of the newest run."""
    parts = Parts(load_settings())
    items = list(parts.runs.items(parts.runs.run("last").id))
    parts.library.close()
    return items


def error_line(result: Said) -> str:
    assert (result.code, result.out) == (2, ""), result
    assert result.err.count("\n") == 1, result.err
    return result.err


def test_doctests() -> None:
    for module in (answers, fact_rows, inputs, relevance, text_tables):
        assert doctest.testmod(module).failed == 0


# Passages


def test_bm25_figures_of_passages_by_hand(propcite: Propcite, tmp_path: Path) -> None:
    result = propcite("eval", "beir", beir(tmp_path / "small"), "--way", "bm25", "--format", "jsonl")
    assert result.code == 0, result.err
    values = figures(result, "bm25")
    # q1 finds gates (2) alone and misses terns (1), q2 finds cost, q3 finds nothing
    best = (2 / math.log2(2)) / (2 / math.log2(2) + 1 / math.log2(3))
    assert values["nDCG@10"] == pytest.approx((best + 1 + 0) / 3, abs=1e-6)
    assert values["R@5"] == values["R@100"] == pytest.approx((0.5 + 1 + 0) / 3, abs=1e-6)
    assert values["RR@10"] == values["P@1"] == values["Success@5"] == pytest.approx(2 / 3, abs=1e-6)
    q1 = next(item for item in stored_items() if item.key == "q1")
    assert (q1.output["ranking"], q1.output["found"]) == (["gates"], {"gates": 1})
    assert q1.cost.keys() == {"seconds", "cpu_seconds"}


def test_each_way_has_a_row_with_intervals(propcite: Propcite, tmp_path: Path) -> None:
    result = propcite("eval", "beir", beir(tmp_path / "small"))
    rows = {line.split()[0] for line in result.out.splitlines() if line}
    assert {"bm25", "m_q", "both", "words", "exact", "m'_q", "m''_q"} < rows
    assert "P@1 (n 3)" in result.out
    assert "[" in result.out
    assert "CPU seconds" in result.out
    by_way = {item.way: item.measures for item in stored_items() if item.key == "q1"}
    assert by_way["m_q"] == by_way["exact"]
    assert by_way["m_q"]["R@100"] == 1.0  # an encoder ranks all passages
    parts = Parts(load_settings())
    run = parts.runs.run("last")
    assert (run.kind, run.name, run.state, run.num_items) == ("beir", "small", "done", 21)
    assert run.about["models"]["encoder"]["sha256"]
    assert run.settings["precision"] == parts.encoder.precision != "auto"
    assert set(run.settings["files"]) == {"corpus", "queries", "qrels"}
    parts.library.close()


def test_idf_weights_equal_a_slow_reference(propcite: Propcite, tmp_path: Path, encoder: Encoder) -> None:
    corpus = [{"_id": f"d{i}", "text": text} for i, text in enumerate(RARE)]
    queries = [{"_id": "q", "text": "zinc of the barrier of the sea"}]
    folder = beir(tmp_path / "rare", corpus, queries, ["q\td0\t1"])
    result = propcite("eval", "beir", folder, "--way", "idf", "--way", "exact", "--bits", "16")
    assert result.code == 0, result.err
    passages = encoder.encode_passages([Passage(f"d{i}", text) for i, text in enumerate(RARE)])
    (query,) = encoder.encode_queries(["zinc of the barrier of the sea"])

    def rarity(word: int) -> float:
        seen = sum(word in tokens.ids.tolist() for tokens in passages)
        return math.sqrt(math.log(1 + (len(RARE) - seen + 0.5) / (seen + 0.5)))

    ids, starts = query.ids.tolist(), query.offsets[:, 0].tolist()
    weights = [1.0 if start < 0 else rarity(word) for word, start in zip(ids, starts, strict=True)]
    assert len({round(weight, 4) for weight in weights}) > 2
    scores = [float(np.dot(weights, (query.vectors @ tokens.vectors.T).max(axis=1))) for tokens in passages]
    slow = [f"d{i}" for i in sorted(range(len(RARE)), key=lambda i: -scores[i])]
    ranked = {item.way: item.output["ranking"] for item in stored_items()}
    assert ranked["idf, 16 bits"] == slow != ranked["exact, 16 bits"]


def test_passages_are_encoded_once(
    propcite: Propcite, tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = beir(tmp_path / "small")
    first = propcite("eval", "beir", folder, "--way", "m_q", "--format", "jsonl")
    monkeypatch.setattr(encoder, "encode_passages", lambda _: pytest.fail("encoded again"))
    again = propcite("eval", "beir", folder, "--way", "m_q", "--way", "xtr", "--format", "jsonl")
    assert again.code == 0, again.err
    assert figures(again, "m_q")["nDCG@10"] == figures(first, "m_q")["nDCG@10"]
    assert "xtr" in again.out


def test_encoders_and_bits_are_compared_in_one_run(propcite: Propcite, tmp_path: Path) -> None:
    options = ("--way", "m_q", "--encoder", "minilm", "--bits", "16", "--bits", "1", "--limit", "1", "--offset", "1")
    result = propcite("eval", "beir", beir(tmp_path / "small"), *options)
    assert result.code == 0, result.err
    assert [(item.key, item.way) for item in stored_items()] == [
        ("q2", "m_q, 16 bits, minilm"),
        ("q2", "m_q, 1 bits, minilm"),
    ]
    refusal = error_line(propcite("eval", "beir", tmp_path / "small", "--way", "m'_q", "--encoder", "minilm"))
    assert "no marker for m'_q" in refusal


def test_not_itself_leaves_out_the_passage_with_the_query_s_id(propcite: Propcite, tmp_path: Path) -> None:
    queries = [{"_id": "gates", "text": "fourteen steel gates"}]
    folder = beir(tmp_path / "small", queries=queries, qrels=["gates\tcost\t1"])
    propcite("eval", "beir", folder, "--way", "bm25", "--way", "m_q")
    assert stored_items()[0].output["ranking"][0] == "gates"
    propcite("eval", "beir", folder, "--way", "bm25", "--way", "m_q", "--not-itself")
    assert all("gates" not in item.output["ranking"] for item in stored_items())


def test_not_itself_still_ranks_a_hundred_other_passages(propcite: Propcite, tmp_path: Path) -> None:
    """The query's own passage is the nearest; the relevant one is the hundredth of the others."""
    gates = [
        {"_id": f"g{n:03}", "title": "", "text": "Gates of steel." + " Boats pass." * (n > 99)} for n in range(101)
    ]
    queries = [{"_id": "g000", "text": "gates of steel"}]
    folder = beir(tmp_path / "small", corpus=gates, queries=queries, qrels=["g000\tg100\t1"])
    result = propcite("eval", "beir", folder, "--way", "bm25", "--not-itself", "--format", "jsonl")
    assert figures(result, "bm25")["R@100"] == 1.0


def test_the_split_can_be_named(propcite: Propcite, tmp_path: Path) -> None:
    folder = beir(tmp_path / "small")
    (folder / "qrels" / "test.tsv").rename(folder / "qrels" / "dev.tsv")
    assert propcite("eval", "beir", folder, "--way", "bm25").code == 0
    lines(folder / "qrels" / "train.tsv", ["q2\tcost\t1"])
    assert "has the splits dev, train: name one with --split" in error_line(propcite("eval", "beir", folder))
    propcite("eval", "beir", folder, "--way", "bm25", "--split", "train")
    assert [item.key for item in stored_items()] == ["q2"]


BAD_BEIR = [
    ({"corpus": ["{"]}, "corpus.jsonl.gz, line 1: a row is"),
    ({"corpus": [{"_id": 1, "text": "a"}]}, "the _id 1 is not a text"),
    ({"corpus": [CORPUS[0], CORPUS[0]]}, "line 2: the _id 'gates' is there twice"),
    ({"corpus": [{"_id": "a", "text": None}]}, "text is null, not a text"),
    ({"queries": [QUERIES[0], QUERIES[0]]}, "queries.jsonl, line 2: the _id 'q1' is there twice"),
    ({"qrels": ["q9\tgates\t1"]}, "test.tsv, line 1: there is no query 'q9'"),
    ({"qrels": ["q1\tboats\t1"]}, "there is no document 'boats'"),
    ({"qrels": ["q1\tgates\t1", "q1\tgates\t0"]}, "judges document 'gates' twice"),
    ({"qrels": ["q1\tgates\t0"]}, "has no relevant document for any query"),
    ({"qrels": ["query-id\tcorpus-id\tscore"]}, "has no relevant document for any query"),
    ({"qrels": ["q1 gates 1"]}, "line 1: a line is a query's id"),
    ({"qrels": ["a\tb\tscore", "q1\tgates\thigh"]}, "line 2: a line is a query's id"),
]


@pytest.mark.parametrize(("changed", "message"), BAD_BEIR)
def test_errors_in_a_beir_folder_are_one_line(
    propcite: Propcite, tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    assert message in error_line(propcite("eval", "beir", beir(tmp_path / "small", **changed)))


def test_missing_files_and_wrong_arguments_are_one_line(propcite: Propcite, tmp_path: Path) -> None:
    assert "has no corpus.jsonl" in error_line(propcite("eval", "beir", tmp_path))
    assert "has no corpus.jsonl" in error_line(propcite("eval", "beir", tmp_path / "nowhere"))
    folder = beir(tmp_path / "small")
    assert "there is no way 'tfidf'" in error_line(propcite("eval", "beir", folder, "--way", "tfidf"))
    assert "none from --offset 3 on" in error_line(propcite("eval", "beir", folder, "--offset", 3))
    (folder / "qrels" / "test.tsv").unlink()
    assert "has no qrels/*.tsv" in error_line(propcite("eval", "beir", folder))


def test_missing_packages_are_reported_first(
    propcite: Propcite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = beir(tmp_path / "small")
    monkeypatch.setitem(sys.modules, "bm25s", None)
    assert install_command("eval") in error_line(propcite("eval", "beir", folder))
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    assert install_command("eval") in error_line(propcite("eval", "beir", folder, "--way", "m_q"))


# Interrupted


def run_and_kill(arguments: Sequence[object], until: Callable[[], bool]) -> None:
    """Run the command in its own process and kill it as soon as a condition holds."""
    with subprocess.Popen(
        [sys.executable, "-m", "propcite", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        began = time.monotonic()
        while not until() and process.poll() is None and time.monotonic() - began < 120:
            time.sleep(0.02)
        assert process.poll() is None, "it was done before it could be killed"
        process.send_signal(signal.SIGKILL)


def test_encoding_continues_after_a_kill(
    propcite: Propcite, tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"Boat {n} left the harbour with {n} boxes of fish. " * 4 for n in range(256)]
    corpus = [*CORPUS, *({"_id": f"d{n}", "text": text} for n, text in enumerate(texts))]
    folder = beir(tmp_path / "large", corpus=corpus)
    arguments = ("eval", "beir", folder, "--way", "m_q")
    run_and_kill(arguments, lambda: any((tmp_path / "data" / "evaluations").glob(f"*/*/{MANIFEST_FILE}")))
    read: list[str] = []
    encode = encoder.encode_passages

    def counted(passages: Any) -> Any:
        read.extend(passage.id for passage in passages)
        return encode(passages)

    monkeypatch.setattr(encoder, "encode_passages", counted)
    result = propcite(*arguments)
    assert result.code == 0, result.err
    assert len(read) == len(set(read)) < len(corpus)
    assert len(stored_items()) == 3


def test_a_run_continues_after_a_kill_and_refuses_other_settings(propcite: Propcite, tmp_path: Path) -> None:
    texts = [[f"Boat {n} left at {n} o'clock.", f"Its cook sang {n} songs."] for n in range(100)]
    rows = [
        {"id": f"r{n}", "query": f"What sang {n}?", "sentences": s, "positive_sentence_ids": [1]}
        for n, s in enumerate(texts)
    ]
    path = lines(tmp_path / "rows.jsonl", rows)
    arguments = ("eval", "sentences", path, "--way", "bm25", "--way", "m_q")
    parts = Parts(load_settings())

    def some_done() -> bool:
        runs = parts.runs.list(1)
        return bool(runs) and runs[0].num_items >= 40

    run_and_kill(arguments, some_done)
    before = parts.runs.list(1)[0]
    assert before.state == "unfinished"
    done = [(item.way, item.key, item.cost) for item in parts.runs.items(before.id)]
    message = error_line(propcite(*arguments, "--limit", 5))
    assert "limit 0 -> 5" in message
    assert "--new" in message
    continued = propcite(*arguments)
    assert f"continuing run {before.id}: {len(done)} items are done" in continued.err
    after = [(item.way, item.key, item.cost) for item in parts.runs.items(before.id)]
    assert after[: len(done)] == done
    assert len(set(after_keys := [(way, key) for way, key, _ in after])) == len(after_keys) == 2 * len(rows)
    assert parts.runs.run(before.id).state == "done"
    parts.library.close()


# Sentences

DOCS = [{"sentences": ["It rained."]}, {"title": "Roof", "sentences": ["", "A warehouse."]}]
ROWS = [
    {
        "id": "1",
        "source": "a",
        "query": "steel gates",
        "title": "Barrier",
        "sentences": ["Terns breed.", "Steel gates close."],
        "positive_sentence_ids": [1],
    },
    {
        "id": "2",
        "source": "a",
        "claim": "Terns breed",
        "sentences": ["Terns breed.", "Terns breed here."],
        "positive_sentence_ids": [1],
    },
    {"id": "3", "source": "b", "question": "warehouse", "docs": DOCS, "supporting": [[1, 1], [0, 0]]},
]


def test_bm25_figures_of_sentences_by_hand(propcite: Propcite, tmp_path: Path) -> None:
    path = lines(tmp_path / "rows.jsonl.gz", ROWS)
    result = propcite("eval", "sentences", path, "--way", "bm25", "--format", "jsonl")
    assert result.code == 0, result.err
    # row 1 at the first place, row 2 at the second (the shorter sentence is before it), row 3 at the first and, as
    # sentences without a shared word keep their order, at the second
    assert figures(result, "bm25", "a") == {"P@1": 0.5, "R@5": 1.0, "RR": 0.75}
    assert figures(result, "bm25", "b") == {"P@1": 1.0, "R@5": 1.0, "RR": 1.0}
    assert figures(result, "bm25", "mean") == {"P@1": 0.75, "R@5": 1.0, "RR": 0.875}
    assert [item.output["found"] for item in stored_items()] == [[1], [2], [1, 2]]


def test_every_way_of_ranking_sentences_has_a_row(propcite: Propcite, tmp_path: Path) -> None:
    result = propcite("eval", "sentences", lines(tmp_path / "rows.jsonl", ROWS))
    assert result.code == 0, result.err
    ways = {item.way for item in stored_items()}
    assert len(ways) == 10
    assert all(result.out.count(f"\n{way} ") >= 3 for way in ways)
    assert "mean (n 3)" in result.out
    assert all(item.measures["P@1"] == 1.0 for item in stored_items() if item.key == "1")


@pytest.mark.usefixtures("propcite")
def test_shared_encodings_are_counted_once(tmp_path: Path) -> None:
    one = {**ROWS[0], "sentences": [f"Gate {number} closes in autumn and opens in spring." for number in range(40)]}
    rows = read_rank_rows([lines(tmp_path / "rows.jsonl", [one])])
    parts = Parts(load_settings())
    configs = [RankingConfig(way) for way in sentences.WAYS]
    scorers = sentences.build_scorers(configs, rows, LoadedEncoders(parts), sentences.StoredTokens())
    began = time.perf_counter()
    items = list(sentences.measure_rows(scorers, [Pending(rows[0], rows[0].id, tuple(scorers))]))
    taken = time.perf_counter() - began
    assert len(items) == len(configs)
    assert taken / 2 < sum(item.cost["seconds"] for item in items) <= taken
    parts.library.close()


def test_sentences_are_ranked_by_the_stored_tokens(
    propcite: Propcite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("eval", "sentences", lines(tmp_path / "rows.jsonl", ROWS), "--way", "m'_q")
    assert propcite(*arguments).code == 0
    whole = {item.key: item.measures for item in stored_items()}
    monkeypatch.setenv("PROPCITE_STORED_SHARE", "0.05")
    assert propcite(*arguments).code == 0
    fewer = {item.key: item.measures for item in stored_items()}
    assert whole.keys() == fewer.keys()  # no sentence has lost all of its tokens
    monkeypatch.setenv("PROPCITE_STORED_SHARE", "2")
    assert "stored_share" in propcite(*arguments).err


def test_a_part_has_the_same_figures_as_the_whole(propcite: Propcite, tmp_path: Path) -> None:
    path = lines(tmp_path / "rows.jsonl", ROWS)
    arguments = ("eval", "sentences", path, "--way", "bm25", "--way", "m'_q")
    propcite(*arguments)
    whole = {(item.way, item.key): item.measures for item in stored_items()}
    propcite(*arguments, "--offset", 1, "--limit", 1)
    assert {(item.way, item.key): item.measures for item in stored_items()} == {
        k: v for k, v in whole.items() if k[1] == "2"
    }


BAD_ROWS = [
    ("{", "line 1: Invalid JSON"),
    ({"query": "a", "positive_sentence_ids": [0]}, "line 1: the row has no sentences"),
    ({"query": "a", "docs": [], "supporting": [[0, 0]]}, "the row has no sentences"),
    ({"query": "a", "sentences": ["b"], "positive_sentence_ids": []}, 'no sentence is marked as an answer to "a"'),
    ({"query": "a", "sentences": ["b"], "positive_sentence_ids": [1]}, "there is no sentence 1"),
    ({"query": "a", "docs": DOCS, "supporting": [[2, 0]]}, "there is no sentence (2, 0)"),
    ({"query": " ", "sentences": ["b"], "positive_sentence_ids": [0]}, "no query: give"),
    ({"query": "a", "sentences": [1], "positive_sentence_ids": [0]}, "sentences.0: Input should be a valid string"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "message"), BAD_ROWS)
def test_errors_in_a_row_are_one_line(propcite: Propcite, tmp_path: Path, row: object, message: str) -> None:
    assert message in error_line(propcite("eval", "sentences", lines(tmp_path / "rows.jsonl", [row])))


def test_duplicate_ids_and_empty_files_are_one_line_errors(propcite: Propcite, tmp_path: Path) -> None:
    twice = lines(tmp_path / "rows.jsonl", [ROWS[0], ROWS[0]])
    assert "line 2: the id '1' is there twice" in error_line(propcite("eval", "sentences", twice))
    assert "no rows; give" in error_line(propcite("eval", "sentences", lines(tmp_path / "none.jsonl", [])))
    one = lines(tmp_path / "one.jsonl", ROWS[:1])
    other = lines(tmp_path / "other.jsonl", ROWS[:1])
    assert "line 1: the id '1' is there twice" in error_line(propcite("eval", "sentences", one, other))
    named_alike = lines(tmp_path / "sub" / "one.jsonl", [{**ROWS[0], "id": "another"}])
    assert "two files are named one.jsonl" in error_line(propcite("eval", "sentences", one, named_alike))


def test_an_empty_selection_starts_no_run(propcite: Propcite, tmp_path: Path) -> None:
    rows = lines(tmp_path / "rows.jsonl", ROWS)
    assert "none from --offset 9 on" in error_line(propcite("eval", "sentences", rows, "--offset", "9"))
    assert propcite("runs", "list", "--json").json == []
    assert "cannot read" in error_line(propcite("eval", "sentences", tmp_path / "nowhere.jsonl"))
