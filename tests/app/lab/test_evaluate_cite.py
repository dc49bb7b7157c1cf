"""`propcite eval cite`: figures checked by hand, every kind of row, and errors with their line."""

from __future__ import annotations

import doctest
import gzip
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commanded import Propcite
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from propcite.app.errors import AppError
from propcite.app.lab.citing import judge_bootstrap, judge_scores
from propcite.app.lab.citing.answers import CitationRow
from propcite.app.lab.citing.evaluation import evaluate
from propcite.app.lab.citing.evidence import RankingRow
from propcite.app.lab.citing.gold import GoldAnswer, GoldEvidence, GoldVerdict, spread_over_sources
from propcite.app.lab.citing.judge_scores import (
    JudgeRow,
    ReliabilityRow,
    ScoredClaims,
    ThresholdRow,
    calibration_error,
    judge_rows,
    reliability_rows,
    threshold_rows,
)
from propcite.app.lab.citing.rows import read_gold
from propcite.app.lab.runs import significance
from propcite.app.lab.runs.runner import RunOptions
from propcite.app.lab.runs.text_tables import row_json, rows_table
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.attribution.citing.methods import METHODS
from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.text import Passage

DOCS = [
    {"id": "gates", "title": "Barrier", "text": "The tidal barrier has fourteen steel gates."},
    {"id": "cost", "title": "Barrier", "text": "The barrier cost 410 million euros."},
    {"id": "terns", "title": "Birds", "text": "Terns breed on the gravel roof of the warehouse."},
]
ITEM = {
    "question": "What is known of the barrier?",
    "docs": DOCS,
    "annotations": [
        {
            "long_answer": "The tidal barrier has fourteen steel gates. The barrier cost 410 million euros.",
            "knowledge_doc_ids": ["gates", "cost"],
        },
        {"long_answer": "Terns breed on the roof of the warehouse.", "knowledge_doc_ids": ["terns"]},
        {"long_answer": "Nobody said from what this was written.", "knowledge_doc_ids": []},
    ],
}
SENTENCES = ["The barrier cost 410 million euros.", "Terns breed on the roof.", "It rained in May."]
EVIDENCE = {
    "source": "marked",
    "level": "sentence",
    "claim": "The cost of the barrier was 410 million euros.",
    "docs": [{"title": "", "sentences": SENTENCES[1:]}, {"title": "", "sentences": SENTENCES[:1]}],
    "supporting": [[1, 0]],
    "label": "supported",
}


def verdict(claim: str, evidence: str, label: str, source: str = "told") -> dict[str, Any]:
    return {"source": source, "level": "passage", "claim": claim, "docs": [{"text": evidence}], "label": label}


VERDICTS = [
    verdict("The barrier cost 410 million euros.", SENTENCES[0], "supported"),
    verdict("The barrier cost 410 million euros.", SENTENCES[1], "not_supported"),
    verdict("Terns breed on the roof.", SENTENCES[1], "supported"),
    verdict("Terns breed on the roof.", SENTENCES[2], "partially"),
]


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    return Parts(load_settings(splitter="rules", judge="embedded", data_dir=tmp_path_factory.mktemp("data")))


def test_each_annotation_with_known_passages_is_a_row(tmp_path: Path) -> None:
    for name, data in (
        ("a.json", json.dumps([ITEM]).encode()),
        ("b.json.gz", gzip.compress(json.dumps([ITEM]).encode())),
    ):
        (tmp_path / name).write_bytes(data)
        rows = read_gold(tmp_path / name)
        assert [(type(r), r.written_from) for r in rows if isinstance(r, GoldAnswer)] == [
            (GoldAnswer, {"gates", "cost"}),
            (GoldAnswer, {"terns"}),
        ]
    (tmp_path / "c.json").write_text(json.dumps({"data": [ITEM]}))
    assert len(read_gold(tmp_path / "c.json")) == 2


def test_claims_are_read_by_their_level(tmp_path: Path) -> None:
    evidence, *verdicts = read_gold(lines(tmp_path / "rows.jsonl", EVIDENCE, *VERDICTS))
    assert isinstance(evidence, GoldEvidence)
    assert evidence.supporting == {(1, 0)}
    assert [v.supported for v in verdicts if isinstance(v, GoldVerdict)] == [True, False, True, False]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "line 1"),
        ('{"claim": "a"}', "line 1: docs is missing; a row is {"),
        (json.dumps({**VERDICTS[0], "label": "sure"}), "the label 'sure'"),
        ("[1]", "line 1"),
        (json.dumps({**VERDICTS[0], "claim": None}), "None is not a text"),
        (json.dumps({**EVIDENCE, "claim": 3}), "3 is not a text"),
        (json.dumps({**EVIDENCE, "docs": [{"sentences": [None]}]}), "None is not a text"),
        (json.dumps({**EVIDENCE, "docs": []}), "without the sentence (1, 0)"),
        (json.dumps({**EVIDENCE, "supporting": [[1, 7]]}), "without the sentence (1, 7)"),
    ],
)
def test_an_invalid_row_is_an_error_with_its_line(tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "rows.jsonl").write_text(row + "\n")
    with pytest.raises(AppError) as error:
        read_gold(tmp_path / "rows.jsonl")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("data", [b"{", b"[1]", b'[{"question": "q"}]', b"\xff\xfe"])
def test_a_file_that_is_not_alce_s_is_an_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.json").write_bytes(data)
    with pytest.raises(AppError, match="give ALCE's list"):
        read_gold(tmp_path / "a.json")


def test_equal_documents_count_once_and_different_ones_with_one_id_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([{**ITEM, "docs": [*DOCS, DOCS[0]]}]))
    assert [len(row.passages) for row in read_gold(tmp_path / "a.json") if isinstance(row, GoldAnswer)] == [3, 3]
    (tmp_path / "a.json").write_text(json.dumps([{**ITEM, "docs": [*DOCS, {**DOCS[0], "text": "Other."}]}]))
    with pytest.raises(AppError, match="have the id gates"):
        read_gold(tmp_path / "a.json")


def test_rows_without_words_are_measured(parts: Parts, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([{**ITEM, "docs": []}, {**ITEM, "docs": [{"text": "a"}]}]))
    (table,) = evaluate([tmp_path / "a.json"], parts, 10)
    assert {(row.rows, row.f1) for row in table} == {(4, 0.0)}
    without = {**EVIDENCE, "docs": [{"sentences": []}], "supporting": []}
    ranked, cited = evaluate([lines(tmp_path / "r.jsonl", without, {**EVIDENCE, "claim": ""})], parts, 10)
    assert {row.rows for row in (*ranked, *cited)} == {2}


def test_unsupported_claims_alone_have_no_threshold(
    parts: Parts, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    tables = [list(table) for table in evaluate([lines(tmp_path / "r.jsonl", VERDICTS[1])], parts, 10)]
    assert [type(row) for table in tables for row in table] == [ReliabilityRow]
    assert not recwarn.list


def test_rows_are_spread_evenly_over_each_source() -> None:
    rows = [GoldVerdict(source, "", str(i), ("x",), True) for source in "ab" for i in range(10)]
    assert [(r.source, r.claim) for r in spread_over_sources(rows, 3)] == [
        (s, c) for s in "ab" for c in ("0", "4", "8")
    ]


def test_every_method_has_a_row_with_and_without_the_judge(parts: Parts, tmp_path: Path) -> None:
    (tmp_path / "tiny.json").write_text(json.dumps([ITEM]))
    (table,) = evaluate([tmp_path / "tiny.json"], parts, 10)
    assert all(isinstance(row, CitationRow) for row in table)
    assert [(row.method, row.judge) for row in table] == [(m, j) for m in METHODS for j in ("no", "from 0.5")]
    by_way = {(row.method, row.judge): row for row in table}
    whole = by_way["propositions", "from 0.5"]
    assert (whole.source, whole.rows, whole.precision, whole.recall, whole.f1) == ("tiny", 2, 100.0, 100.0, 100.0)
    assert whole.citations == 1.5
    twice = by_way["sentence-2", "no"]
    assert twice.recall == 100.0
    assert twice.precision < 80


def test_sentences_are_ranked_and_claims_judged(parts: Parts, tmp_path: Path) -> None:
    rows = lines(tmp_path / "rows.jsonl", EVIDENCE, *VERDICTS)
    ranked, cited, judged, trusted, cuts = evaluate([rows], parts, 10)
    assert [(r.ranking, r.p_at_1, r.r_at_5, r.mrr) for r in ranked if isinstance(r, RankingRow)] == [
        (ranking, 100.0, 100.0, 100.0) for ranking in ("bm25", "propcite-minilm")
    ]
    assert all(r.f1 == 100.0 for r in ranked)
    assert [(c.method, c.judge) for c in cited if isinstance(c, CitationRow)] == [
        (m, j) for m in ("propositions", "vectors", "alone", "sentence", "sentence-2") for j in ("no", "from 0.5")
    ]
    assert all(c.recall == 100.0 for c in cited)
    assert {(r.source, r.score) for r in judged if isinstance(r, JudgeRow)} == {
        (source, score) for source in ("told", "mean") for score in ("overlap", "similarity", "embedded")
    }
    assert all(r.auc == 100.0 for r in judged)
    assert sum(r.rows for r in trusted if isinstance(r, ReliabilityRow)) == len(VERDICTS)
    assert [(t.wanted_precision, t.precision, t.recall) for t in cuts if isinstance(t, ThresholdRow)] == [
        (precision, 100.0, 100.0) for precision in (80, 85, 90, 95)
    ]


def test_a_judge_is_measured_at_several_thresholds(parts: Parts, tmp_path: Path) -> None:
    (tmp_path / "tiny.json").write_text(json.dumps([ITEM]))
    (table,) = evaluate([tmp_path / "tiny.json"], parts, 10, ["propositions"], [0.25, 1.0])
    assert [(row.method, row.judge) for row in table] == [
        ("propositions", "no"),
        ("propositions", "from 0.25"),
        ("propositions", "from 1"),
    ]
    assert [row.citations for row in table] == [1.5, 1.5, 0.0]
    assert parts.judge is not None
    assert getattr(parts.judge, "supported_from", None) == 0.5  # the judge that was given stays as it was


def test_all_ways_encode_each_text_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[tuple[str, str, object]] = []

    def counting_parts() -> Parts:
        parts = Parts(load_settings(splitter="rules"))
        encode = parts.encoder.encode_passages

        def encode_passages(passages: Sequence[Passage]) -> list[TokenVectors]:
            encoded.extend((passage.text, passage.title, passage.sentences) for passage in passages)
            return encode(passages)

        monkeypatch.setattr(parts.encoder, "encode_passages", encode_passages)
        return parts

    (tmp_path / "tiny.json").write_text(json.dumps([ITEM]))
    files = [tmp_path / "tiny.json", lines(tmp_path / "rows.jsonl", EVIDENCE, EVIDENCE)]
    list(evaluate(files, counting_parts(), 10))
    assert len(encoded) == len(set(encoded))
    encoded.clear()
    list(evaluate([lines(tmp_path / "rows.jsonl", *VERDICTS)], counting_parts(), 10))
    assert sorted(text for text, _, _ in encoded) == sorted(SENTENCES)


def test_bm25_is_needed_only_for_evidence_rows(parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bm25s", None)
    assert len(list(evaluate([lines(tmp_path / "rows.jsonl", *VERDICTS)], parts, 10))) == 3
    monkeypatch.setattr(parts.encoder, "encode_passages", lambda _: pytest.fail("read before it was told"))
    with pytest.raises(PropCiteError, match="pip install "):
        list(evaluate([lines(tmp_path / "marked.jsonl", EVIDENCE)], parts, 10, ["propositions"]))


def test_reliability_and_thresholds_by_hand() -> None:
    rows = [GoldVerdict("told", "", "a", ("b",), supported) for supported in (True, True, True, True, False, False)]
    claims = ScoredClaims(rows, {"judge": np.array([0.95, 0.91, 0.6, 0.55, 0.58, 0.1]), "overlap": np.zeros(6)})
    assert [(r.probability, r.rows, r.supported) for r in reliability_rows(claims)] == [
        ("0.1-0.2", 1, 0.0),
        ("0.5-0.6", 2, 50.0),
        ("0.6-0.7", 1, 100.0),
        ("0.9-1.0", 2, 100.0),
    ]
    assert [(t.wanted_precision, t.supported_from, t.precision, t.recall) for t in threshold_rows(claims)] == [
        (80, 0.55, 80.0, 100.0),
        (85, 0.6, 100.0, 75.0),
        (90, 0.6, 100.0, 75.0),
        (95, 0.6, 100.0, 75.0),
    ]


def test_calibration_error_by_hand() -> None:
    sure = np.array([1.0, 1.0, 0.0, 0.0])
    assert calibration_error(np.array([1, 1, 0, 0]), sure) == 0
    assert calibration_error(np.array([0, 0, 1, 1]), sure) == 1
    assert calibration_error(np.array([1, 0, 0, 0]), np.full(4, 0.55)) == pytest.approx(0.3)


def test_doctests() -> None:
    for module in (judge_bootstrap, judge_scores):
        assert doctest.testmod(module).failed == 0


def test_tables_have_intervals_and_json_names_the_table() -> None:
    figures = (75.0, 50.0, 100.0, 50.0, 25.0, 75.0, 12.5, 0.0, 25.0)
    rows = [JudgeRow("told", 4, "overlap", *figures), JudgeRow("mean", 4, "overlap", *figures)]
    head, first, _ = rows_table(rows).splitlines()
    assert head.split() == ["source", "rows", "score", "auc", "balanced", "accuracy", "calibration", "error"]
    assert first.split()[3:] == "75.0 [50.0, 100.0] 50.0 [25.0, 75.0] 12.5 [0.0, 25.0]".split()
    assert json.loads(row_json(rows[0]))["table"] == "judged"
    cuts = [
        ThresholdRow("judge", precision, cut, 0.5, 1.0, *figures[:6]) for precision, cut in ((80, 0.7), (85, 0.783))
    ]
    shown = [line.split()[2:5] for line in rows_table(cuts).splitlines()[1:]]
    assert shown == [["0.700", "[0.5,", "1.0]"], ["0.783", "[0.5,", "1.0]"]]


def test_bootstrap_figures_equal_those_of_the_samples() -> None:
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 12, 40) / 11  # with ties
    truth = rng.random(40) < 0.2 + 0.6 * scores
    accepted, bins = scores >= 0.5, np.minimum((scores * 10).astype(np.int64), 9)
    drawn = {
        "auc": judge_bootstrap.bootstrap_auc(truth, scores, 3),
        "balanced": judge_bootstrap.bootstrap_balanced_accuracy(truth, accepted, 3),
        "calibration": judge_bootstrap.bootstrap_calibration_error(truth, scores, bins, 3),
        "cut": judge_bootstrap.bootstrap_threshold(truth, scores, 0.8, 3),
    }
    samples = np.concatenate(list(significance.bootstrap_counts(40, 3)))
    assert {len(figures) for figures in drawn.values()} == {len(samples)}
    for number in range(0, len(samples), 100):
        some = np.repeat(np.arange(40), samples[number])
        t, s = truth[some], scores[some]
        assert drawn["auc"][number] == pytest.approx(roc_auc_score(t, s))
        assert drawn["balanced"][number] == pytest.approx(balanced_accuracy_score(t, accepted[some]))
        assert drawn["calibration"][number] == pytest.approx(calibration_error(t, s))
        reaching = [cut for cut in np.unique(scores) if (s >= cut).any() and t[s >= cut].mean() >= 0.8 - 1e-12]
        assert drawn["cut"][number] == min(reaching, default=1.0)


def test_figures_lie_in_their_intervals_and_more_claims_narrow_them() -> None:
    def claims(num: int) -> ScoredClaims:
        rng = np.random.default_rng(1)
        scores = rng.random(num)
        right = rng.random(num) < scores
        rows = [GoldVerdict(f"s{n % 2}", "", "c", ("e",), bool(right[n]), str(n)) for n in range(num)]
        return ScoredClaims(rows, {"judge": scores, "overlap": scores})

    few, many = (list(judge_rows(claims(num))) for num in (40, 400))
    for row in few + many:
        for name in ("auc", "balanced_accuracy", "calibration_error"):
            low, value, high = (getattr(row, f"{name}{end}") for end in ("_low", "", "_high"))
            assert low < value < high
    assert [row.source for row in few] == ["s0", "s1", "mean"] * 2
    assert few[2].auc_high - few[2].auc_low < few[0].auc_high - few[0].auc_low  # twice the claims
    assert many[0].auc_high - many[0].auc_low < few[0].auc_high - few[0].auc_low
    for cut in threshold_rows(claims(400)):
        assert cut.supported_from_low <= cut.supported_from <= cut.supported_from_high
        assert cut.precision_low < cut.precision < cut.precision_high
        assert cut.recall_low < cut.recall < cut.recall_high


def test_the_command_writes_json_lines(propcite: Propcite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROPCITE_SPLITTER", "rules")
    command = ("eval", "cite", "--format", "jsonl", "--supported-from", "0.4")
    done = propcite(*command, str(lines(tmp_path / "r.jsonl", *VERDICTS)))
    assert done.code == 0, done.err
    assert {row["table"] for row in done.rows} == {"judged", "reliability", "threshold"}
    empty = propcite(*command, str(lines(tmp_path / "none.jsonl")))
    assert (empty.code, empty.out) == (2, "")
    message = "these files hold no labelled row: give answers with docs, or claims with docs and labels"
    assert empty.err == f"propcite: {message}\n"


def test_a_run_is_stored_by_item_and_continues_to_the_same_tables(parts: Parts, tmp_path: Path) -> None:
    (tmp_path / "kept.json").write_text(json.dumps([ITEM]))
    files = [tmp_path / "kept.json", lines(tmp_path / "kept.jsonl", EVIDENCE, *VERDICTS)]
    tables_ = [list(table) for table in evaluate(files, parts, 10, ["propositions"])]
    run = parts.runs.run("last")
    assert (run.kind, run.name, run.state, run.judge) == ("cite", "kept.json, kept.jsonl", "done", parts.judge.name)
    items = list(parts.runs.items(run.id))
    assert run.num_items == 2 * 2 + 1 * 4 + 4 * 3
    (first,) = [i for i in items if (i.key, i.way) == ("kept.json:0.0", "passages of answers: propositions, no judge")]
    assert first.measures == {"precision": 1.0, "recall": 1.0, "citations": 2.0}
    assert first.output["cited"] == first.output["wanted"] == ["cost", "gates"]
    (verdict_item,) = [i for i in items if (i.key, i.way) == ("kept.jsonl:2", "claims judged: embedded")]
    assert verdict_item.measures["right"] == 1.0
    assert verdict_item.output["judged"] == [{"probability": verdict_item.measures["score"], "right": True}]
    some = parts.runs.start("cite", run.name, run.settings, run.about, run.judge)
    parts.runs.add(some.id, items[5:])  # as a run that was killed left them
    messages: list[str] = []
    again = [
        list(table)
        for table in evaluate(files, parts, 10, ["propositions"], options=RunOptions(report=messages.append))
    ]
    assert messages == [f"continuing run {some.id}: {len(items) - 5} items are done"]
    assert again == tables_
    assert parts.runs.run(some.id).num_items == len(items)


def test_two_files_with_one_name_are_an_error(parts: Parts, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    files = [lines(folder / "rows.jsonl", EVIDENCE) for folder in (tmp_path, tmp_path / "other")]
    with pytest.raises(AppError, match=r"two files are named rows\.jsonl"):
        list(evaluate(files, parts, 10))
