"""Two texts compared whole: copies, changes, what one says alone, in order; planted edits in a real text; stopped."""

from __future__ import annotations

import json

import pytest

from propcite import PropCite
from propcite.app.errors import LeftError
from propcite.attribution.citing.comparing import Relation
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats.json.text_comparisons import read_text_comparison, text_comparison_dict
from propcite.attribution.formats.offsets import Unit
from propcite.attribution.formats.text_comparison import text_counts_line, to_html, to_markdown
from propcite.attribution.versions import comparing
from propcite.attribution.versions.records import TextComparison
from propcite.attribution.versions.words import changed_words, plain_words, same_words
from propcite.retrieval.interrupting import interruptible

NAMES = ("2023 | terms", "<b>2025</b>")
EARLIER = (
    "1. The fee is due within 30 days of the invoice. The bank is in Bergen 🏔. Late payment costs 4% interest. "
    "Notices are sent by letter. The supplier may end the contract at any time. The contract ends on 31 May 2024."
)
LATER = (
    "The contract ends on 31 May 2024. 2. The fee is due within 60 days of the invoice.\n\nThe bank   is in\nBergen 🏔. "
    "If payment is late, interest of 4% is charged. The supplier may not end the contract at any time. "
    "Disputes go to the court of Oslo."
)


def compared(left: str, right: str) -> TextComparison:
    return PropCite.default().compare_texts([left], [right])


@pytest.fixture(scope="module")
def comparison() -> TextComparison:
    return compared(EARLIER, LATER)


def test_sentences_stand_beside_their_versions_in_order(comparison: TextComparison) -> None:
    rows = [
        (pair.relation, pair.is_copy, *(side and plain_words(side.quote) for side in (pair.left, pair.right)))
        for pair in comparison.pairs
    ]
    same, contract = "The bank is in Bergen 🏔.", "The contract ends on 31 May 2024."
    assert rows == [
        (
            Relation.DIFFERS, False,
            "The fee is due within 30 days of the invoice.", "The fee is due within 60 days of the invoice.",
        ),
        (Relation.AGREES, True, same, same),
        (
            Relation.AGREES, False,
            "Late payment costs 4% interest.", "If payment is late, interest of 4% is charged.",
        ),
        (Relation.ALONE, False, "Notices are sent by letter.", None),
        (
            Relation.DIFFERS, False,
            "The supplier may end the contract at any time.", "The supplier may not end the contract at any time.",
        ),
        (Relation.AGREES, True, contract, contract),
        (Relation.ALONE, False, None, "Disputes go to the court of Oslo."),
    ]  # fmt: skip
    assert [pair.moved for pair in comparison.pairs] == [False] * 5 + [True, False]


def test_the_words_that_differ_are_named(comparison: TextComparison) -> None:
    first = comparison.pairs[0]
    assert first.left
    assert first.right
    sides = zip((first.left.quote, first.right.quote), first.changed, strict=True)
    assert [[span.of(text) for span in spans] for text, spans in sides] == [["30"], ["60"]]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("“Fee” means\n  the price.", '"Fee" means the price.'),
        ("(a) It rained.", "3.2. It rained."),
        ("- Hello", "Hello"),
    ],
)
def test_signs_spaces_and_numbering_make_no_difference(left: str, right: str) -> None:
    assert same_words(left, right)
    assert changed_words(left, right) == ((), ())


@pytest.mark.parametrize(
    ("left", "right"), [("A. Smith paid.", "B. Smith paid."), ("3.", "4."), ("2023 it was", "it was")]
)
def test_initials_and_bare_numbers_make_one(left: str, right: str) -> None:
    assert not same_words(left, right)


def test_a_side_may_be_empty_or_the_same() -> None:
    assert [(pair.relation, pair.left) for pair in compared("", "It rained.").pairs] == [(Relation.ALONE, None)]
    assert compared("", "").pairs == ()
    assert [pair.is_copy for pair in compared(EARLIER, EARLIER).pairs] == [True] * 6


def test_sentences_that_are_cut_at_other_places_are_the_same() -> None:
    left = "The bank is in Bergen. We protect you with two steps: (1) a contract, and (2) a notice.\n\nIt rained."
    right = "The bank is in Bergen. We protect you with two steps:\n\n(1) a contract, and (2) a notice. It rained."
    found = compared(left, right)
    assert [pair.is_copy for pair in found.pairs] == [True] * 3
    assert found.pairs[1].right
    assert found.pairs[1].right.quote == "We protect you with two steps:\n\n(1) a contract, and (2) a notice."


def test_passages_are_read_in_the_order_in_which_they_are_given() -> None:
    texts = [f"The gate number {number} is green." for number in range(12)]
    assert all(pair.is_copy and not pair.moved for pair in PropCite.default().compare_texts(texts, texts).pairs)


def test_a_long_text_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "MAX_SENTENCES", 3)
    with pytest.raises(AttributionError, match=r"the left text has 6 sentences.* up to 3: ask a question"):
        compared(EARLIER, "It rained.")


def test_it_says_how_far_it_is_and_can_be_stopped() -> None:
    steps: list[tuple[str, float]] = []

    def report(step: str, share: float) -> None:
        steps.append((step, share))
        if share:
            raise AssertionError("it goes on")

    def check() -> None:
        if len(steps) > 2:
            raise LeftError("it was stopped")

    many = [" ".join(f"The {name} gate is {size} metres high." for name in ("red", "old")) for size in range(3, 30)]
    more = [text.replace("metres", "yards") for text in many]
    with interruptible(check), pytest.raises(LeftError):
        PropCite.default().compare_texts(many, more, report)
    assert [step for step, _ in steps] == [
        "Reading both sides",
        "Finding what belongs together",
        "Judging what differs",
    ]


def test_without_a_judge_versions_differ() -> None:
    without = PropCite(PropCite.default().encoder, splitter=PropCite.default().splitter, judge=None)
    found = without.compare_texts(["The fee is due within 30 days."], ["The fee is due within 60 days."])
    assert [pair.relation for pair in found.pairs] == [Relation.DIFFERS]


def test_json_is_read_back_as_it_was(comparison: TextComparison) -> None:
    assert read_text_comparison(json.dumps(text_comparison_dict(comparison))) == comparison
    pairs = text_comparison_dict(compared("🏔 The fee is 30 euros.", "🏔 The fee is 60 euros."), Unit.UTF_16)["pairs"]
    assert pairs[0]["left"]
    assert pairs[0]["left"]["changed"] == [(14, 16)]


@pytest.mark.parametrize("text", ["", "[]", '{"pairs": [{}]}'])
def test_what_is_no_comparison_is_one_line(text: str) -> None:
    with pytest.raises(AttributionError, match=r"^this is not a comparison of texts: .+$"):
        read_text_comparison(text)


def test_tables_escape_what_they_show(comparison: TextComparison) -> None:
    counts = "2 the same, 1 in other words, 2 different, 1 only in 2023 | terms, 1 only in <b>2025</b>"
    assert text_counts_line(comparison, NAMES) == counts
    markdown, html = (write(comparison, NAMES) for write in (to_markdown, to_html))
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(comparison.pairs)
    assert all(len(row.replace("\\|", "").split("|")) == 5 for row in rows)
    assert "within **30** days" in markdown
    assert "within <mark>60</mark> days" in html
    assert "<b>2025</b>" not in html
    assert html.count("<tr class=") == len(comparison.pairs)
