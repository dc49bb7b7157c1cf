"""A near miss says what differs: a number, a unit, a date or a name, beside whichever judge found it wanting."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.english.comparing.differences import difference
from propcite.attribution.judges import Case
from propcite.attribution.propcite import PropCite
from propcite.attribution.propositions.rules import RuleSplitter
from propcite.retrieval.encoding.encoder import Encoder

OPENED = "Ana Ruiz opened the museum in Lisbon in 1987."


@pytest.mark.parametrize(
    ("claim", "evidence", "told"),
    [
        ("Ana Ruiz opened the museum in Madrid.", OPENED, "source says Lisbon; answer says Madrid"),
        ("Bob Jones opened the museum in Lisbon.", OPENED, "source says Ana Ruiz; answer says Bob Jones"),
        ("Ana Ruiz opened the museum.", "The mayor opened the museum.", "the source does not name Ana Ruiz"),
        (
            "The barrier was finished in November 2024.",
            "It was finished on 18 October 2024.",
            "source says 18 October 2024; answer says November 2024",
        ),
        ("It closes on Monday.", "It closes on Friday.", "source says “Friday”; answer says “Monday”"),
        (
            "The museum has 15% more visitors.",
            "The museum has 14% more visitors.",
            "source says 14%; answer says 15%",
        ),
        ("The weight is 5 kg.", "The weight is 5 tonnes.", "source says “5 tonnes”; answer says “5 kg”"),
        ("It was painted by volunteers.", "It was finished in May.", ""),
        ("It rained in Rome.", "The barrier cost 410 million euros.", ""),
        ("It rained in Rome.", "It rained in Oslo. " * 40, ""),
        ("", "", ""),
        ("1987", OPENED, ""),
    ],
)
def test_what_differs_is_told_in_one_line(claim: str, evidence: str, told: str) -> None:
    assert difference(claim, evidence) == told


def test_a_name_that_stands_around_the_evidence_does_not_differ() -> None:
    claim, evidence = "The Lisbon museum opened in May.", "The museum opened in May."
    assert difference(claim, evidence) == "the source does not name Lisbon"
    assert difference(claim, evidence, "Museums of Lisbon") == ""


class Silent:
    """A judge that accepts nothing and says nothing, as published networks do."""

    name = "silent"

    def __init__(self, reason: str = "") -> None:
        self.reason = reason

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        return [Verdict(Label.UNSUPPORTED, 0.1, self.reason) for _ in cases]


def test_it_is_told_where_the_judge_says_nothing_and_changes_no_verdict(encoder: Encoder) -> None:
    def said(judge: Silent) -> Verdict | None:
        propcite = PropCite(encoder, splitter=RuleSplitter(), judge=judge)
        return propcite.cite("Ana Ruiz opened the museum in Madrid.", [OPENED]).propositions[0].verdict

    assert said(Silent()) == Verdict(Label.UNSUPPORTED, 0.1, "source says Lisbon; answer says Madrid")
    assert said(Silent("not judged")) == Verdict(Label.UNSUPPORTED, 0.1, "not judged")
