"""`propcite train judge` and `train calibration`: from rows to a reader that the judge loads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.training import Example as Annotated
from tiny_readers import save_base
from typer.testing import CliRunner

from propcite.app.errors import AppError
from propcite.app.lab.calibrating import calibrate, denied_from
from propcite.app.lab.citing.gold import GoldVerdict
from propcite.app.lab.commands.training_judge import train_cli
from propcite.app.lab.judge_training import train_judge
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import Case
from propcite.attribution.judges.reader import ReaderJudge
from propcite.retrieval.encoding.encoder import Encoder

EVIDENCE = "The harbour gates are made of steel."
SENTENCE = {
    "words": ["The", "gates", "are", "steel", "."],
    "tags": ["DT", "NNS", "VBP", "NN", "."],
    "pos": ["DET", "NOUN", "AUX", "NOUN", "PUNCT"],
    "heads": [1, 2, 2, 2, 2],
    "deps": ["det", "nsubj", "ROOT", "attr", "punct"],
    "entities": ["O"] * 5,
    "lemmas": ["the", "gate", "be", "steel", "."],
}


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Save a pipeline with all its parts that has learned from one sentence."""
    pipeline = spacy.blank("en")
    for part in ("tagger", "parser", "ner"):
        pipeline.add_pipe(part)
    pipeline.add_pipe("trainable_lemmatizer", name="lemmatizer", config={"min_tree_freq": 1})
    example = Annotated.from_dict(pipeline.make_doc("The gates are steel."), SENTENCE)
    named = Annotated.from_dict(pipeline.make_doc("Ann left."), {"entities": [(0, 3, "PERSON")]})
    pipeline.initialize(lambda: [example, named])
    folder = tmp_path_factory.mktemp("parser") / "tiny"
    pipeline.to_disk(folder)
    return str(folder)


@pytest.fixture
def base(tmp_path: Path) -> str:
    return str(save_base(tmp_path / "base", "copper river"))


def rows(folder: Path) -> Path:
    lines: list[dict[str, Any]] = []
    for number in range(20):
        metal, label = ("steel", "supported") if number % 2 else ("copper", "unsupported")
        claim = f"Gate {number} is made of {metal}."
        lines.append({"source": "own", "claim": claim, "evidence": EVIDENCE, "label": label, "doc": f"d{number}"})
    lines.append({"source": "own", "title": "Harbour", "sentences": [EVIDENCE], "query": "What are they made of?"})
    path = folder / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_rows_become_a_reader_that_the_judge_loads(tmp_path: Path, base: str, parser: str, encoder: Encoder) -> None:
    out, work = tmp_path / "reader", tmp_path / "work"
    notes: list[str] = []
    options = {"resume": False, "note": notes.append, "scenes": 1, "steps": 2, "batch_pieces": 400}
    about = train_judge([rows(tmp_path)], base, parser, out, work, **options)
    assert about["reader"] == str(out)
    assert about["recipe"]["steps"] == 2
    assert about["probes"][0]["supported"] >= 10
    assert "20 labelled claims" in notes[0]
    assert not (work / "judge.pt").exists()
    assert any(row["source"] == "scenes" for row in about["probes"])
    verdict = ReaderJudge(encoder, folder=out).judge([Case("Gate 1 is made of steel.", (EVIDENCE,))])[0]
    assert 0 <= verdict.probability <= 1
    made = (work / "examples.jsonl.gz").read_bytes()
    train_judge([rows(tmp_path)], base, parser, out, work, **options)
    assert (work / "examples.jsonl.gz").read_bytes() == made
    with pytest.raises(AppError, match="made with a different parser: use the same, or another --work folder"):
        train_judge([rows(tmp_path)], base, "another", out, work, **options)


def test_a_missing_parser_is_one_line_that_says_how_to_get_one(tmp_path: Path, base: str) -> None:
    with pytest.raises(AttributionError, match="python -m spacy download en_core_web_sm") as error:
        train_judge([rows(tmp_path)], base, "/nowhere", tmp_path / "r", tmp_path, resume=False, note=lambda _: None)
    assert "\n" not in str(error.value)


def test_a_missing_base_is_told_before_examples_are_made(tmp_path: Path, parser: str) -> None:
    work = tmp_path / "work"
    with pytest.raises(AttributionError, match="there is no folder /nowhere"):
        train_judge([rows(tmp_path)], "/nowhere", parser, tmp_path / "r", work, resume=False, note=lambda _: None)
    assert not work.exists()


def test_the_calibration_follows_the_claims_and_is_stored(
    tmp_path: Path, base: str, parser: str, encoder: Encoder
) -> None:
    out, file = tmp_path / "reader", rows(tmp_path)
    train_judge(
        [file], base, parser, out, tmp_path / "work", resume=False, note=lambda _: None,
        scenes=0, steps=150, batch_pieces=400, learning_rate=3e-3,
    )  # fmt: skip
    gold = tmp_path / "gold.jsonl"
    gold.write_text("\n".join(file.read_text().splitlines()[:20]))
    before = ReaderJudge(encoder, folder=out)
    stored = calibrate([gold], out, encoder)
    after = ReaderJudge(encoder, folder=out)
    assert after.calibration != before.calibration
    assert stored["calibration"]["scale"] > 0
    assert stored["reliability"] == {"claims": 20, "sources": 1, "supported_right": 100.0, "refused_right": 100.0}
    assert after.trust == "“supported” is right in 100 of 100 cases (20 labelled claims of 1 source)"


def test_refused_claims_are_called_contradicted_from_where_most_of_them_are() -> None:
    def row(label: str, source: str = "own") -> GoldVerdict:
        return GoldVerdict(source, "", "claim", ("evidence",), label == "supported", label=label)

    denied = [(2.0 + number / 100, row("contradicted")) for number in range(30)]
    others = [(1.9 - number / 100, row("unsupported")) for number in range(30)]
    silent = [(9.0, row("unsupported", "two labels only"))] * 30
    chosen = denied_from([*denied, *others, *silent])
    assert chosen is not None
    assert 1.8 < chosen < 2.0  # a few of the others are tolerated
    assert denied_from([*others, *silent]) is None


def test_too_few_claims_are_one_line(tmp_path: Path, encoder: Encoder) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"claim": "It rains.", "evidence": "It rains.", "label": "supported"}))
    with pytest.raises(AppError, match="1 labelled claims do not suffice: give at least 20"):
        calibrate([gold], tmp_path, encoder)


@pytest.mark.parametrize(
    ("command", "options"),
    [("judge", ("--base", "--parser", "--held-out", "--out", "--work", "--resume")), ("calibration", ("--reader",))],
)
def test_the_commands_name_their_options(command: str, options: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(train_cli, [command, "--help"], env={"COLUMNS": "120"})
    assert shown.exit_code == 0
    assert all(option in shown.output for option in options)
