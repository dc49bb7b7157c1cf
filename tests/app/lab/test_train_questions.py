"""`propcite train questions` and `train question-calibration`: from rows to a reader of questions that answers."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from propcite.app.lab.commands.training import train_cli
from propcite.app.lab.question_training import calibrate_questions, similarities
from propcite.attribution.questions.files import QUESTIONS
from propcite.attribution.questions.reader import QuestionReader, Text
from propcite.attribution.questions.training.examples import QuestionExample
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.splitter import passage_from_sentences
from propcite.retrieval.text import Granularity, Span

THINGS = ("barrier", "bridge", "ferry", "harbour", "library", "market", "tower", "bakery")
TOWNS = ("Ardle", "Bexmoor", "Corran", "Delby", "Esk", "Farrow")


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A document per thing and town, in six sections of which one answers each of two questions, and none the third."""
    rows = []
    for number, (thing, town) in enumerate(product(THINGS, TOWNS)):
        sections = [
            {"title": "Dates", "sentences": [f"The {thing} of {town} was opened in {1900 + number}.", "It rained."]},
            {"title": "Work", "sentences": [f"Ann Pell built the {thing}.", f"{town} had asked for it."]},
            *({"title": f"Visits {n}", "sentences": [f"The {thing} can be seen.", "Dogs wait."]} for n in range(4)),
        ]
        asked = [
            {"question": f"When was the {thing} opened?", "answer_sentences": [[0, 0]], "answer": str(1900 + number)},
            {"question": f"Who built the {thing}?", "answer_sentences": [[1, 0]], "answer": "Ann Pell"},
            {"question": f"What did the {thing} cost?", "answer_sentences": []},
        ]
        rows.append({"title": f"The {thing} of {town}", "sections": sections, "questions": asked})
    return write(tmp_path_factory.mktemp("documents") / "documents.jsonl", rows)


def test_a_reader_is_trained_and_trained_further(documents: Path, tmp_path: Path) -> None:
    def run(*args: str | Path) -> Result:
        return CliRunner().invoke(train_cli, [str(arg) for arg in args])

    out, work = tmp_path / "q.safetensors", tmp_path / "work"
    steps = ("--steps", "1", "--batch-pieces", "256")
    made = run("questions", documents, "--out", out, "--work", work, *steps)
    assert json.loads(made.stdout)["examples"] == {"document": 6 * 3 * len(THINGS) * len(TOWNS)}
    more = run("questions", documents, "--from", out, "--out", tmp_path / "more.safetensors", "--work", work, *steps)
    assert more.exit_code == 0, more.output
    (one,) = QuestionReader(out).read([("Who built it?", Text("Ann Pell built it.", sentences=(Span(0, 18),)))])
    assert one.sentences[0].words is not None
    too_few = run("question-calibration", documents, "--reader", out, "--most", "5")
    assert "too few sentences to fit probabilities" in str(too_few.exception)


def test_probabilities_are_fitted_to_what_answering_reads(documents: Path, tmp_path: Path) -> None:
    """Four sections of each question, and similarity as vectors give it, without what exact words add."""
    shipped = tmp_path / "q.safetensors"
    shipped.write_bytes(QUESTIONS.read_bytes())
    fitted = calibrate_questions([documents], shipped, Encoder(), 60, 0)
    sentences, alone, _ = fitted["fitted"]
    assert (sentences, alone) == (60 * 4 * 2, 60 * 6 * 2)
    assert list(QuestionReader(shipped).calibration.found) == list(fitted["calibration"]["found"])


def test_similarities_are_those_of_vectors_alone() -> None:
    sentences = ("The barrier of Ardle was opened in 1911.", "It rained.", "Dogs wait.")
    example = QuestionExample("When was the barrier of Ardle opened?", sentences, (True, False, False))
    (found,) = similarities(Encoder(), [example])
    passage = passage_from_sentences("p", sentences, "")
    hits = replace(Retriever.over(Encoder(), [passage]), merging=False).search(
        example.question, Granularity.SENTENCE, len(sentences)
    )
    assert found[0] == max(found)
    assert sorted(found) == pytest.approx(sorted(hit.similarity for hit in hits))
    assert hits[0].score > found[0] + 0.01  # exact words raise it
