"""`propcite eval split`: figures checked by hand, every kind of row, and errors with their line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from propcite.app.errors import AppError
from propcite.app.lab.runs.runner import RunOptions
from propcite.app.lab.splitting import evaluation
from propcite.app.lab.splitting.scores import Spans, SplitterRow, as_table, sentence_measures, splitter_row
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.text import Span

PLAIN = {"sentence": "Ada sings and Bo paints.", "propositions": ["Ada sings.", "Bo paints."], "source": "told"}
MARKED = {"sentence": "Ada sings.", "tokens": ["Ada", "sings", "."], "token_indices": [[0, 1]], "source": "marked"}
SEVERAL = {"sentence": "Ada sings.", "all_references": [["Ada sings."], ["Ada.", "sings."]], "source": "several"}


def write_rows(path: Path, *rows: object) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, "utf-8")
    return path


def read(path: Path, most: int = 100) -> list[evaluation.GoldSentence]:
    return evaluation.read_gold(path, lambda _: True, most)


def score(row: evaluation.GoldSentence, spans: Spans) -> SplitterRow:
    return splitter_row("told", "by hand", [sentence_measures(row.tokens, row.references, spans)], 2.0)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_rows_of_every_kind_are_read(tmp_path: Path, name: str) -> None:
    plain, marked, several = read(write_rows(tmp_path / name, PLAIN, MARKED, SEVERAL))
    assert plain.references == ((frozenset({0, 1}), frozenset({3, 4})),)
    assert marked.tokens[-1] == Span(9, 10)
    wholes = [
        sentence_measures(row.tokens, row.references, [(Span(0, 4),)])["whole"] for row in (plain, marked, several)
    ]
    assert wholes == [None, 1.0, None]


def test_training_rows_are_left_out_and_the_others_spread_evenly(tmp_path: Path) -> None:
    rows = [{**PLAIN, "sentence": f"Ada sings {n} songs."} for n in range(10)]
    path = write_rows(tmp_path / "rows.jsonl", *rows)
    assert [row.sentence for row in evaluation.read_gold(path, lambda s: "9" in s, 5)] == ["Ada sings 9 songs."]
    assert [row.sentence[10] for row in read(path, 5)] == list("02468")


def test_figures_by_hand(tmp_path: Path) -> None:
    (row,) = read(write_rows(tmp_path / "rows.jsonl", PLAIN))
    half = score(row, [(Span(0, 9),), (Span(10, 13),)])
    assert (half.precision, half.recall, half.f1, half.exact_f1) == (50, 50, 50, 50)
    assert (half.coverage, half.propositions, half.whole, half.single) == (50, 2, 0, 0)
    (single,) = read(write_rows(tmp_path / "rows.jsonl", MARKED))
    whole = score(single, [(Span(0, 10),)])
    assert (whole.f1, whole.whole, whole.single) == (0, 1, 1)  # the stop is a token that people did not mark


def test_the_nearest_of_several_references_counts(tmp_path: Path) -> None:
    (row,) = read(write_rows(tmp_path / "rows.jsonl", SEVERAL))
    assert score(row, [(Span(0, 10),)]).f1 == 100
    assert score(row, [(Span(0, 3),), (Span(4, 9),)]).f1 == 100


def test_rows_without_propositions_have_no_f1_and_are_still_judged(tmp_path: Path) -> None:
    parts = Parts(load_settings(data_dir=tmp_path / "data"))
    row = {"sentence": "Marta Sund is a Norwegian painter and sculptor.", "source": "plain"}
    (score,) = evaluation.evaluate([write_rows(tmp_path / "rows.jsonl", row)], parts, 10, only=["learned"])
    assert score.f1 != score.f1
    assert (score.propositions, score.supported, score.well_formed) == (3, 100, 100)
    with pytest.raises(AppError, match="there is no splitter 'none'"):
        evaluation.evaluate([tmp_path / "rows.jsonl"], parts, 10, only=["none"])
    parts.library.close()


def test_the_naive_splitters() -> None:
    sentence = "Ada sings, Bo paints and Cy rows."
    assert [p.spans for p in evaluation.whole_sentences([sentence])[0]] == [(Span(0, 33),)]
    assert [p.text for p in evaluation.split_at_commas([sentence])[0]] == [
        "Ada sings",
        "Bo paints",
        "Cy rows.",
    ]


BAD = [
    ('{"sentence": 1}', "line 1: sentence: Input should be a valid string"),
    ("no json", "line 1: Invalid JSON"),
    ('{"sentence": "Ada sings.", "token_indices": [[0]]}', "line 1: tokens is missing"),
    ('{"sentence": "Ada.", "tokens": ["Bo"], "token_indices": [[0]]}', "line 1: tokens are not the words"),
    ('{"sentence": "Ada.", "tokens": ["Ada"], "token_indices": [[1]]}', "line 1: token_indices names a token"),
]


@pytest.mark.parametrize(("line", "message"), BAD)
def test_an_invalid_row_is_an_error_with_its_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(line + "\n", "utf-8")
    with pytest.raises(AppError) as error:
        read(path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match="cannot be read"):
        read(tmp_path / "none.jsonl")


def test_every_splitter_has_a_row_and_every_item_is_stored(tmp_path: Path) -> None:
    parts = Parts(load_settings(data_dir=tmp_path / "data"))
    files = [write_rows(tmp_path / "rows.jsonl", PLAIN, MARKED)]
    scores = evaluation.evaluate(files, parts, 10)
    names = [score.splitter for score in scores if score.source == "told"]
    assert names[:2] == ["learned", "learned, atomic"]
    assert {"rules", "whole sentence", "commas and and"} < set(names)
    table = as_table(scores).splitlines()
    assert len(table) == 1 + len(scores)
    assert len({len(line) for line in table}) == 1
    assert json.loads(scores[0].as_json())["splitter"] == "learned"
    run = parts.runs.run("last")
    items = list(parts.runs.items(run.id))
    assert (run.kind, run.state, run.num_items) == ("split", "done", 2 * len(names))
    (whole,) = [i for i in items if (i.key, i.way) == ("rows.jsonl:1", "whole sentence")]
    assert whole.output["propositions"] == [["Ada sings and Bo paints."]]
    some = parts.runs.start("split", run.name, run.settings, run.about, run.judge)
    parts.runs.add(some.id, items[: len(names)])  # as a run that was killed left them
    again = evaluation.evaluate(files, parts, 10, RunOptions())
    assert parts.runs.run(some.id).num_items == len(items)
    assert [(s.splitter, s.f1, s.f1_low) for s in again] == [(s.splitter, s.f1, s.f1_low) for s in scores]
    parts.library.close()
