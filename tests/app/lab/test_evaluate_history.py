"""`propcite eval history`: stored answers by ALCE's measures, and people compared with the judge."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commanded import Propcite, commanded
from word_encoder import WordEncoder

from propcite.app import parts as bootstrap
from propcite.app.library.feedback import make_feedback
from propcite.app.library.store import Opinion, QuotedSpan
from propcite.app.parts import Parts
from propcite.attribution.citations import CitedAnswer

FERRY = "The ferry leaves at seven. It carries ninety people and their bicycles across the bay.\n"
GOOD = "The ferry leaves at seven."
HALF = "The ferry leaves at seven. The moon is made of green cheese and glass."


@pytest.fixture
def propcite(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Propcite:
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    monkeypatch.setenv("PROPCITE_SPLITTER", "rules")
    return commanded(monkeypatch, capsys)


@pytest.fixture
def parts(open_parts: Callable[..., Parts], tmp_path: Path) -> Parts:
    parts = open_parts(splitter="rules")
    (tmp_path / "ferry.txt").write_text(FERRY)
    list(parts.ingester(parts.library.create_collection("harbour")).ingest([tmp_path / "ferry.txt"]))
    return parts


def cite(parts: Parts, text: str) -> CitedAnswer:
    return parts.pipeline(parts.library.collection("harbour")).cite(text)


def give_feedback(
    parts: Parts, answer: CitedAnswer, fact: str, opinion: Opinion, better: QuotedSpan | None = None
) -> None:
    parts.feedback.save(make_feedback(answer, fact, opinion, better=better))


def test_stored_answers_are_measured_as_in_alce(propcite: Propcite, parts: Parts) -> None:
    cite(parts, GOOD), cite(parts, HALF)
    values = {row["measure"]: row["value"] for row in propcite("eval", "history", "--format", "jsonl").rows}
    assert values["citation_recall"] == values["supported_facts"] == 0.75  # one answer whole, of the other a half
    assert values["citation_precision"] == values["sentences"] - 0.5 == 1
    result = propcite("eval", "history", "-c", "harbour")
    assert result.out.startswith("harbour; judge: embedded/")
    assert "there is no feedback on citations yet" in result.err
    assert [run.kind for run in parts.runs.list()] == ["history", "history"]


def test_people_are_compared_with_the_stored_verdict_and_the_judge_now(propcite: Propcite, parts: Parts) -> None:
    answer = cite(parts, HALF)
    give_feedback(parts, answer, "1", Opinion.RIGHT)
    give_feedback(parts, answer, "2", Opinion.RIGHT)  # nothing supports it
    good = cite(parts, GOOD)
    better = QuotedSpan("p", 0, 11, "The moon is red")
    give_feedback(parts, good, "1", Opinion.WRONG)
    rows = propcite("eval", "history", "--format", "jsonl").rows
    then, now = [row for row in rows if row.get("table") == "agreement"]
    assert (then["judge"], then["labels"], now["labels"]) == ("of that day", 3, 3)
    assert (then["supported"], then["agreement"]) == (33.3, 66.7)  # the judge was wrong where a person says so
    assert then["kappa"] == 0.4
    give_feedback(parts, good, "1", Opinion.BETTER, better)
    result = propcite("eval", "history")
    assert "of that day" in result.out
    run = parts.runs.run("last")
    assert run.settings != parts.runs.list()[1].settings  # what people say is a part of what is measured
    shown = propcite("runs", "show", run.id)
    assert "agreement with people" in shown.out


def test_without_stored_answers_there_is_nothing_to_measure(propcite: Propcite, parts: Parts) -> None:
    assert parts.library.answers() == []
    result = propcite("eval", "history")
    assert (result.code, result.out) == (2, "")
    assert "propcite ask QUESTION stores the first" in result.err
    assert propcite("eval", "history", "-c", "nowhere").code == 2


def test_a_single_opinion_has_no_kappa(propcite: Propcite, parts: Parts) -> None:
    give_feedback(parts, cite(parts, GOOD), "1", Opinion.RIGHT)
    rows = propcite("eval", "history", "--format", "jsonl").rows
    agreements = [row for row in rows if row.get("table") == "agreement"]
    assert [(one["agreement"], one["kappa"], one["auc"]) for one in agreements] == [(100.0, None, None)] * 2
    assert "  -  " in propcite("eval", "history").out
