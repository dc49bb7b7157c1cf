"""`propcite eval compare`: candidates by their settings or their result files, beside each other in one run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from alce_samples import ASQA, ELI5, QAMPARI, results, save
from commanded import Propcite, Said

from propcite.app.errors import AppError
from propcite.app.lab.alce.candidates import Candidate, read_candidate
from propcite.app.lab.alce.files import kind_of

GOOD = ["The Po flows through Turin [1].", "It rained in 1951 [2]."]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"DATA_DIR": str(tmp_path / "data"), "SPLITTER": "rules", "JUDGE": "embedded"}.items():
        monkeypatch.setenv(f"PROPCITE_{name}", value)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return save(tmp_path / "asqa.json", ASQA)


@pytest.fixture
def compare(propcite: Propcite, file: Path) -> Callable[..., Said]:
    """The command over a small file of ASQA, with a judge that need not pass its test."""

    def call(*arguments: object) -> Said:
        return propcite("eval", "compare", str(file), "--no-rouge", "--force", *map(str, arguments))

    return call


def test_candidates_are_measured_beside_each_other(compare: Callable[..., Said], tmp_path: Path) -> None:
    outputs = [save(tmp_path / f"{name}.json", results(ASQA, texts)) for name, texts in _answers().items()]
    lines = compare("--outputs", outputs[0], "--outputs", outputs[1], "--format", "jsonl").rows
    values = {(one["way"], one["measure"]): one["value"] for one in lines if "way" in one}
    assert values["with.json", "str_em"] > values["without.json", "str_em"] == 0
    [compared] = [one for one in lines if "first" in one]
    assert (compared["first"]["way"], compared["second"]["way"]) == ("with.json", "without.json")
    figure = next(one for one in compared["figures"] if one["measure"] == "str_em")
    assert figure["difference"] == pytest.approx(-values["with.json", "str_em"])
    assert 0 < figure["p"] <= 1


def _answers() -> dict[str, list[str]]:
    def known(item: Any) -> str:
        return " ".join(f"It was {pair['short_answers'][0]}." for pair in item["qa_pairs"])

    return {"with": [known(item) for item in ASQA], "without": ["Nobody knows."] * len(ASQA)}


def test_settings_are_candidates_and_finished_runs_are_taken_over(
    compare: Callable[..., Said], propcite: Propcite
) -> None:
    given = ["--with", "as set:", "--with", "no judge: judge=none", "--way", "propcite", "--context", "2"]
    first = compare(*given)
    assert first.code == 0, first.err
    assert "first: as set; second: no judge" in first.out
    assert "citation recall" in first.out
    again = compare(*given)
    assert again.err.count("is taken over") == 2
    run = again.err.split("export ")[-1].split()[0]
    assert run in first.err
    assert "no judge" in propcite("runs", "export", run, "--format", "html").out
    assert "as set & " in propcite("runs", "export", run, "--format", "latex").out
    third = compare(*given, "--with", "other: most_citations=1").err
    assert third.count("is taken over") == 2


def test_each_way_is_compared_with_the_same_way(compare: Callable[..., Said]) -> None:
    ways = ["--way", "propcite", "--way", "bm25"]
    text = compare("--with", "a: most_citations=1", "--with", "b: most_citations=2", *ways).out
    assert "first: a, propcite; second: b, propcite" in text
    assert "first: a, bm25; second: b, bm25" in text


def test_an_unfinished_run_of_other_settings_is_let_be(
    compare: Callable[..., Said], propcite: Propcite, file: Path
) -> None:
    failed = propcite("eval", "asqa", str(file), "--no-rouge", "--force", "--generator", "openai", "--way", "generate")
    assert failed.code
    assert "second: b" in compare("--with", "a: splitter=rules", "--with", "b: most_citations=1").out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((), "there is nothing to compare with"),
        (("--with", "judge=none"), "there is nothing to compare with"),
        (("--with", "a: judge=none", "--with", "a: judge=embedded"), "two candidates have the name 'a'"),
        (("--with", "a: judge=embedded", "--with", "b: jugde=none"), "there is no setting 'jugde'"),
        (("--with", "a: judge", "--with", "b: judge=none"), "'a: judge' names no settings"),
        (("--with", "a: judge=embedded", "--with", "b: judge=none"), "propcite+judge needs a judge"),
        (("--with", "a: judge=embedded", "--outputs", "/nowhere.json"), "cannot read /nowhere.json"),
        (("--with", "a: judge='none", "--with", "b: judge=none"), "cannot be read"),
    ],
)
def test_bad_candidates_are_one_line(compare: Callable[..., Said], given: tuple[str, ...], message: str) -> None:
    said = compare(*given)
    assert said.code
    assert message in said.err
    assert len(said.err.splitlines()) == 1


def test_the_data_set_is_known_by_its_correct_answers(tmp_path: Path, file: Path) -> None:
    assert kind_of(file) == "asqa"
    assert kind_of(save(tmp_path / "eli5.json", ELI5)) == "eli5"
    plain = [{"question": "Why?", "docs": [{"title": "", "text": "Because."}]}]
    with pytest.raises(AppError, match="has no qa_pairs and no claims"):
        kind_of(save(tmp_path / "plain.json", plain))


def test_lists_have_their_own_prompt_unless_a_candidate_names_one(propcite: Propcite, tmp_path: Path) -> None:
    file = save(tmp_path / "qampari.json", QAMPARI)
    candidates = ("--with", "lists: most_citations=1", "--with", "own: most_citations=1 prompt=cite")
    said = propcite("eval", "compare", str(file), *candidates, "--force", "--way", "propcite")
    assert said.code == 0, said.err
    assert "first: lists; second: own" in said.out


def test_a_name_may_be_given_before_the_settings() -> None:
    assert read_candidate("large one: llm_model='a b' judge=none") == Candidate(
        "large one", {"llm_model": "a b", "judge": "none"}
    )
    assert read_candidate("llm_url=http://host:1/v1").settings == {"llm_url": "http://host:1/v1"}
