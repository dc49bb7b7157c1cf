"""Evidence that misses a claim comes with what differs: a number, a unit, a date or a name, for any judge."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.english import difference
from propcite.attribution.judges import Case
from propcite.attribution.propcite import PropCite
from propcite.attribution.propositions.rules import RuleSplitter
from propcite.retrieval.encoding.encoder import Encoder

OPENED = "Ana Ruiz opened the museum in Lisbon in 1987."


@pytest.mark.parametrize(
    ("claim", "evidence", "reason"),
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
def test_the_difference_is_described_in_one_line(claim: str, evidence: str, reason: str) -> None:
    assert difference(claim, evidence) == reason


def test_a_name_in_the_context_does_not_differ() -> None:
    claim, evidence = "The Lisbon museum opened in May.", "The museum opened in May."
    assert difference(claim, evidence) == "the source does not name Lisbon"
    assert difference(claim, evidence, "Museums of Lisbon") == ""


class Silent:
    """Accepts nothing and gives no reason of its own, as published networks do."""

    name = "silent"

    def __init__(self, reason: str = "") -> None:
        self.reason = reason

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        return [Verdict(Label.UNSUPPORTED, 0.1, self.reason) for _ in cases]


def test_a_difference_is_added_only_without_a_reason_and_changes_no_label(encoder: Encoder) -> None:
    def verdict_of(judge: Silent) -> Verdict | None:
        propcite = PropCite(encoder, splitter=RuleSplitter(), judge=judge)
        return propcite.cite("Ana Ruiz opened the museum in Madrid.", [OPENED]).propositions[0].verdict

    assert verdict_of(Silent()) == Verdict(Label.UNSUPPORTED, 0.1, "source says Lisbon; answer says Madrid")
    assert verdict_of(Silent("not judged")) == Verdict(Label.UNSUPPORTED, 0.1, "not judged")
