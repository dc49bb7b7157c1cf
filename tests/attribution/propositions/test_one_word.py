"""The embedded judge on claims that differ from their evidence in one word: another meaning, or a synonym."""

from __future__ import annotations

import pytest

from propcite.attribution.citations import Label
from propcite.attribution.judges import Case
from propcite.attribution.judges.embedded import EmbeddedJudge
from propcite.retrieval.encoding.encoder import Encoder

MIN_REFUSED = 17  # of DIFFERENT: verbs and nouns that the table of exclusive words lacks still pass
DIFFERENT = (
    ("All gates were repaired.", "Some gates were repaired in May."),
    ("Every gate was repaired.", "Most of the gates were repaired."),
    ("The gates always close at night.", "The gates sometimes close at night."),
    ("The report was published by the council.", "The report was criticised by the council."),
    ("The museum opens on Monday.", "The museum opens on Friday."),
    ("The bridge is made of wood.", "The bridge is made of steel."),
    ("The car is red.", "The car is blue and fast."),
    ("She is his sister.", "She is his mother."),
    ("The drug lowers blood pressure.", "The drug raises blood pressure."),
    ("The company hired 50 engineers.", "The company fired 50 engineers."),
    ("The council voted for the plan.", "The council voted against the plan."),
    ("The gates open inward.", "The gates open outward."),
    ("Profits doubled in 2020.", "Profits tripled in 2020."),
    ("The first stage is finished.", "The second stage is finished."),
    ("He studied physics.", "He studied chemistry at Bonn."),
    ("The film is a comedy.", "The film is a drama about war."),
    ("The oldest bridge is in Porto.", "The newest bridge is in Porto."),
    ("The tunnel is closed to cars.", "The tunnel is closed to pedestrians."),
    ("The bank is open until noon.", "The bank is open until midnight."),
    ("Only members may vote.", "Members and guests may vote."),
)
SYNONYMOUS = (
    ("The gates were repaired.", "The gates were fixed in May."),
    ("The firm bought the dairy.", "The firm purchased the dairy in 2016."),
    ("The museum opens daily.", "The museum opens every day."),
    ("The bridge is built of steel.", "The bridge is made of steel."),
    ("The automobile is blue.", "The car is blue and fast."),
    ("Prices rose in May.", "Prices climbed in May."),
    ("The company employs 50 engineers.", "The company has 50 engineers."),
    ("The council backed the plan.", "The council supported the plan."),
    ("The physician treated him.", "The doctor treated him in Bonn."),
    ("The film depicts a war.", "The film shows a war in Spain."),
    ("The trip takes two hours.", "The journey takes two hours."),
    ("The vaccine is safe for kids.", "The vaccine is safe for children."),
    ("The mayor quit in June.", "The mayor resigned in June."),
    ("The fire destroyed the mill.", "The fire ruined the mill."),
    ("The lake is big.", "The lake is large and deep."),
    ("The road was shut.", "The road was closed in winter."),
)


@pytest.fixture(scope="module")
def judge(encoder: Encoder) -> EmbeddedJudge:
    return EmbeddedJudge(encoder)


def test_most_other_words_are_refused(judge: EmbeddedJudge) -> None:
    verdicts = judge.judge([Case(claim, (evidence,)) for claim, evidence in DIFFERENT])
    assert sum(v.label is Label.CONTRADICTED and bool(v.reason) for v in verdicts) >= MIN_REFUSED


def test_synonyms_are_supported(judge: EmbeddedJudge) -> None:
    verdicts = judge.judge([Case(claim, (evidence,)) for claim, evidence in SYNONYMOUS])
    assert [v.label for v in verdicts] == [Label.SUPPORTED] * len(SYNONYMOUS)
