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
from propcite.attribution.propositions.training.examples import finished_row, read_examples
from propcite.retrieval.text import Span

FACTS = {
    "Ada wrote a book and Bo painted a house.": ["Ada wrote a book.", "Bo painted a house."],
    "Cy sold a boat and Di bought a farm.": ["Cy sold a boat.", "Di bought a farm."],
}
HELD_OUT = "Eve built a wall and Finn dug a well."


def write_parsed(path: Path) -> Path:
    """Write the sentences with their parses, and one that is held out."""
    plain = path.with_suffix(".plain")
    plain.write_text("\n".join(json.dumps({"sentence": s, "propositions": p}) for s, p in FACTS.items()), "utf-8")
    rows = []
    for example, parse in zip(read_examples(plain), LearnedSplitter().parses(list(FACTS)), strict=True):
        places = tag(example.sentence, example.sentence).places
        rows.append(finished_row(replace(example, parse=parse, tokens=tuple(Span(*place) for place in places))))
    rows.append({"sentence": HELD_OUT, "propositions": [HELD_OUT], "held_out": True})
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return path


def test_it_lies_over_as_many_layers_as_asked_for(tmp_path: Path) -> None:
    rows, out = write_parsed(tmp_path / "rows.jsonl"), tmp_path / "new.safetensors"
    arguments = ["splitter", str(rows), "--out", str(out), "--layers", "1", "--device", "cpu", "--epochs", "1"]
    done = CliRunner().invoke(train_cli, arguments)
    assert done.exit_code == 0, done.output
    with safe_open(str(out), "pt") as opened:
        assert opened.metadata()["layers"] == "1"
    trained = LearnedSplitter(out)
    assert all(trained.was_trained_on(sentence) for sentence in FACTS)
    assert not trained.was_trained_on(HELD_OUT)
    assert trained.split(HELD_OUT)
