"""`propcite eval pruning`: every kind of pruning with the sizes of the indexes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_evaluate_alignments import beir, error_line

from propcite.app.lab.ranking.pruning import KINDS, pruning_configs


def lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def test_each_way_is_measured_once_and_reproducibly(propcite, tmp_path: Path) -> None:
    folder = beir(tmp_path / "one")
    arguments = ("eval", "pruning", folder, "--kind", "coverage", "--kind", "idf", "--share", 0.3, "--format", "jsonl")
    result = propcite(*arguments)
    assert result.code == 0, result
    rows = lines(result.out)
    ways = {one["way"] for one in rows if one.get("measure") == "nDCG@10"}
    assert ways == {config.name for config in pruning_configs(["coverage", "idf"], [0.3])}
    assert "coverage 30%, 50% look" in ways
    assert "idf 30% stored" in ways
    sizes = {one["way"]: one for one in rows if one.get("table") == "size"}
    assert sizes["all tokens"]["index"] == sizes["all tokens"]["searched"] == 1.0
    assert sizes["coverage 30% stored"]["index"] < 1.0
    whole = [one["value"] for one in rows if one.get("way") == "all tokens" and one.get("of") == "mean"]
    assert max(whole) <= 1.0
    again = propcite(*arguments)  # a run that is finished is measured anew, and comes to the same
    assert [one for one in lines(again.out) if one.get("measure") != "seconds"] == rows


def test_the_table_shows_sizes(propcite, tmp_path: Path) -> None:
    result = propcite("eval", "pruning", beir(tmp_path / "one"), "--kind", "random", "--share", "0.5")
    assert result.code == 0, result
    assert "random 50% stored" in result.out
    assert "searched" in result.out


def test_weights_add_a_kind_of_their_own(propcite, tmp_path: Path) -> None:
    from propcite.retrieval.encoding.bundled import QUERIES_FILE

    arguments = (
        "eval",
        "pruning",
        beir(tmp_path / "one"),
        "--kind",
        "salience",
        "--weights",
        f"shipped={QUERIES_FILE}",
    )
    result = propcite(*arguments, "--share", "0.5", "--format", "jsonl")
    assert result.code == 0, result
    figures = {(one["way"], one["measure"]): one["value"] for one in lines(result.out) if one.get("of") == "mean"}
    assert figures["shipped 50%", "nDCG@10"] == figures["salience 50%", "nDCG@10"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--kind", "luck"), "no kind 'luck'"),
        (("--share", "0"), "the share 0 of"),
        (("--share", "1.5"), "the share 1.5 of"),
        (("--weights", "mine"), "give a name and an existing file"),
        (("--weights", "mine=nowhere.safetensors"), "give a name and an existing file"),
    ],
)
def test_invalid_arguments_are_one_line_errors(propcite, tmp_path: Path, arguments, message: str) -> None:
    result = propcite("eval", "pruning", beir(tmp_path / "one"), *arguments)
    assert message in error_line(result)


def test_the_kinds_are_those_in_the_help() -> None:
    assert KINDS == ("sentences", "coverage", "salience", "idf", "random")
