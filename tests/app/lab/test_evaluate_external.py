"""A citing system of others, as a program: beside our methods in `eval cite`, and as a way on ALCE's files."""

from __future__ import annotations

import json
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from alce_samples import ASQA, save
from commanded import Propcite

from propcite.app.errors import AppError
from propcite.app.lab.citing.external import ExternalMethod
from propcite.app.lab.runs.processor_time import processor_seconds
from propcite.attribution.citing.splitting import split_answer
from propcite.attribution.propositions.rules import RuleSplitter
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Passage

# Cites the passage that shares the most words with a sentence; the switch makes it fail.
PROGRAM = """
import json, sys, time
fault = sys.argv[1] if len(sys.argv) > 1 else ""
for line in sys.stdin:
    asked = json.loads(line)
    def shared(sentence, passage):
        return len(set(sentence.lower().split()) & set((passage["title"] + " " + passage["text"]).lower().split()))
    numbers = range(1, len(asked["passages"]) + 1)
    best = [[max(numbers, key=lambda n: shared(s, asked["passages"][n - 1]))] for s in asked["sentences"]]
    answer = {"id": asked["id"], "citations": best}
    if fault == "dies":
        sys.exit(3)
    if fault == "computes":
        while time.process_time() < 0.5:
            pass
    if fault == "sleeps":
        time.sleep(60)
    if fault == "other id":
        answer["id"] = 99
    if fault == "too few":
        answer["citations"] = best[1:]
    if fault == "no such passage":
        answer["citations"] = [[7]] * len(best)
    if fault == "no citations":
        del answer["citations"]
    print("no JSON" if fault == "no JSON" else json.dumps(answer), flush=True)
"""
DOCS = [
    {"id": "gates", "title": "Barrier", "text": "The tidal barrier has fourteen steel gates."},
    {"id": "cost", "title": "Barrier", "text": "The barrier cost 410 million euros."},
]
ANSWER = "The tidal barrier has fourteen steel gates. The barrier cost 410 million euros."
ITEM = {
    "question": "What is known of the barrier?",
    "docs": DOCS,
    "annotations": [{"long_answer": ANSWER, "knowledge_doc_ids": ["gates", "cost"]}],
}


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "cite by words.py"
    path.write_text(PROGRAM)
    return f"{sys.executable} {shlex.quote(str(path))}"


def test_a_program_is_measured_beside_our_methods(propcite: Propcite, tmp_path: Path, program: str) -> None:
    (tmp_path / "tiny.json").write_text(json.dumps([ITEM]))
    arguments = ("--method", "propositions", "--method", f"command={program}", "--format", "jsonl")
    said = propcite("eval", "cite", tmp_path / "tiny.json", *arguments)
    rows = [json.loads(line) for line in said.out.splitlines()]
    assert [(row["method"], row["f1"]) for row in rows if row["judge"] == "no"] == [
        ("propositions", 100.0),
        (f"command={program}", 100.0),
    ]


def test_a_program_is_a_way_on_alces_files(propcite: Propcite, tmp_path: Path, program: str) -> None:
    path = save(tmp_path / "asqa.json", ASQA)
    ways = ("--way", f"command={program}", "--way", f"command={program}+judge")
    said = propcite("eval", "asqa", path, "--human", *ways, "--force", "--out", tmp_path / "out")
    assert said.code == 0, said.err
    assert f"command={program}" in said.out
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert len(written) == 2
    assert not any(set(name) & set("/= ") for name in written)


def test_the_processor_time_of_a_program_is_counted(propcite: Propcite, tmp_path: Path, program: str) -> None:
    path = save(tmp_path / "asqa.json", ASQA)
    way = f"command={program} computes"
    assert propcite("eval", "asqa", path, "--human", "--way", way, "--force").code == 0
    costs = [row["cost"] for row in json.loads(propcite("runs", "export", "last", "--format", "json").out)["items"]]
    cited = [cost for cost in costs if "citing_cpu_seconds" in cost]
    assert sum(cost["citing_cpu_seconds"] for cost in cited) >= 0.4
    assert sum(cost["cpu_seconds"] for cost in cited) >= 0.4
    assert all(cost["cited_sentences"] >= 1 for cost in cited)
    assert "citing, CPU ms a sentence" in propcite("runs", "show", "last").out


def test_a_program_behind_a_shell_is_counted(encoder: Any, program: str) -> None:
    before = processor_seconds() - time.process_time()
    shell = f"sh -c {shlex.quote(program + ' computes; true')}"
    find(ExternalMethod(shell), encoder)
    assert processor_seconds() - time.process_time() - before >= 0.4


def test_a_program_without_scores_has_no_threshold(propcite: Propcite, tmp_path: Path, program: str) -> None:
    said = propcite(
        "eval", "asqa", save(tmp_path / "asqa.json", ASQA), "--human", "--way", f"command={program}+threshold"
    )
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "a program gives no scores" in said.err


def find(method: ExternalMethod, encoder: Any) -> Any:
    sentences = split_answer(ANSWER, RuleSplitter())
    return method.find(sentences, Retriever.over(encoder, [Passage(d["id"], d["text"]) for d in DOCS]), 8)


def test_without_passages_nothing_is_asked(encoder: Any, program: str) -> None:
    sentences = split_answer(ANSWER, RuleSplitter())
    found = ExternalMethod(f"{program} dies").find(sentences, Retriever.over(encoder, []), 8)
    assert found == [[[]], [[]]]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("dies", "ended with 3 after 0 answers: what is measured is kept"),
        ("other id", "answer 1: it answers 99 where 1 was sent"),
        ("too few", "answer 1: 1 lists for 2 sentences"),
        ("no such passage", "answer 1: passage 7 is none of 1 to 2"),
        ("no citations", "answer 1: 'citations' is missing"),
        ("no JSON", "answer 1: Expecting value"),
    ],
)
def test_a_program_that_fails_is_one_line(encoder: Any, program: str, fault: str, said: str) -> None:
    with pytest.raises(AppError, match=said):
        find(ExternalMethod(f"{program} {shlex.quote(fault)}"), encoder)


def test_a_program_that_hangs_is_ended(encoder: Any, program: str) -> None:
    with pytest.raises(AppError, match=r"gave no answer in 0\.5 s after 0 answers"):
        find(ExternalMethod(f"{program} sleeps", seconds=0.5), encoder)


@pytest.mark.parametrize(
    ("command", "said"),
    [("no-such-program --fast", "there is no such program"), ("", "there is no such program"), ("a 'b", "No closing")],
)
def test_a_command_that_is_none_is_one_line(command: str, said: str) -> None:
    with pytest.raises(AppError, match=said):
        ExternalMethod(command)
