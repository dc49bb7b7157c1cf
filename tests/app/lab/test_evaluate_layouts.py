"""Collections in other layouts: LoTTE, questions with answers, several folders, TREC's judgements, deep rankings."""

from __future__ import annotations

import doctest
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from commanded import Propcite, Said
from tiny_models import save_backbone, save_single_vector, word_piece_tokenizer
from transformers import AutoModel, AutoTokenizer

from propcite.app.lab.ranking import layouts, relevance, single_vectors
from propcite.app.lab.ranking.single_vectors import FILE, SingleVectors
from propcite.app.settings import load_settings

PASSAGES = [
    "The tidal barrier has fourteen steel gates.",
    "The barrier cost 410 million euros.",
    "Terns breed on the gravel roof of São Paulo's warehouse.",
]


def write(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def beir(folder: Path, *qrels: str) -> Path:
    write(folder / "corpus.jsonl", *(json.dumps({"_id": f"d{n}", "text": text}) for n, text in enumerate(PASSAGES)))
    write(folder / "queries.jsonl", *(json.dumps({"_id": q, "text": t}) for q, t in (("q1", "gates"), ("q2", "terns"))))
    write(folder / "qrels" / "test.tsv", *(qrels or ("q1\td0\t1", "q2\td0\t1")))
    return folder


def lotte(folder: Path) -> Path:
    write(folder / "collection.tsv", *(f"{n}\t{text}" for n, text in enumerate(PASSAGES)))
    for kind, question in (("search", "steel gates"), ("forum", "where do terns breed")):
        write(folder / f"questions.{kind}.tsv", f"0\t{question}", "1\tcost of the barrier")
        answers = [0] if kind == "search" else [2]
        rows = ({"qid": 0, "query": question, "answer_pids": answers}, {"qid": 1, "query": "cost", "answer_pids": [1]})
        write(folder / f"qas.{kind}.jsonl", *map(json.dumps, rows))
    return folder


def answered(folder: Path) -> Path:
    write(folder / "psgs_w100.tsv", "id\ttext\ttitle", *(f"{n}\t{text}\tPort" for n, text in enumerate(PASSAGES, 1)))
    write(folder / "nq-test.qa.csv", "how many steel gates\t['fourteen', '14']", 'roof of which city\t["são paulo"]')
    questions = [{"question": "barrier cost", "answers": ["410 million"]}, {"question": "gates", "answers": ["bronze"]}]
    write(folder / "P19.test.json", json.dumps(questions))
    return folder


def miracl(folder: Path) -> Path:
    """Write MIRACL's topics and judgements, with the shards of its corpus in the folder beside them."""
    corpus = folder.with_name(folder.name.replace("miracl-", "miracl-corpus-"))
    rows = [json.dumps({"docid": f"7#{n}", "title": "Port", "text": text}) for n, text in enumerate(PASSAGES)]
    write(corpus / "docs-0.jsonl", *rows[:2])
    (corpus / "docs-1.jsonl.gz").write_bytes(gzip.compress(rows[2].encode()))
    for split, query in (("dev", "steel gates"), ("train", "terns")):
        write(folder / "topics" / f"topics.{folder.name}-{split}.tsv", f"4\t{query}", "9\tunjudged")
        relevant = 0 if split == "dev" else 2
        lines = (f"4\tQ0\t7#{n}\t{int(n == relevant)}" for n in range(3))
        write(folder / "qrels" / f"qrels.{folder.name}-{split}.tsv", *lines)
    return folder


def figures(said: Said, of: str = "") -> dict[str, float]:
    assert said.code == 0, said.err
    return {row["measure"]: row["value"] for row in said.rows if row["of"] == of}


@pytest.fixture
def measure(propcite: Propcite) -> Propcite:
    return lambda *arguments: propcite("eval", "beir", *arguments, "--way", "bm25", "--format", "jsonl")


def test_doctests() -> None:
    for module in (layouts, relevance, single_vectors):
        assert doctest.testmod(module).failed == 0


def test_lottes_questions_of_both_kinds(measure: Propcite, tmp_path: Path) -> None:
    folder = lotte(tmp_path / "writing" / "dev")
    for kind in ("search", "forum"):
        said = measure(folder, "--split", kind)
        assert figures(said)["Success@5"] == 1.0
    said = measure(folder, "--split", "queries")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "search or forum" in said.err


def test_an_answer_is_found_in_the_passages_that_hold_it(measure: Propcite, tmp_path: Path) -> None:
    folder = answered(tmp_path / "wiki")
    found = figures(measure(folder, "--split", "nq-test"))
    assert found == dict.fromkeys(("Success@1", "Success@5", "Success@20", "Success@100"), 1.0) | {
        name: found[name] for name in found.keys() - {"Success@1", "Success@5", "Success@20", "Success@100"}
    }
    assert figures(measure(folder, "--split", "P19"))["Success@20"] == 0.5  # nothing is of bronze
    said = measure(folder)
    assert "nq-test.qa.csv" in said.err
    assert "--split" in said.err


def test_several_folders_have_a_mean(measure: Propcite, tmp_path: Path) -> None:
    one, two = beir(tmp_path / "one"), beir(tmp_path / "two", "q1\td0\t1", "q2\td2\t1")
    said = measure(one, two)
    assert figures(said, "one")["P@1"] == 0.5
    assert figures(said, "two")["P@1"] == 1.0
    mean = [row for row in said.rows if row["measure"] == "P@1" and row["of"] not in ("", "one", "two")]
    assert [row["value"] for row in mean] == [0.75] or figures(said)["P@1"] == 0.75
    other = beir(tmp_path / "again" / "one")
    assert "two folders are named one" in measure(one, other).err


def test_a_deeper_ranking_has_its_recall(measure: Propcite, tmp_path: Path) -> None:
    deep = figures(measure(beir(tmp_path / "one"), "--depth", "1000"))
    assert "R@1000" in deep
    shallow = figures(measure(beir(tmp_path / "two"), "--depth", "10"))
    assert {"R@100", "R@1000"}.isdisjoint(shallow)


def test_trecs_judgements_have_a_column_more(measure: Propcite, tmp_path: Path) -> None:
    said = measure(beir(tmp_path / "trec", "q1 0 d0 1", "q2\tQ0\td2\t1"))
    assert figures(said)["P@1"] == 1.0


def test_miracls_topics_and_shards(measure: Propcite, tmp_path: Path) -> None:
    folder = miracl(tmp_path / "miracl-v1.0-en")
    assert figures(measure(folder))["P@1"] == 1.0
    assert figures(measure(folder, "--split", "train"))["P@1"] == 1.0
    assert "judged splits dev, train: name one" in measure(folder, "--split", "test").err


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("miracl-corpus-v1.0-en/docs-0.jsonl", '{"text": "no id"}', "docs-0.jsonl, line 3: a row is"),
        (
            "miracl-corpus-v1.0-en/docs-0.jsonl",
            '{"docid": "7#2", "text": "x"}',
            "the docid '7#2' is there twice",
        ),
        ("miracl-corpus-v1.0-en/docs-0.jsonl", '{"docid": "8#2", "text": 3}', "line 3: text is 3, not a text"),
        ("miracl-v1.0-en/topics/topics.miracl-v1.0-en-dev.tsv", "5", "line 3: a line is an id, a tab and a text"),
        ("miracl-v1.0-en/qrels/qrels.miracl-v1.0-en-dev.tsv", "4 Q0 8#9 1", "line 4: there is no document '8#9'"),
        ("miracl-v1.0-en/qrels/qrels.miracl-v1.0-en-dev.tsv", "6 Q0 7#0 1", "line 4: there is no query '6'"),
    ],
)
def test_a_bad_line_of_miracl_is_one_line(measure: Propcite, tmp_path: Path, name: str, line: str, said: str) -> None:
    folder = miracl(tmp_path / "miracl-v1.0-en")
    with (tmp_path / name).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    result = measure(folder)
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert said in result.err


def test_miracl_without_its_corpus_is_one_line(measure: Propcite, tmp_path: Path) -> None:
    folder = miracl(tmp_path / "miracl-v1.0-en")
    for shard in (tmp_path / "miracl-corpus-v1.0-en").iterdir():
        shard.unlink()
    result = measure(folder)
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "nor has miracl-corpus-v1.0-en beside it" in result.err


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("collection.tsv", "no tab", "line 4: a line is an id, a tab and a text"),
        ("qas.search.jsonl", "{}", "line 3: a row is"),
        ("qas.search.jsonl", '{"qid": 0, "answer_pids": [9]}', "line 3: it names a question or passage"),
    ],
)
def test_a_bad_line_of_lotte_is_one_line(measure: Propcite, tmp_path: Path, name: str, line: str, said: str) -> None:
    path = lotte(tmp_path / "writing" / "dev") / name
    path.write_text(path.read_text("utf-8") + line + "\n", "utf-8")
    result = measure(path.parent)
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert said in result.err


def test_questions_that_cannot_be_read_are_one_line(measure: Propcite, tmp_path: Path) -> None:
    folder = answered(tmp_path / "wiki")
    write(folder / "nq-test.qa.csv", "a question without answers")
    result = measure(folder, "--split", "nq-test")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "a list of answers" in result.err


# One vector per text, and the sentences of what it retrieves


def contriever(folder: Path) -> Path:
    """Write a checkpoint as Contriever's authors publish theirs: a plain BERT, without modules."""
    return save_backbone(folder / "contriever", word_piece_tokenizer())


def test_single_vectors_rank_as_contrievers_own_code(propcite: Propcite, tmp_path: Path) -> None:
    model, folder = contriever(tmp_path), answered(tmp_path / "wiki")
    arguments = (folder, "--split", "nq-test", "--way", "single-vector", "--encoder", model, "--contexts")
    said = propcite("eval", "beir", *arguments, tmp_path / "found.jsonl")
    assert said.code == 0, said.err
    rows = [json.loads(line) for line in (tmp_path / "found.jsonl").read_text().splitlines()]
    assert [row["answers"] for row in rows] == [["fourteen", "14"], ["são paulo"]]
    texts = [f"Port {text}" for text in PASSAGES]
    for row in rows:
        scores = by_hand(model, texts) @ by_hand(model, [row["question"]])[0]
        assert [int(one["id"]) - 1 for one in row["ctxs"]] == np.argsort(-scores).tolist()
        assert {(one["title"], one["text"]) for one in row["ctxs"]} == {("Port", text) for text in PASSAGES}


def by_hand(model: Path, texts: list[str]) -> np.ndarray:
    """Return the mean of the last layer's tokens, not normalised."""
    tokenizer, network = AutoTokenizer.from_pretrained(model), AutoModel.from_pretrained(model).eval()
    inputs = tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
    with torch.inference_mode():
        states = network(**inputs).last_hidden_state
    mask = inputs["attention_mask"][..., None]
    return ((states * mask).sum(1) / mask.sum(1)).numpy()


def test_single_vectors_are_encoded_once_and_go_on_after_an_interrupt(propcite: Propcite, tmp_path: Path) -> None:
    model, folder = contriever(tmp_path), lotte(tmp_path / "writing" / "dev")
    arguments = ("eval", "beir", folder, "--way", "single-vector", "--encoder", model, "--format", "jsonl")
    first = propcite(*arguments)
    (file,) = load_settings().data_dir.rglob(FILE)
    whole, written = file.read_bytes(), file.stat().st_mtime_ns
    again = propcite(*arguments, "--new")
    assert (figures(again), file.stat().st_mtime_ns) == (figures(first), written)
    file.write_bytes(whole[: len(whole) // 2])
    assert figures(propcite(*arguments, "--new")) == figures(first)
    assert np.allclose(np.frombuffer(file.read_bytes(), np.float32), np.frombuffer(whole, np.float32), atol=1e-5)


def test_a_model_with_its_own_modules_is_compared_as_it_says(tmp_path: Path) -> None:
    unit = SingleVectors(str(save_single_vector(tmp_path)), "").queries(["steel gates", "terns"])
    assert np.allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-5)


def test_many_passages_are_ranked_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    vectors, queries = (generator.standard_normal((n, 8)).astype(np.float32) for n in (300, 5))
    vectors[250] = vectors[10]  # a tie: the first is before the second
    monkeypatch.setattr(single_vectors, "AT_ONCE", 64)
    for k in (1, 7, 300):
        _, rows = single_vectors.best_rows(queries, vectors, k)
        assert rows.tolist() == np.argsort(-(queries @ vectors.T), axis=1, kind="stable")[:, :k].tolist()


def test_sentences_of_retrieved_passages_by_the_answers_they_hold(propcite: Propcite, tmp_path: Path) -> None:
    contexts = [
        {"id": "1", "title": "Port", "text": "The port is old. The barrier has fourteen gates.", "score": "1.6"},
        {"id": "2", "title": "Port", "text": "Steel rusts at sea. Terns breed there.", "has_answer": False},
    ]
    rows = [
        {"question": "how many gates has the barrier", "answers": ["fourteen", "14"], "ctxs": contexts},
        {"question": "where do terns breed", "answers": ["gravel roof"], "ctxs": contexts},
        {"question": "what rusts", "answers": ["sea"], "ctxs": [{"text": "Iron rusts and rusts."}, *contexts]},
    ]
    as_lines = write(tmp_path / "contriever.jsonl", *map(json.dumps, rows))
    as_list = write(tmp_path / "dpr.json", json.dumps(rows))
    for path in (as_lines, as_list):
        said = propcite("eval", "sentences", path, "--way", "bm25", "--format", "jsonl")
        found = figures(said, path.name)
        # the first is found, the second's answer is nowhere, the third's comes second
        assert (round(found["P@1"], 3), round(found["Success@5"], 3)) == (0.333, 0.667)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--way", "single-vector"), "--way single-vector needs --encoder"),
        (("--way", "bm25", "--contexts", "here.jsonl"), "--contexts is for questions with answers"),
        (("--way", "bm25", "--way", "m_q", "--contexts", "here.jsonl"), "name one --way and one folder"),
    ],
)
def test_wrong_arguments_of_retrieval_are_one_line(
    propcite: Propcite, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    result = propcite("eval", "beir", beir(tmp_path / "one"), *arguments)
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert said in result.err


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.jsonl", '{"question": "a", "ctxs": [{"text": "b"}]}', "line 1: ctxs without answers"),
        ("a.jsonl", '{"question": "a", "answers": ["b"], "ctxs": []}', "line 1: the row has no sentences"),
        ("a.json", '{"question": "a"}', "a.json: Input should be a valid"),
        ("a.json", '[{"question": "a", "answers": ["b"], "ctxs": [{}]}]', "a.json: 0.ctxs.0.text: Field required"),
    ],
)
def test_bad_rows_of_retrieved_passages_are_one_line(
    propcite: Propcite, tmp_path: Path, name: str, text: str, said: str
) -> None:
    result = propcite("eval", "sentences", write(tmp_path / name, text), "--way", "bm25")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert said in result.err
