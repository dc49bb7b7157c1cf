"""Benchmarks in the files that their authors publish: each layout with rows of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from commanded import Propcite

from propcite.app.lab.citing.gold import GoldVerdict
from propcite.app.lab.citing.rows import read_gold
from propcite.retrieval.errors import PropCiteError

DOC = "The ferry to Lund cost 4 million euros. It has carried 300 cars a day since 2019."
AGGREFACT = [
    {"dataset": "Ferries", "doc": DOC, "claim": "The ferry carries 300 cars a day.", "label": 1},
    {"dataset": "Ferries", "doc": DOC, "claim": "The ferry carries 900 cars a day.", "label": 0},
]
ATTRIBUTION = {
    "question": "What did the ferry cost?",
    "claim": "It cost 4 million euros.",
    "claim_raw_string": "It cost 4 million euros [1].",
    "response": "It cost 4 million euros [1].",
    "references": [DOC, ""],
    "citation_links": [],
    "webpage_references": [],
    "attribution_label": "attributable",
    "src_dataset": "GenSearch",
    "id": "a1",
}
EXPERT = {
    "question": "What did the ferry cost?",
    "annotator_id": "x",
    "metadata": {"question_type": "fact", "field": "Transport", "specific_field": None},
    "answers": {
        "bing_chat": {
            "answer_string": "It cost 4 million euros. It is blue.",
            "claims": [
                {"claim_string": "It cost 4 million euros.", "evidence": [f"[1] https://a.example/f\n\n{DOC}"]}
                | {"support": "Complete"},
                {"claim_string": "It is blue.", "evidence": [f"[1] {DOC}"], "support": "Incomplete"},
                {"claim_string": "It is new.", "evidence": [], "support": "Missing"},
                {"claim_string": "It is old.", "evidence": [DOC], "support": None},
            ],
        }
    },
}
ANSWER = "The ferry cost 4 million euros. It carries 900 cars. It sails at dawn."


def mark(text: str, of: str, kind: str) -> dict[str, Any]:
    start = of.index(text)
    return {"start": start, "end": start + len(text), "text": text, "meta": "", "label_type": kind}


def response(number: int, source: str, text: str, *marks: dict[str, Any], split: str = "test") -> dict[str, Any]:
    row = {"id": str(number), "source_id": source, "model": "m", "temperature": 0.7, "labels": list(marks)}
    return row | {"split": split, "quality": "good", "response": text}


RAGTRUTH = [
    response(1, "1", ANSWER, mark("900", ANSWER, "Evident Conflict"), mark("sails at dawn", ANSWER, "Baseless")),
    response(2, "2", "The ferry cost 4 million euros."),
    response(3, "3", "Quay Bakery is in Lund.", mark("Lund", "Quay Bakery is in Lund.", "Evident Conflict")),
    response(4, "1", "The ferry cost 1 euro.", split="train"),
]
SOURCE_INFO = [
    {"source_id": "1", "task_type": "QA", "source": "MARCO"}
    | {"source_info": {"question": "What did it cost?", "passages": f"passage 1:{DOC}\n\npassage 2:It is red.\n\n"}},
    {"source_id": "2", "task_type": "Summary", "source": "News", "source_info": DOC},
    {"source_id": "3", "task_type": "Data2txt", "source": "Yelp"}
    | {"source_info": {"name": "Quay Bakery", "city": "Tucson", "hours": {"Monday": "9:0-22:30"}}},
]
SUMMARY = "The ferry cost 4 million euros. It carries 900 cars. It is a fine ship."
FAITH = {
    "samples": [
        {
            "sample_id": 0,
            "source": DOC,
            "summary": SUMMARY,
            "metadata": {"summarizer": "m", "hhemv1": 0.5, "raw_sample_id": 1},
            "annotations": [
                {"annot_id": 1, "annotator_id": "a", "annotator_name": "A", "note": "", "label": [label]}
                | {"summary_start": SUMMARY.index(text), "summary_end": SUMMARY.index(text) + len(text)}
                | {"summary_span": text}
                for text, label in (("900", "Unwanted.Intrinsic"), ("fine", "Benign"))
            ],
        }
    ]
}


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def verdicts(path: Path) -> list[GoldVerdict]:
    return [row for row in read_gold(path) if isinstance(row, GoldVerdict)]


@pytest.fixture
def ragtruth(tmp_path: Path) -> Path:
    lines(tmp_path / "source_info.jsonl", *SOURCE_INFO)
    return lines(tmp_path / "response.jsonl", *RAGTRUTH)


def test_llm_aggrefact_is_read_as_lines_csv_and_parquet(tmp_path: Path) -> None:
    table = pd.DataFrame(AGGREFACT)
    table.to_csv(tmp_path / "test.csv", index=False)
    table.to_parquet(tmp_path / "test.parquet")
    lines(tmp_path / "test.jsonl", *AGGREFACT)
    for name in ("test.csv", "test.parquet", "test.jsonl"):
        rows = verdicts(tmp_path / name)
        assert [(row.source, row.supported, row.evidence) for row in rows] == [
            ("Ferries", True, (DOC,)),
            ("Ferries", False, (DOC,)),
        ]
        assert [row.id for row in rows] == [f"{name}:1", f"{name}:2"]


def test_attributionbench_and_expertqa(tmp_path: Path) -> None:
    wrong = ATTRIBUTION | {"attribution_label": "not attributable", "claim": "It cost 5 million euros."}
    without = ATTRIBUTION | {"references": [" "]}
    rows = verdicts(lines(tmp_path / "test_ood.jsonl", ATTRIBUTION, wrong, without))
    assert [(row.source, row.supported) for row in rows] == [
        ("GenSearch", True),
        ("GenSearch", False),
    ]
    assert rows[0].evidence == (DOC,)
    rows = verdicts(lines(tmp_path / "r2.jsonl", EXPERT))
    assert [(row.claim, row.supported, row.label) for row in rows] == [
        ("It cost 4 million euros.", True, "Complete"),
        ("It is blue.", False, "Incomplete"),
    ]
    assert {row.evidence for row in rows} == {(DOC,)}  # without its number and address


def test_ragtruths_answers_become_sentences(ragtruth: Path) -> None:
    rows = verdicts(ragtruth)
    assert [(row.source, row.kind, row.supported) for row in rows] == [
        ("RAGTruth QA", "QA", True),
        ("RAGTruth QA", "Evident Conflict", False),
        ("RAGTruth QA", "Baseless", False),
        ("RAGTruth Summary", "Summary", True),
        ("RAGTruth Data2txt", "Evident Conflict", False),
    ]
    assert rows[0].evidence == (DOC, "It is red.")
    assert rows[0].question == "What did it cost?"
    assert rows[-1].evidence == ("name: Quay Bakery\ncity: Tucson\nhours, Monday: 9:0-22:30",)
    assert len({row.answer for row in rows}) == 3


def test_faithbenchs_benign_marks_count_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "batch_1.json").write_text(json.dumps(FAITH))
    rows = verdicts(tmp_path / "batch_1.json")
    assert [(row.claim, row.kind, row.supported) for row in rows] == [
        ("The ferry cost 4 million euros.", "m", True),
        ("It carries 900 cars.", "Unwanted.Intrinsic", False),
        ("It is a fine ship.", "m", True),
    ]


def test_answers_with_an_error_are_counted(propcite: Propcite, ragtruth: Path) -> None:
    out = propcite("eval", "verdicts", ragtruth, "--judge", "reader", "--format", "jsonl").out
    rows = [json.loads(line) for line in out.splitlines()]
    answers = {row["source"]: row for row in rows if row["table"] == "answers"}
    assert {source: (row["answers"], row["with_error"]) for source, row in answers.items()} == {
        "RAGTruth QA": (1, 1),
        "RAGTruth Summary": (1, 0),
        "RAGTruth Data2txt": (1, 1),
    }
    assert answers["RAGTruth QA"]["recall"] == answers["RAGTruth QA"]["f1"] == 100.0
    [all_claims] = [row for row in rows if row.get("source") == "all claims" and row["judge"] == "reader"]
    right = all_claims["true_accepted"] + 100 - all_claims["wrong_accepted"]
    assert all_claims["balanced_accuracy"] == pytest.approx(right / 2, abs=0.1)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", json.dumps(AGGREFACT[0] | {"label": 2}), "line 1: the label '2' is neither 0 nor 1"),
        ("a.jsonl", json.dumps(ATTRIBUTION | {"attribution_label": "yes"}), "line 1: the attribution_label 'yes' is"),
        ("a.jsonl", json.dumps(RAGTRUTH[0]), "source_info.jsonl"),
        ("a.json", json.dumps({"samples": [FAITH["samples"][0] | {"source": None}]}), "line 1"),
        ("a.csv", "dataset,doc,claim,label\nx,y\n", "line 1"),
        ("a.parquet", "no parquet", "a.parquet is no table that can be read"),
    ],
)
def test_a_file_that_is_none_is_one_line(tmp_path: Path, name: str, content: str, said: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(PropCiteError, match=said):
        read_gold(tmp_path / name)
