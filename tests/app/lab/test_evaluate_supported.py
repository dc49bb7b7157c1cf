"""Answers with labelled citations and facts: LongBench-Cite's and TREC's files, with rows of our own."""

from __future__ import annotations

import doctest
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from commanded import Propcite

from propcite.app.lab.citing import support_rows
from propcite.app.lab.citing.gold import GoldNuggets, GoldSupport, GoldVerdict
from propcite.app.lab.citing.rows import read_gold
from propcite.retrieval.errors import PropCiteError

DOC = "The ferry to Lund cost 4 million euros. It has carried 300 cars a day since 2019."
COST, CARS, NEW = "The ferry cost 4 million euros.", "The ferry carries 900 cars a day.", "The ferry is painted red."


def statement(text: str, support: float, *relevant: float) -> dict[str, Any]:
    place = {"start_sentence_idx": 0, "end_sentence_idx": 1, "start_char_idx": 0, "end_char_idx": len(DOC), "cite": DOC}
    cited = [place | {"relevant_score": score, "relevant_output": ""} for score in relevant]
    return {"statement": text, "citation": cited, "support_output": "", "support_score": support}


def longbench(number: int, *statements: dict[str, Any]) -> dict[str, Any]:
    about = {"idx": number, "dataset": "hotpotqa", "query": "What did the ferry cost?"}
    return about | {"prediction": "<statement>…</statement>", "statements": list(statements)}


LONGBENCH = [
    longbench(0, statement(COST, 1, 1, 0), statement(CARS, 0.5, 1), statement("In short:", 1)),
    longbench(1, statement(NEW, 0)),
]


def run_row(*labels: list[str], **changes: Any) -> dict[str, Any]:
    texts = [COST, CARS, NEW]
    cited = [[0, 1], [0], []]
    answer = [{"text": text, "citations": own} for text, own in zip(texts, cited, strict=True)]
    evaluated = [
        {"answer": one["text"], "citations": one["citations"], "count": len(one["citations"]), "eval_scores": label}
        for one, label in zip(answer, labels or (["FS", "NS"], ["PS"], []), strict=False)
    ]
    row = {"run_id": "ours", "topic_id": "2024-1", "topic": "the ferry", "references": ["s#0", "s#1"]}
    return row | {"response_length": 20, "answer": answer, "support_eval": evaluated} | changes


TEXTS = {"s#0": f"Ferry: {DOC}", "s#1": "Port: Terns breed on the roof."}
NUGGETS = {
    "query": "the ferry",
    "qid": "2024-1",
    "answer_text": f"{COST} It carries cars.",
    "response_length": 9,
    "run_id": "ours",
    "nuggets": [
        {"text": "The ferry cost 4 million euros", "importance": "vital", "assignment": "support"},
        {"text": "The ferry carries 300 cars a day", "importance": "vital", "assignment": "partial_support"},
        {"text": "The ferry opened in 2019", "importance": "okay", "assignment": "not_support"},
    ],
}


def assessed(*sentences: tuple[str, list[tuple[str, str]]], **changes: Any) -> dict[str, Any]:
    """Return a row of NIST's `final.citation_judgments_*.jsonl`: each sentence with its citations and their labels."""
    rows = [
        {
            "sentenceID": number,
            "text": text,
            "citations": [
                {"citationID": place, "reference": reference, "support": support}
                for place, (reference, support) in enumerate(citations)
            ],
        }
        for number, (text, citations) in enumerate(sentences)
    ]
    return {"topic_id": "2024-1", "run_id": "ours", "sentences": rows} | changes


ASSESSED = assessed(
    (COST, [("s#0", "2")]),
    (CARS, [("s#0", "1"), ("s#1", "0")]),
    (NEW, [("s#1", "0"), ("s#0", "2")]),
    ("It opened in 2019.", [("s#1", "-1")]),
    ("So much for the ferry.", []),
    segments=TEXTS,
)


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def tables(propcite: Propcite, path: Path) -> dict[str, list[dict[str, Any]]]:
    said = propcite("eval", "verdicts", path, "--judge", "reader", "--format", "jsonl")
    assert said.code == 0, said.err
    by_table: dict[str, list[dict[str, Any]]] = {}
    for row in said.rows:
        by_table.setdefault(row["table"], []).append(row)
    return by_table


def test_doctests() -> None:
    assert doctest.testmod(support_rows).failed == 0


def test_longbench_cite_as_lines_and_as_a_list(tmp_path: Path) -> None:
    (tmp_path / "scores.json").write_text(json.dumps([*LONGBENCH, {"scores": {"hotpotqa": {}}, "finish": True}]))
    for path in (lines(tmp_path / "preds.jsonl", *LONGBENCH), tmp_path / "scores.json"):
        gold = read_gold(path)
        assert [(row.claim, row.label, row.evidence) for row in gold if isinstance(row, GoldVerdict)] == [
            (COST, "full", (DOC, DOC)),
            (CARS, "partial", (DOC,)),
        ]
        assert len([row for row in gold if isinstance(row, GoldSupport)]) == 2


def test_longbench_cites_recall_and_precision(propcite: Propcite, tmp_path: Path) -> None:
    rows = {row["by"]: row for row in tables(propcite, lines(tmp_path / "preds.jsonl", *LONGBENCH))["support"]}
    labels = rows["the labels"]
    assert (labels["answers"], labels["sentences"], labels["citations"]) == (2, 4, 3)
    assert labels["recall"] == round(50 * (2.5 / 3), 1)  # an answer that cites nothing where it should counts 0
    assert labels["full_recall"] == round(50 * (2 / 3), 1)
    assert labels["precision"] == round(50 * (2 / 3), 1)
    assert rows["reader"]["precision"] is None  # it reads a statement's citations together
    assert rows["reader"]["recall"] == round(50 * (2 / 3), 1)  # the cost, and what need not cite


def test_trec_support(propcite: Propcite, tmp_path: Path) -> None:
    path = lines(
        tmp_path / "run.jsonl", run_row(segments=TEXTS), run_row([], [], [], topic_id="2024-2", segments=TEXTS)
    )
    found = tables(propcite, path)
    rows = {row["by"]: row for row in found["support"]}
    labels = rows["the labels"]
    assert (labels["source"], labels["answers"], labels["sentences"], labels["citations"]) == ("TREC RAG ours", 2, 6, 3)
    assert (labels["recall"], labels["full_recall"]) == (25.0, 16.7)
    assert (labels["precision"], labels["full_precision"]) == (25.0, 16.7)
    assert (rows["reader"]["recall"], rows["reader"]["precision"]) == (16.7, 16.7)  # it refuses 900 cars
    kinds = {row["kind"]: row["accepted"] for row in found["kinds"] if row["judge"] == "reader"}
    assert kinds == {"full": 100.0, "partial": 0.0, "none": 0.0}


def test_trec_support_of_2025_with_segments_beside(tmp_path: Path) -> None:
    row = run_row(metadata={"run_id": "ours", "narrative_id": 3, "narrative": "I want to know of the ferry."})
    del row["run_id"], row["topic_id"], row["topic"]
    row["answer"][0]["citations"] = ["s#0", "s#1"]
    segments = [
        {"docid": id_, "title": text.partition(": ")[0], "segment": text.partition(": ")[2], "headings": "", "url": ""}
        for id_, text in TEXTS.items()
    ]
    (tmp_path / "segments.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, segments)).encode()))
    verdicts = [one for one in read_gold(lines(tmp_path / "run.jsonl", row)) if isinstance(one, GoldVerdict)]
    assert [(one.claim, one.label, one.evidence) for one in verdicts] == [
        (COST, "full", (TEXTS["s#0"],)),
        (COST, "none", (TEXTS["s#1"],)),
        (CARS, "partial", (TEXTS["s#0"],)),
    ]
    assert verdicts[0].question == "I want to know of the ferry."


def test_nists_assessments_score_the_first_citation_of_each_sentence(propcite: Propcite, tmp_path: Path) -> None:
    path = lines(tmp_path / "final.citation_judgments_Webassess.jsonl", ASSESSED)
    verdicts = [one for one in read_gold(path) if isinstance(one, GoldVerdict)]
    assert [one.label for one in verdicts] == ["full", "partial", "none", "none", "full"]
    found = tables(propcite, path)
    labels, reader = (next(row for row in found["support"] if row["by"] == by) for by in ("the labels", "reader"))
    # TREC's measures: weights 1, .5 and 0 over three cited sentences, and over these with the one that cites nothing
    assert (labels["source"], labels["answers"], labels["sentences"], labels["citations"]) == ("TREC RAG ours", 1, 4, 3)
    assert (labels["precision"], labels["full_precision"]) == (50.0, 33.3)
    assert (labels["recall"], labels["full_recall"]) == (37.5, 25.0)
    assert (reader["precision"], reader["recall"]) == (33.3, 25.0)  # the cost alone


def test_nists_assessments_of_2025_with_segments_beside(tmp_path: Path) -> None:
    row = assessed((COST, [("s#0", "2")]), narrative_id="3")
    del row["topic_id"]
    (tmp_path / "segments.jsonl").write_text(json.dumps({"docid": "s#0", "title": "Ferry", "segment": DOC}) + "\n")
    gold = read_gold(lines(tmp_path / "judgments.jsonl", row))
    assert [(one.claim, one.evidence) for one in gold if isinstance(one, GoldVerdict)] == [(COST, (TEXTS["s#0"],))]


def test_nuggets_of_answers(propcite: Propcite, tmp_path: Path) -> None:
    path = lines(tmp_path / "assignments.jsonl", NUGGETS, NUGGETS | {"qid": "2024-2", "answer_text": " "})
    assert len([one for one in read_gold(path) if isinstance(one, GoldNuggets)]) == 2
    rows = {row["by"]: row for row in tables(propcite, path)["nuggets"]}
    labels = rows["the labels"]
    assert (labels["answers"], labels["vital"], labels["all"]) == (2, 75.0, 50.0)
    assert (labels["full_vital"], labels["full_all"]) == (50.0, 33.3)
    assert rows["reader"]["full_vital"] <= 25.0  # the answer without words holds nothing


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (longbench(0, {"statement": COST, "citation": []}), "line 2: support_score is missing: label the answers by"),
        (longbench(0, statement(COST, 0.7, 1)), "line 2: the support_score 0.7 is none of 1, 0.5, 0"),
        (longbench(0, statement(COST, 1, 3)), "line 2: the relevant_score 3 is none of 0, 1"),
        (longbench(0, {"statement": COST, "support_score": 1}), "line 2: citation is missing"),
        (run_row(), "line 2: it has no segments, and there is no segments.jsonl beside"),
        (run_row(segments={"s#0": DOC}), "line 2: no text of 's#1' in its segments"),
        (run_row(["FS", "XX"], ["PS"], [], segments=TEXTS), "line 2: the label 'XX' is none of FS, PS, NS"),
        (run_row(["FS"], segments=TEXTS), "line 2: support_eval has 1 entries for 3 sentences"),
        (run_row(references=["s#0"], segments=TEXTS), "line 2: the citation 1 is none of the 1 references"),
        (assessed((COST, [("s#0", "3")]), segments=TEXTS), "line 2: the label '3' is none of 2, 1, 0"),
        (assessed((COST, [("s#9", "2")]), segments=TEXTS), "line 2: no text of 's#9' in its segments"),
        (assessed((COST, [("s#0", "2")])), "line 2: it has no segments, and there is no segments.jsonl beside"),
        (NUGGETS | {"nuggets": [{"text": COST, "importance": "vital"}]}, "line 2: assignment is missing"),
        (
            NUGGETS | {"nuggets": [NUGGETS["nuggets"][0] | {"importance": "high"}]},  # type: ignore[index]
            "line 2: the importance 'high' is neither",
        ),
        (NUGGETS | {"answer_text": None}, "line 2: None is not a text"),
    ],
)
def test_a_bad_row_is_one_line(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    path = lines(tmp_path / "a.jsonl", {"claim": COST, "docs": [{"text": DOC}], "label": "supported"}, row)
    with pytest.raises(PropCiteError, match=said) as caught:
        read_gold(path)
    assert str(caught.value).count("\n") == 0
    assert str(caught.value).startswith(str(path))


def test_an_empty_file_is_one_line(propcite: Propcite, tmp_path: Path) -> None:
    said = propcite("eval", "verdicts", lines(tmp_path / "run.jsonl"), "--judge", "reader")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "no claim with evidence and a label" in said.err
