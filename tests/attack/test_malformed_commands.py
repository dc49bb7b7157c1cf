"""Malformed input of every command and filter ends in one line and exit code 2, or in one line per bad line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from attacking import EXAMPLES
from commanded import Said
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from propcite.app.errors import AppError
from propcite.app.library.conditions import parse_condition

DEEP = "[" * 100_000
DEEP_OBJECT = '{"a":' * 50_000
Command = Callable[..., Said]
SEARCHED = settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), deadline=None)


def refused(said: Said) -> str:
    """Return the one line with which a command was refused."""
    assert "Traceback" not in said.err
    assert said.code == 2, said
    assert len(said.err.strip().splitlines()) == 1, said.err
    return said.err


# Deep JSON


@pytest.mark.parametrize("deep", [DEEP, DEEP_OBJECT, "[" * 900 + "]" * 900, '{"a":' * 900 + "1" + "}" * 900])
def test_deep_json_is_refused(propcite: Command, tmp_path: Path, deep: str) -> None:
    file = tmp_path / "deep.json"
    file.write_text(deep)
    for words in (("explain", str(file)), ("eval", "cite", str(file))):
        refused(propcite(*words))
    imported = propcite("import", str(file), "--json")
    assert imported.code in (1, 2)
    assert "Traceback" not in imported.err
    described = propcite("describe", "gates.txt", f"x={deep}")
    assert described.code == 0 or refused(described)


def test_a_good_answer_beside_a_deep_one_is_imported(propcite: Command, tmp_path: Path) -> None:
    from propcite.attribution.citations import CitedAnswer
    from propcite.attribution.formats.json import to_json

    (tmp_path / "answers.jsonl").write_text(f"{to_json(CitedAnswer('It rained.'))}\n{DEEP}\n".replace("\n ", " "))
    said = propcite("import", str(tmp_path / "answers.jsonl"), "--json")
    assert said.code == 1
    assert '"kept"' in said.out
    assert '"failed"' in said.out


# Filters


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("date>=2024-99-99", "2024-99-99 is no date"),
        ("date<2024-13", "2024-13 is no date"),
        ("added=2023-02-30", "2023-02-30 is no date"),
        ('kind="pdf', "the quote is not closed"),
        ("kind='pdf and date>=2024", "the quote is not closed"),
        ('kind in ("pdf, text)', "the quote is not closed"),
        ('"kind=pdf', "expected a field name"),
        ("(" * 60 + "kind=pdf", "levels deep"),
    ],
)
def test_a_malformed_filter_is_refused(propcite: Command, condition: str, told: str) -> None:
    for command in ("list", "describe"):
        assert told in refused(propcite(command, "--where", condition))


@pytest.mark.parametrize("condition", ["date>=2024-12-31", "date=2024", "number=2024-99", 'title~"it\'s"', "a=it's"])
def test_a_good_filter_is_read(condition: str) -> None:
    parse_condition(condition)


PIECES = st.sampled_from(
    [
        *"()=<>!~,\"'\\*?[] .-",
        "and",
        "or",
        "not",
        "in",
        "is",
        "set",
        "missing",
        "kind",
        "date",
        "2024-05",
        "2024-99-99",
        "x",
    ]
)
CONDITIONS = st.lists(PIECES, max_size=30).map(" ".join) | st.lists(PIECES, max_size=30).map("".join) | st.text()


@settings(SEARCHED, max_examples=10 * EXAMPLES)
@given(CONDITIONS)
def test_any_filter_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        condition = parse_condition(text)
    except AppError as error:
        assert "\n" not in str(error)  # noqa: PT017
        return
    condition.holds({"kind": "pdf", "date": "2024-05", "tags": ["a", "b"], "x": 1})


# Commands


WORDS = st.sampled_from(
    [
        *(
            "",
            " ",
            "-",
            "--",
            "--nothing",
            "-c",
            "nowhere",
            "gates.txt",
            "last",
            "\0"[:0],
            "a=b",
            "=",
            "x=[",
            "[]",
            "{",
        ),
        *(
            "9" * 5000,
            "-1",
            "1e400",
            "../../etc",
            "/dev/null",
            "/",
            "é\u2028",
            "\ud800",
            "\x1b[31m",
            "*",
            '"',
            "'",
            "{}",
        ),
        *("--where", "date>=2024-99-99", "--json", "--search", "%", "--meta", "--tag", "--document", "-d"),
    ]
)
COMMANDS = st.sampled_from(
    [
        *(["list"], ["show"], ["remove"], ["describe"], ["export"], ["feedback"], ["formats"], ["schema"], ["prompts"]),
        *(
            ["index", "stats"],
            ["index", "check"],
            ["keys", "create"],
            ["keys", "list"],
            ["owner"],
            ["import"],
            ["backup"],
        ),
        *(["restore"], ["ingest"], ["runs", "show"], ["runs", "list"], ["explain"], ["models"]),
    ]
)


def test_malformed_words_end_in_one_line(propcite: Command) -> None:
    """Of every command that needs no model; `backup` and others may succeed, but never with a traceback."""
    counts = {"refused": 0, "others": 0}

    @SEARCHED
    @given(COMMANDS, st.lists(WORDS, max_size=4))
    def attack(command: list[str], words: list[str]) -> None:
        said = propcite(*command, *words)
        assert "Traceback" not in said.err + said.out
        assert said.code in (0, 1, 2)
        counts["refused" if said.code == 2 else "others"] += 1

    attack()
    print(f"\ncommands: {counts}")  # noqa: T201 - make attack shows it


LINES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["claim", "evidence", "text"]), inner),
    max_leaves=8,
)


def test_malformed_lines_are_answered_each_with_its_error(propcite: Command, tmp_path: Path) -> None:
    counts = {"answered": 0, "errors": 0}

    @SEARCHED
    @given(
        st.lists(LINES.map(json.dumps) | st.text().map(lambda t: t.replace("\n", " ").replace("\r", " ")), min_size=1)
    )
    def attack(lines: list[str]) -> None:
        (tmp_path / "lines.jsonl").write_text("\n".join(lines), "utf-8", "replace")
        said = propcite("import", str(tmp_path / "lines.jsonl"), "--json")
        assert "Traceback" not in said.err
        assert said.code in (0, 1, 2)
        counts["answered" if said.code == 0 else "errors"] += 1

    attack()
    print(f"\nlines: {counts}")  # noqa: T201 - make attack shows it


# Settings and questions before a loss


@pytest.mark.parametrize(
    ("name", "told"),
    [("PROPCITE_JUGDE", "did you mean PROPCITE_JUDGE?"), ("PROPCITE_QQQQQQQ", "there is no setting PROPCITE_QQQQQQQ")],
)
def test_an_unknown_setting_is_refused(
    propcite: Command, monkeypatch: pytest.MonkeyPatch, name: str, told: str
) -> None:
    monkeypatch.setenv(name, "none")
    assert told in refused(propcite("list"))
    monkeypatch.delenv(name)
    assert propcite("list").code == 0


def test_a_script_must_say_yes_to_remove_a_collection(propcite: Command) -> None:
    told = refused(propcite("remove", "--all"))
    assert "the collection harbour with 2 documents" in told
    assert "--yes" in told
    assert "harbour" in propcite("list").out
    assert propcite("remove", "--all", "--yes").code == 0
    assert "harbour" not in propcite("list").out
