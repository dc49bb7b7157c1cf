"""Compare two documents of a collection, by a question or whole: the command, HTTP, wrong input of each kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from commanded import Propcite

from propcite.app.errors import AppError
from propcite.attribution.citing.comparing import Relation
from propcite.attribution.formats.json.comparisons import read_comparison
from propcite.attribution.formats.json.text_comparisons import read_text_comparison
from propcite.attribution.versions.records import TextComparison
from propcite.client import Client

EARLIER = "# Travel policy 2023\n\nReceipts must be handed in within 30 days. Meals are paid up to 40 euros per day.\n"
LATER = (
    "# Travel policy 2025\n\nReceipts must be handed in within 14 days. Rail travel is preferred below four hours.\n"
)
QUESTION = "When must receipts be handed in?"
FILES = {"policy_2023.md": EARLIER, "policy_2025.md": LATER}


@pytest.fixture
def policies(tmp_path: Path, propcite: Propcite) -> Propcite:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    assert propcite("ingest", *(str(tmp_path / name) for name in FILES)).code == 0
    return propcite


def test_the_command_shows_where_two_documents_differ(policies: Propcite, tmp_path: Path) -> None:
    sides = ("--left", "policy_2023.md", "--right", "policy_2025.md")
    said = policies("compare", QUESTION, *sides)
    assert said.code == 0
    assert "They differ" in said.out
    assert "30 days" in said.out
    assert "14 days" in said.out
    assert "1 different" in said.err
    comparison = read_comparison(policies("compare", QUESTION, *sides, "--json").out)
    assert [row.relation for row in comparison.rows] == [Relation.DIFFERS]
    assert {a["question"] for a in policies("list", "--answers", "--json").json} == {QUESTION}
    for name in ("table.md", "table.html"):
        assert policies("compare", QUESTION, *sides, "--out", str(tmp_path / name)).code == 0
        assert "They differ" in (tmp_path / name).read_text()


def test_a_question_that_neither_answers_says_so(policies: Propcite) -> None:
    said = policies("compare", "Who painted the ceiling?", "--left", "policy_2023.md", "--right", "policy_2025.md")
    assert said.code == 1
    assert "No answer in policy_2023.md and none in policy_2025.md" in said.out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--left", "policy_2023.md", "--right", "policy_2023.md"), "both sides name the same documents"),
        (("--left", "policy_2023.md", "--right", "nothing.md"), "no document 'nothing.md'"),
        (("--left", "policy_2023.md"), "--right"),
        (("--left", "policy_2023.md", "--right", "policy_2025.md", "--out", "table.txt"), "ends with .md or .html"),
        (("--left", "policy_2023.md", "--right", "policy_2025.md", "--out", "nowhere/t.md"), "a folder that exists"),
    ],
)
def test_wrong_sides_are_one_line(policies: Propcite, words: tuple[str, ...], line: str) -> None:
    said = policies("compare", QUESTION, *words)
    assert said.code == 2
    assert line in said.err


def test_the_route_and_the_client(serve: Callable[..., str]) -> None:
    address = serve({"travel": FILES})
    with Client(address, collection="travel") as client:
        comparison = client.compare(QUESTION, ["policy_2023.md"], ["policy_2025.md"])
        assert [row.relation for row in comparison.rows] == [Relation.DIFFERS]
        assert {client.get_answer(side.id).id for side in (comparison.left, comparison.right)} == {
            comparison.left.id, comparison.right.id,
        }  # fmt: skip
    body = {"collection": "travel", "question": QUESTION, "left": ["policy_2023.md"], "right": ["policy_2025.md"]}
    for wrong, status in (
        ({"left": []}, 422),
        ({"right": ["nothing.md"]}, 404),
        ({"right": body["left"]}, 400),
        ({"collection": "nothing"}, 404),
    ):
        response = httpx.post(f"{address}/v1/compare", json={**body, **wrong})
        assert response.status_code == status, (wrong, response.text)


def relations(compared: TextComparison) -> list[tuple[str, str, str]]:
    return [
        (pair.relation.value, *(side.quote if side else "" for side in (pair.left, pair.right)))
        for pair in compared.pairs
    ]


WHOLE = [
    ("differs", "Travel policy 2023", "Travel policy 2025"),
    ("differs", "Receipts must be handed in within 30 days.", "Receipts must be handed in within 14 days."),
    ("alone", "Meals are paid up to 40 euros per day.", ""),
    ("alone", "", "Rail travel is preferred below four hours."),
]


def test_without_a_question_the_command_compares_all_sentences(policies: Propcite, tmp_path: Path) -> None:
    said = policies("compare", "policy_2023.md", "policy_2025.md")
    assert said.code == 0
    assert "Only policy_2025.md says this" in said.out
    assert "2 different, 1 only in policy_2023.md, 1 only in policy_2025.md" in " ".join(said.err.split())
    sides = ("--left", "policy_2023.md", "--right", "policy_2025.md")
    assert relations(read_text_comparison(policies("compare", *sides, "--json").out)) == WHOLE
    for name in ("table.md", "table.html"):
        assert policies("compare", *sides, "--out", str(tmp_path / name)).code == 0
        assert "Rail travel is preferred below four hours." in (tmp_path / name).read_text()
    assert policies("list", "--answers", "--json").json == []
    alone = policies("compare", "policy_2023.md")
    assert (alone.code, "propcite compare A B" in alone.err) == (2, True)
    asked = policies("compare", "policy_2023.md", "policy_2025.md", "--question", QUESTION, "--json")
    assert read_comparison(asked.out).question == QUESTION


def test_the_route_compares_all_sentences_without_a_question(serve: Callable[..., str]) -> None:
    address = serve({"travel": FILES})
    with Client(address, collection="travel") as client:
        assert relations(client.compare_documents(["policy_2023.md"], ["policy_2025.md"])) == WHOLE
        with pytest.raises(AppError, match="compare_documents"):
            client.compare(" ", ["policy_2023.md"], ["policy_2025.md"])
        assert not client.list_answers().items
    body = {"collection": "travel", "left": ["policy_2023.md"], "right": ["policy_2023.md"]}
    assert httpx.post(f"{address}/v1/compare", json=body).status_code == 400
