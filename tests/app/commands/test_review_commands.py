"""Reviewing a draft on the command line: cited, listed, decided on, written with comments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import docx
import pytest
from commanded import Propcite, commanded
from word_encoder import WordEncoder

from propcite.app import parts as bootstrap

DRAFT = "The gate of the harbour is shut at night. The gate was painted green by volunteers."


@pytest.fixture
def propcite(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Propcite:
    """The command inside this process, over a collection `harbour` and an encoder that loads no model."""
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    monkeypatch.setenv("PROPCITE_SPLITTER", "rules")
    call = commanded(monkeypatch, capsys)
    (tmp_path / "gate.txt").write_text("The gate of the harbour is shut at night.")
    assert call("ingest", "gate.txt", "-c", "harbour").code == 0
    document: Any = docx.Document()
    document.add_heading("The gate", 1)
    document.add_paragraph(DRAFT)
    document.save(str(tmp_path / "draft.docx"))
    return call


def test_a_word_draft_is_cited_decided_on_and_written_with_comments(propcite: Propcite, tmp_path: Path) -> None:
    said = propcite("review", "draft.docx", "-c", "harbour", "--out", "reviewed.docx", "--json")
    assert said.code == 0, said.err
    assert [one["verdict"] for one in said.json["facts"]] == ["supported", "unsupported"]
    assert said.json["facts"][0]["quotes"][0]["quote"] == "The gate of the harbour is shut at night."
    id_ = said.json["id"]
    assert "1 of 2 facts are decided" in propcite("reviews", "decide", id_, "2", "rejected", "--by", "ada").err
    assert propcite("reviews", "export", id_, "-o", "rejected.docx", "--verdict", "unsupported").code == 0
    for file, number in (("reviewed.docx", 2), ("rejected.docx", 1)):
        document: Any = docx.Document(str(tmp_path / file))
        assert [paragraph.text for paragraph in document.paragraphs] == ["The gate", DRAFT]
        assert len(document.comments) == number
    assert "Rejected by ada on " in next(iter(document.comments)).text
    assert [one["choice"] for one in propcite("reviews", "show", id_, "--json").json["facts"]] == ["open", "rejected"]
    assert "painted" not in propcite("reviews", "show", id_, "--choice", "open").out
    (listed,) = propcite("reviews", "list", "-c", "harbour", "--json").json
    assert (listed["name"], listed["state"], listed["num_decided"]) == ("draft.docx", "done", 1)
    assert "1 of 2" in propcite("reviews", "list").out
    did = [one["action"] for one in json.loads(propcite("audit", "--json").out)]
    assert did[:2] == ["decided on a fact", "began review"]
    every = propcite("reviews", "decide", id_, "all", "accepted", "--verdict", "supported")
    assert "kept: 1 accepted; 2 of 2 facts are decided" in every.err
    wrong = propcite("reviews", "decide", id_, "1", "accepted", "--verdict", "supported")
    assert (wrong.code, "give all in place of the fact's number" in wrong.err) == (2, True)
    assert propcite("reviews", "remove", id_).code == 0
    assert "no drafts yet" in propcite("reviews", "list").err


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("review", "draft.docx", "-c", "harbour", "-o", "out.txt"), ".docx or .md"),
        (("review", "draft.docx", "-c", "harbour", "-o", "nowhere/out.md"), "folder that exists"),
        (("review", "missing.docx", "-c", "harbour"), "missing.docx"),
        (("review", "draft.docx", "-c", "nothing"), "no collection 'nothing'"),
        (("reviews", "show", "ffff"), "propcite reviews list"),
        (("reviews", "decide", "ffff", "1", "accepted"), "propcite reviews list"),
    ],
)
def test_wrong_words_get_one_line_and_keep_nothing(propcite: Propcite, words: tuple[str, ...], line: str) -> None:
    said = propcite(*words)
    assert line in said.err
    assert said.err.count("\n") == 1
    assert said.code == 2
    assert propcite("reviews", "list", "--json").json == []
