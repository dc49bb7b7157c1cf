"""Malformed input of the commands that ask, cite, search, rank, split and judge: never a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from attacking import EXAMPLES
from commanded import Said
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Command = Callable[..., Said]
SEARCHED = settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), deadline=None)
READ = settings(SEARCHED, max_examples=max(5, EXAMPLES // 20))  # commands that load networks for every call
TEXTS = st.text(max_size=40) | st.sampled_from(["It rained [1].", "\ud800", "\0", "." * 5000, "\x1b[2J", "[" * 900])
WORDS = TEXTS | st.sampled_from(
    [
        *("--json", "--stream", "--strip-markers", "--batch", "-", "--passages", "nowhere.jsonl", "--text", "--keep"),
        *("-g", "sentence", "nothing", "-k", "0", "-1", "9" * 30, "--alignment", "top-k=0", "top-p=2", "exact"),
        *("-c", "harbour", "nowhere", "--where", "date>=2024-99-99", "--document", "gates.txt", "--format", "pdf"),
        *("--fail-under", "nan", "2", "--continue", "--after", "last", "--method", "bm25", "--supported-from", "x"),
    ]
)
COMMANDS = {"search": SEARCHED, "rank": SEARCHED, "split": SEARCHED, "judge": SEARCHED}
COMMANDS |= {"ask": READ, "cite": READ, "repair": READ}
NAMES = ("question", "answer", "passages", "text", "id", "title", "sentence", "sentences", "context", "claim")
FIELDS = st.sampled_from([*NAMES, "evidence", "query", "query_spans", "spans"])
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
LINES = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=5),
    max_leaves=10,
).map(json.dumps)


def healthy(said: Said, *, lines: bool = False) -> Said:
    assert "Traceback" not in said.err + said.out
    assert said.code in (0, 1, 2, 3), said
    if said.code == 2 and not lines and not said.err.startswith("Usage"):  # Typer's own are in a box
        assert len(said.err.strip().splitlines()) == 1, said.err
    return said


@pytest.mark.parametrize("command", COMMANDS)
def test_malformed_words_end_in_one_line(propcite: Command, command: str) -> None:
    @COMMANDS[command]
    @given(st.lists(WORDS, max_size=4), TEXTS)
    def attack(words: list[str], text: str) -> None:
        healthy(propcite(command, *(word for word in words if "\0" not in word), given=text))

    attack()


@pytest.mark.parametrize("command", ["rank", "split", "judge"])
def test_each_malformed_line_is_answered(propcite: Command, command: str) -> None:
    """Each line has its own answer, an error or not, in its place."""

    @SEARCHED
    @given(st.lists(LINES | TEXTS.map(lambda text: " ".join(text.split())), min_size=1, max_size=4))
    def attack(lines: list[str]) -> None:
        healthy(propcite(command, given="\n".join(lines)), lines=True)

    attack()
