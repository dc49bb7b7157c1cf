"""Formats on the command line: to standard output or into a file, and one line for what cannot be written."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import docx
import pytest
from commanded import Propcite, Said, commanded
from word_encoder import WordEncoder

from propcite.app import parts as bootstrap
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.attribution.citations import (
    Citation,
    CitedAnswer,
    CitedProposition,
    CitedSentence,
    Evidence,
    Label,
    Proposition,
    Verdict,
)
from propcite.attribution.formats import FORMATS, Unit
from propcite.attribution.formats.json import to_dict
from propcite.attribution.formats.json.native import from_native, to_native
from propcite.retrieval.text import Passage, Span

PO = Passage("po", "The Po 🌊 is 652 km long.", "Po")
TEXTS = [name for name, form in FORMATS.items() if form.is_text]


@pytest.fixture
def propcite(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Propcite:
    """The command inside this process, over an encoder and a splitter that load no model."""
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    monkeypatch.setenv("PROPCITE_SPLITTER", "rules")
    monkeypatch.setenv("PROPCITE_JUDGE", "none")

    return commanded(monkeypatch, capsys)


@pytest.fixture
def answer(tmp_path: Path) -> CitedAnswer:
    """An answer that is kept in the collection `default`."""
    verdict = Verdict(Label.SUPPORTED, 0.9)
    citation = Citation(1, Evidence(PO, Span(0, 24), 0.9, 0.9), verdict)
    fact = CitedProposition(Proposition((Span(0, 15),), "It is 🌊 652 km."), verdict, (citation,))
    kept = CitedAnswer("It is 🌊 652 km.", (CitedSentence(Span(0, 15), (fact,)),), "How long?", "default")
    library = Parts(load_settings(data_dir=tmp_path / "data")).library
    library.save_answer(library.create_collection("default"), kept)
    library.close()
    return kept


def refused(said: Said) -> str:
    assert (said.code, said.out) == (2, ""), said
    assert said.err.count("\n") == 1, said.err
    return said.err


def test_the_formats_are_listed(propcite: Propcite) -> None:
    listed = propcite("formats", "--json").json
    assert [row["name"] for row in listed] == list(FORMATS)
    assert all(set(row) == {"name", "suffix", "media_type", "what"} for row in listed)
    shown = propcite("formats")
    assert shown.code == 0
    assert all(name in shown.out for name in FORMATS)


@pytest.mark.parametrize("name", TEXTS)
def test_a_kept_answer_is_written_in_every_format(propcite: Propcite, answer: CitedAnswer, name: str) -> None:
    said = propcite("show", answer.id, "--format", name)
    assert (said.code, said.err) == (0, "")
    assert said.out.encode() == FORMATS[name].write(answer)
    written = propcite("show", answer.id, "-f", name, "-o", "answer.file")
    assert (written.code, written.out, written.err) == (0, "", "written to answer.file\n")
    assert Path("answer.file").read_bytes() == FORMATS[name].write(answer)


def test_a_word_document_needs_a_file(propcite: Propcite, answer: CitedAnswer) -> None:
    assert "--out answer.docx" in refused(propcite("show", answer.id, "--format", "docx"))
    assert propcite("show", answer.id, "--format", "docx", "--out", "a.docx").code == 0
    assert docx.Document("a.docx").paragraphs[0].text == "How long?"


def test_json_stays_as_it_was_and_counts_in_other_units_on_request(propcite: Propcite, answer: CitedAnswer) -> None:
    said = propcite("show", answer.id, "--json")
    assert said.out.count("\n") == 1
    assert said.json == json.loads(json.dumps(to_dict(answer)))
    counted = propcite("show", answer.id, "--json", "--offsets", "utf-16")
    assert counted.json == json.loads(json.dumps(to_native(answer, Unit.UTF_16)))
    assert from_native(counted.out) == answer
    cohere = propcite("show", answer.id, "--format", "cohere", "--offsets", "bytes").json
    assert (cohere["offsets"], cohere["citations"][0]["end"]) == ("bytes", 18)
    assert propcite("show", answer.id, "--json", "--out", "a.json").out == ""
    assert json.loads(Path("a.json").read_text("utf-8")) == said.json


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--format", "odt"], "there is no format 'odt': give one of html, markdown"),
        (["--format", "html", "--json"], "--json is --format json"),
        (["--out", "a.html"], "--out and --offsets need a --format"),
        (["--offsets", "bytes"], "--out and --offsets need a --format"),
        (["--format", "w3c", "--offsets", "bytes"], "w3c cannot count places in bytes"),
        (["--format", "html", "--out", "."], "--out names a file in a folder that exists"),
        (["--format", "html", "--out", "nowhere/a.html"], "--out names a file in a folder that exists"),
        (["--format", "html", "--out", "/dev/full"], "/dev/full cannot be written"),
    ],
)
def test_what_cannot_be_written_is_told(propcite: Propcite, answer: CitedAnswer, words: list[str], told: str) -> None:
    assert told in refused(propcite("show", answer.id, *words))
    assert os.listdir() == ["data"]


def test_a_wrong_format_is_told_before_anything_is_read(propcite: Propcite) -> None:
    for words in (["ask", "How long?"], ["cite", "nowhere.txt"], ["cite", "--batch", "nowhere.jsonl"]):
        assert "no format 'odt'" in refused(propcite(*words, "--format", "odt"))
    assert "--batch writes JSON lines" in refused(propcite("cite", "--batch", "-f", "html"))


def test_asking_and_citing_write_a_format_and_keep_their_exit_codes(propcite: Propcite) -> None:
    Path("po.txt").write_text("The Po is 652 kilometres long. It ends in the Adriatic.\n")
    Path("claim.txt").write_text("The Po is 652 kilometres long. Cheese is yellow.\n")
    assert propcite("ingest", "po.txt").code == 0
    asked = propcite("ask", "How long is the Po?", "--format", "alce")
    assert asked.out.count("\n") == 1
    assert (asked.code == 0) is ("[1]" in asked.out)
    cited = propcite("cite", "claim.txt", "--format", "alce", "--fail-under", "1")
    assert (cited.code, cited.out) == (1, "The Po is 652 kilometres long [1]. Cheese is yellow.\n")
    Path("passages.jsonl").write_text('{"id": "a", "text": "Cheese is yellow."}\n')
    over = propcite("cite", "claim.txt", "--passages", "passages.jsonl", "-f", "alce-item").json
    assert over["output"] == "The Po is 652 kilometres long. Cheese is yellow [1]."


def test_a_terminal_of_few_letters_loses_signs_and_no_answer(
    propcite: Propcite, answer: CitedAnswer, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", few)
        assert propcite("show", answer.id, "--format", "alce").code == 0
        few.flush()
    assert isinstance(few.buffer, io.BytesIO)
    assert few.buffer.getvalue() == b"It is ? 652 km [1].\n"
