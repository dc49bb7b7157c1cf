"""Two answers side by side: the facts of both, what the other side's sources say of them, and tables of it."""

from __future__ import annotations

import json

import pytest

from propcite import PropCite
from propcite.attribution.citing.comparing import Comparison, Relation
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats.comparison import counts_line, to_html, to_markdown
from propcite.attribution.formats.json.comparisons import comparison_dict, read_comparison
from propcite.attribution.formats.offsets import Unit

EARLIER = [
    "The fee is due within 30 days of the invoice. Late payment costs 4% interest.",
    "The contract ends on 31 May 2024.",
]
LATER = [
    "Interest of 4% is charged if payment is late. The fee must be paid within 60 days.",
    "The bank is in Bergen 🏔.",
]
NAMES = ("2023 | terms", "<b>2025</b>")


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    sides = (" ".join(EARLIER), EARLIER), (" ".join(LATER), LATER)
    return PropCite.default().compare("What are the terms?", *sides)


def test_facts_on_the_same_stand_in_one_row_and_others_alone(comparison: Comparison) -> None:
    rows = [
        (row.relation, *(side and side.fact.proposition.text for side in (row.left, row.right)))
        for row in comparison.rows
    ]
    assert rows == [
        (
            Relation.DIFFERS,
            "The fee is due within 30 days of the invoice.",
            "The fee must be paid within 60 days.",
        ),
        (Relation.AGREES, "Late payment costs 4% interest.", "Interest of 4% is charged if payment is late."),
        (Relation.ALONE, "The contract ends on 31 May 2024.", None),
        (Relation.ALONE, None, "The bank is in Bergen 🏔."),
    ]
    assert counts_line(comparison) == "1 the same, 1 different, 2 said by one alone"


def test_the_words_of_the_other_side_are_shown_with_their_verdict(comparison: Comparison) -> None:
    first, _, third, _ = comparison.rows
    assert first.left is not None
    assert first.left.verdict is not None
    assert [e.quote for e in first.left.evidence] == ["The fee must be paid within 60 days."]
    assert "60" in first.left.verdict.reason
    assert third.left is not None
    assert third.left.evidence == ()


def test_of_the_facts_of_one_sentence_those_that_say_the_same_stand_in_one_row() -> None:
    one = "You may charge a fee for a copy, and you may offer a warranty for a fee."
    other = "You may offer a warranty for a fee, and you may charge a fee for a copy."
    comparison = PropCite.default().compare("What may you do?", (one, [one]), (other, [other]))
    rows = [tuple(side and side.fact.proposition.text for side in (row.left, row.right)) for row in comparison.rows]
    assert rows == [
        ("You may charge a fee for a copy.", "You may charge a fee for a copy."),
        ("You may offer a warranty for a fee.", "You may offer a warranty for a fee."),
    ]


def test_a_fact_that_an_answer_repeats_is_compared_once() -> None:
    source = ["The fee is due within 30 days."]
    comparison = PropCite.default().compare("When?", (f"{source[0]} {source[0]}", source), (source[0], source))
    assert [row.relation for row in comparison.rows] == [Relation.AGREES]


@pytest.mark.parametrize("text", ["", "Hello!"])
def test_a_side_without_facts_leaves_the_other_alone(text: str) -> None:
    comparison = PropCite.default().compare("When?", (EARLIER[1], EARLIER), (text, LATER))
    assert [(row.relation, row.right) for row in comparison.rows] == [(Relation.ALONE, None)]


def test_json_is_read_back_as_it_was(comparison: Comparison) -> None:
    assert read_comparison(json.dumps(comparison_dict(comparison))) == comparison
    in_utf_16 = dict(comparison_dict(comparison, Unit.UTF_16)["right"])
    assert in_utf_16["offsets"] == "utf-16"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"question": ""}'])
def test_what_is_no_comparison_is_one_line(text: str) -> None:
    with pytest.raises(AttributionError, match=r"^this is not a comparison: .+$"):
        read_comparison(text)


def test_tables_escape_what_they_show(comparison: Comparison) -> None:
    markdown, html = (write(comparison, NAMES) for write in (to_markdown, to_html))
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(comparison.rows)
    assert "2023 \\| terms" in rows[0]
    assert all(len(row.replace("\\|", "").split("|")) == 5 for row in rows)
    assert "<b>2025</b>" not in html
    assert "&lt;b&gt;2025&lt;/b&gt;" in html
    assert html.count("<tr class=") == len(comparison.rows)
