"""`propcite train splitter`: from rows that hold their parses, over some of the judge's layers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from safetensors import safe_open
from typer.testing import CliRunner

from propcite.app.lab.commands.training import train_cli
from propcite.attribution.english import tag
from propcite.attribution.propositions.learned import LearnedSplitter
from propcite.attribution.propositions.training.examples import Example, read_examples, write_parsed
from propcite.retrieval.text import Span

FACTS = {
    "Ada wrote a book and Bo painted a house.": ["Ada wrote a book.", "Bo painted a house."],
    "Cy sold a boat and Di bought a farm.": ["Cy sold a boat.", "Di bought a farm."],
}
HELD_OUT = "Eve built a wall and Finn dug a well."


def with_own_parses(folder: Path) -> list[Example]:
    """Return the sentences with the parses of the shipped splitter; one that is held out is not among them."""
    plain = folder / "plain.jsonl"
    rows: list[dict[str, object]] = [{"sentence": s, "propositions": p} for s, p in FACTS.items()]
    rows.append({"sentence": HELD_OUT, "propositions": [HELD_OUT], "held_out": True})
    plain.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    examples = []
    for example, parse in zip(read_examples(plain), LearnedSplitter().parses(list(FACTS)), strict=True):
        places = tag(example.sentence, example.sentence).places
        examples.append(replace(example, parse=parse, tokens=tuple(Span(*place) for place in places)))
    return examples


def test_rows_with_parses_are_read_as_they_were_written(tmp_path: Path) -> None:
    examples = with_own_parses(tmp_path)
    write_parsed(tmp_path / "parsed.jsonl.gz", examples)
    assert read_examples(tmp_path / "parsed.jsonl.gz") == examples


def test_it_lies_over_as_many_layers_as_asked_for(tmp_path: Path) -> None:
    rows, again, out = (tmp_path / name for name in ("rows.jsonl.gz", "again.jsonl.gz", "new.safetensors"))
    write_parsed(rows, with_own_parses(tmp_path))
    arguments = ["splitter", str(rows), "--out", str(out), "--parsed", str(again)]
    done = CliRunner().invoke(train_cli, [*arguments, "--layers", "1", "--device", "cpu", "--epochs", "1"])
    assert done.exit_code == 0, done.output
    assert read_examples(again) == read_examples(rows)
    with safe_open(str(out), "pt") as opened:
        assert opened.metadata()["layers"] == "1"
    trained = LearnedSplitter(out)
    assert all(trained.was_trained_on(sentence) for sentence in FACTS)
    assert not trained.was_trained_on(HELD_OUT)
    assert trained.split(HELD_OUT)
