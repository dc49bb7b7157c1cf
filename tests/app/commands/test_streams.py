"""`propcite cite --stream` tells events while the text still comes, and the whole in the end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commanded import Propcite, standard_input
from paths import ROOT

from propcite.app.answering.pipeline import Pipeline
from propcite.app.commands import streams
from propcite.app.parts import Parts
from propcite.app.terminal import out
from propcite.attribution.events import AnswerDone, TextDelta

TEXT = "The barrier cost 410 million euros [3]. It is 3 metres high.\n"
PASSAGE = {"id": "a", "text": "The barrier cost 410 million euros. The state paid two thirds of it."}


@pytest.fixture
def passages(tmp_path: Path) -> Path:
    path = tmp_path / "passages.jsonl"
    path.write_text(json.dumps(PASSAGE) + "\n")
    return path


def start(passages: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "propcite", "cite", "--stream", "--passages", str(passages), *options]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_events_come_while_the_text_is_written(passages: Path) -> None:
    """The sentence is told before the input ends; the marker is left out."""
    with start(passages, "--strip-markers", "--fail-under", "0.9") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(TEXT[:50])
        running.stdin.flush()
        told = [json.loads(running.stdout.readline()) for _ in range(1)]
        running.stdin.write(TEXT[50:])
        running.stdin.flush()
        while told[-1]["event"] != "sentence":
            told.append(json.loads(running.stdout.readline()))
        running.stdin.close()
        told += [json.loads(line) for line in running.stdout]
        assert running.wait() == 1  # half of it has no support
    assert "".join(t["data"]["text"] for t in told if t["event"] == "text") == TEXT.replace(" [3]", "")
    assert [t["event"] for t in told if t["event"] != "text"] == ["sentence", "sentence", "done"]
    assert told[-1]["data"]["sentences"][0]["citations"][0]["passage_id"] == "a"


@pytest.mark.parametrize(
    ("options", "text", "line"),
    [([], "", "there was nothing to read"), (["--batch"], TEXT, "--stream writes JSON events")],
)
def test_what_cannot_be_done_is_one_line(
    propcite: Propcite, passages: Path, tmp_path: Path, options: Sequence[str], text: str, line: str
) -> None:
    with standard_input(text.encode(), tmp_path / "stdin"):
        said = propcite("cite", "--stream", "--passages", str(passages), *options)
    assert said.code == 2
    assert line in said.err


def test_a_collection_keeps_the_answer(open_parts: Any, tmp_path: Path) -> None:
    parts: Parts = open_parts()
    (tmp_path / "note.txt").write_text(PASSAGE["text"])
    collection = parts.library.create_collection("notes")
    list(parts.ingester(collection).ingest([tmp_path / "note.txt"]))
    pipeline: Pipeline = parts.pipeline(collection)
    *told, done = pipeline.cite_stream(iter(["The barrier cost ", "410 million euros."]))
    assert isinstance(done, AnswerDone)
    assert [type(event) for event in told[:2]] == [TextDelta, TextDelta]
    assert parts.library.answer(done.answer.id) == done.answer
    assert done.answer.collection == "notes"


def test_pieces_are_whole_characters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MAX_BYTES", 1)
    (tmp_path / "text").write_bytes("\ufeff€ 5 – 雨".encode() + b"\xff\xe2")
    assert "".join(streams.pieces(str(tmp_path / "text"))) == "€ 5 – 雨\ufffd\ufffd"


def test_on_a_terminal_the_text_comes_with_its_markers(open_parts: Any) -> None:

    parts: Parts = open_parts()
    events = parts.propcite.stream(list(TEXT), [PASSAGE])
    with out.capture() as shown:
        answer = streams._shown(events, {})
    text = shown.get()
    assert text.startswith("The barrier cost 410 million euros [3].[1] It is 3 metres high.")
    assert text.count("The barrier cost 410 million euros") == 3  # the text, the fact, the quote
    assert answer.text == TEXT


def test_the_whole_answer_says_why_a_quote_may_differ_from_its_source(
    open_parts: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts: Parts = open_parts()
    (tmp_path / "note.txt").write_text(PASSAGE["text"])
    collection = parts.library.create_collection("notes")
    (outcome,) = parts.ingester(collection).ingest([tmp_path / "note.txt"])
    parts.library.note_reading(outcome.document_id, {"kind": "text", "lost_characters": "3"}, 1)
    doubt = "3 characters could not be read"
    events = parts.pipeline(collection).cite_stream(iter(["The barrier cost 410 million euros."]))
    answer = streams.print_events(events, {}, parts, as_json=True)
    assert answer.citations[0].evidence.doubt == doubt
    done = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert done["data"]["sentences"][0]["citations"]
    with out.capture() as shown:
        streams._shown([AnswerDone(answer)], {})
    assert doubt in shown.get()
