"""`propcite train wording`: the claims of a splitter are worded as people wrote them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from propcite.app.lab.commands.training import train_cli
from propcite.attribution.english import tag
from propcite.attribution.propositions.grouped.steps import fact_of
from propcite.attribution.propositions.grouped.writer import ClaimWriter
from propcite.attribution.propositions.learned import LearnedSplitter
from propcite.attribution.propositions.training.examples import read_examples
from propcite.attribution.propositions.training.wordings import Wording, steps_of, wordings_of
from propcite.attribution.propositions.training.writer_trainer import train
from propcite.attribution.propositions.wording import proposition_of

FACTS = {
    "Painter Ada Lund, appearing in films and plays, owned two sculptures.": [
        "Ada Lund was a painter.",
        "Ada Lund appeared in films.",
        "Ada Lund appeared in plays.",
        "Ada Lund owned two sculptures.",
    ],
    "The chapel was consecrated in 1214, the cloister finished in 1230.": [
        "The chapel was consecrated in 1214.",
        "The cloister was finished in 1230.",
    ],
    "Bo sold a boat.": ["Bo got rich."],
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wording") / "rows.jsonl"
    path.write_text("\n".join(json.dumps({"sentence": s, "propositions": p}) for s, p in FACTS.items()), "utf-8")
    return path


@pytest.fixture(scope="module")
def wordings(rows: Path) -> list[Wording]:
    return wordings_of(LearnedSplitter(), read_examples(rows), lambda: None)


@pytest.mark.parametrize("sentence", list(FACTS)[:2])
def test_the_steps_of_a_claim_write_it_again(sentence: str) -> None:
    s = tag(sentence, sentence)
    for text in FACTS[sentence]:
        steps = steps_of(s, text)
        assert steps is not None
        assert proposition_of(sentence, sentence, s, fact_of(s, steps)).text == text


def test_a_claim_in_other_words_teaches_nothing(wordings: list[Wording]) -> None:
    assert len(wordings) == 6


def test_a_writer_learns_to_write_the_claims(wordings: list[Wording]) -> None:
    writer = ClaimWriter(wordings[0].states.shape[-1])
    losses: list[float] = []
    train(writer, wordings, epochs=150, progress=losses.append)
    assert losses[-1] < losses[0] / 4
    written = writer.write([(wording.states.float(), wording.held) for wording in wordings])
    assert [one and one.steps for one in written] == [wording.steps for wording in wordings]
    assert all(one and one.probability > 0.5 for one in written)


def test_a_claim_is_written_alike_alone_and_beside_longer_ones(wordings: list[Wording]) -> None:
    torch.manual_seed(0)
    writer = ClaimWriter(wordings[0].states.shape[-1]).eval()
    claims = [(wording.states.float(), wording.held) for wording in wordings]
    together = writer.write(claims)
    alone = [writer.write([claim])[0] for claim in claims]
    assert [one and one.steps for one in together] == [one and one.steps for one in alone]


def test_the_command_keeps_the_rest_of_the_splitter(rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "worded.safetensors"
    done = CliRunner().invoke(train_cli, ["wording", str(rows), "--out", str(out), "--epochs", "1", "--device", "cpu"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["claims"] == 6
    sentence = "The canal was begun in 1810 and finished in 1822."
    shipped, trained = LearnedSplitter(), LearnedSplitter(out)
    assert trained.parses([sentence]) == shipped.parses([sentence])
    assert trained.with_style("clause").split(sentence) == shipped.with_style("clause").split(sentence)
    assert trained.split(sentence)


def test_rows_without_wording_are_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"sentence": "Bo sold a boat.", "propositions": ["Bo got rich."]}), "utf-8")
    done = CliRunner().invoke(train_cli, ["wording", str(path)])
    assert done.exit_code != 0
    assert "written in its sentence's words" in str(done.exception)
