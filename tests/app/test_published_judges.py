"""Settings, command line and library offer the same judges, and each reads its checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from commanded import Propcite
from tiny_labellers import SAVERS

from propcite.app.building import build_judge
from propcite.app.commands.given import Judges
from propcite.app.settings import Settings, load_settings
from propcite.attribution.citations import Label
from propcite.attribution.judges import Case
from propcite.attribution.judges.published_judges import PublishedName

PO = "The Po is 652 kilometres long."


def test_command_line_settings_and_library_name_the_same_judges() -> None:
    named = set(get_args(Settings.model_fields["judge"].annotation))
    assert {judge.value for judge in Judges} == named
    assert set(get_args(PublishedName)) == named - {"reader", "embedded", "llm", "none"}


@pytest.mark.parametrize("name", SAVERS)
def test_settings_name_the_judge_and_its_checkpoint(name: str, tmp_path: Path) -> None:
    settings = load_settings(judge=name, judge_model=str(SAVERS[name](tmp_path / "tiny")))
    judge = build_judge(settings, lambda: pytest.fail("no encoder is needed"))
    assert judge is not None
    assert judge.name == f"{name}/tiny"
    assert len(judge.judge([Case(PO, (PO,))])) == 1


@pytest.mark.parametrize("name", ["factcg", "hhem"])
def test_the_command_line_cites_by_the_judge(
    name: str, propcite: Propcite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text.txt").write_text(PO)
    (tmp_path / "passages.jsonl").write_text(json.dumps({"id": "po", "title": "Po", "text": PO}))
    for label, coverage in enumerate((0.0, 1.0)):
        monkeypatch.setenv("PROPCITE_JUDGE_MODEL", str(SAVERS[name](tmp_path / f"label{label}", label)))
        said = propcite("cite", "text.txt", "--passages", "passages.jsonl", "--judge", name, "--json")
        assert (said.code, said.json["models"]["judge"]) == (0, f"{name}/label{label}")
        assert said.json["coverage"] == coverage


def test_an_answer_names_the_words_that_lettucedetect_marks(
    propcite: Propcite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROPCITE_JUDGE_MODEL", str(SAVERS["lettucedetect"](tmp_path / "tiny", ["7"])))
    (tmp_path / "text.txt").write_text(PO.replace("652", "657"))
    (tmp_path / "passages.jsonl").write_text(json.dumps({"id": "po", "title": "Po", "text": PO}))
    said = propcite("cite", "text.txt", "--passages", "passages.jsonl", "--judge", "lettucedetect", "--json")
    assert said.code == 0
    assert said.json["coverage"] == 0
    assert "the source does not say “657”" in said.out
    assert Label.UNSUPPORTED.value in said.out
