"""`propcite eval verdicts`: judges side by side, by source, by kind of error and by probability."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commanded import Propcite

ROWS = [
    {"source": "ferry", "kind": "verbatim", "label": "supported", "claim": "The ferry cost 4 million euros."},
    {"source": "ferry", "kind": "number", "label": "contradicted", "claim": "The ferry cost 9 million euros."},
    {"source": "ferry", "kind": "invented", "label": "unsupported", "claim": "The captain dislikes marmalade."},
]
PASSAGE = "The ferry cost 4 million euros. It has carried 300 cars a day since 2019."
DAM = [
    {"source": "dam", "label": "supported", "claim": "The dam is 90 m high.", "evidence": "The dam is 90 m high."},
    {"source": "dam", "label": "unsupported", "claim": "Herons eat fish.", "evidence": ["The dam is 90 m high."]},
]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "claims.jsonl"
    lines = [{**row, "passage": PASSAGE, "title": "The ferry"} for row in ROWS] + DAM
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_judges_are_measured_side_by_side(propcite: Propcite, rows: Path) -> None:
    lines = [json.loads(line) for line in propcite("eval", "verdicts", rows, "--format", "jsonl").out.splitlines()]
    by_source = {(row["judge"], row["source"]): row for row in lines if row["table"] == "verdicts"}
    sources = ("ferry", "dam", "all claims", "mean of sources")
    assert set(by_source) == {(judge, source) for judge in ("overlap", "embedded", "reader") for source in sources}
    assert by_source["overlap", "ferry"]["wrong_accepted"] is None  # no probability
    for judge in ("embedded", "reader"):
        assert (
            by_source[judge, "dam"] | {"true_accepted": 100.0, "wrong_accepted": 0.0, "auc": 100.0}
            == (by_source[judge, "dam"])
        )
        assert by_source[judge, "all claims"]["rows"] == 5
    kinds = {(row["judge"], row["kind"]): row for row in lines if row["table"] == "kinds"}
    assert set(kinds) == {(j, k) for j in ("embedded", "reader") for k in ("verbatim", "number", "invented")}
    assert (kinds["embedded", "verbatim"]["accepted"], kinds["embedded", "verbatim"]["right"]) == (100.0, None)
    assert (kinds["embedded", "invented"]["accepted"], kinds["embedded", "invented"]["right"]) == (0.0, 100.0)
    assert sum(row["rows"] for row in lines if row["table"] == "reliability") == 2 * 5


def test_one_judge_and_the_table(propcite: Propcite, rows: Path) -> None:
    table = propcite("eval", "verdicts", rows, "--judge", "embedded").out
    assert "calibration error" in table
    assert "reader" not in table
    runs = propcite("runs", "list").out
    assert "verdicts" in runs


def test_a_kind_is_not_told_where_rows_have_none(propcite: Propcite, tmp_path: Path) -> None:
    path = tmp_path / "dam.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in DAM))
    lines = [json.loads(line) for line in propcite("eval", "verdicts", path, "--format", "jsonl").out.splitlines()]
    assert {row["table"] for row in lines} == {"verdicts", "reliability"}
    assert {row["source"] for row in lines if row["table"] == "verdicts"} == {"dam"}


@pytest.mark.parametrize(
    ("row", "line"),
    [
        ({"claim": "a", "evidence": "b", "label": "maybe"}, "line 1: the label 'maybe' is none of supported"),
        ({"claim": "a", "label": "supported"}, "line 1: docs is missing"),
        ({"claim": "a", "evidence": 3, "label": "supported"}, "line 1"),
        ({"claim": "a", "evidence": "", "label": "supported"}, "hold no claim with evidence and a label"),
    ],
)
def test_a_row_that_cannot_be_judged_is_one_line(
    propcite: Propcite, tmp_path: Path, row: dict[str, object], line: str
) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    said = propcite("eval", "verdicts", tmp_path / "rows.jsonl")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert line in said.err
