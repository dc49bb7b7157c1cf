"""Word checks detect exchanged roles, other numbers and units, and words that exclude each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.attribution.citations import Label
from propcite.attribution.english import MIN_CLAIM_SHARE
from propcite.attribution.english.comparison.roles import role_mismatch
from propcite.attribution.english.words.exclusive import DENYING, RELATING, STRONGER
from propcite.attribution.judges.word_checks import (
    MAX_REFUSED_PROBABILITY,
    checked_verdict,
)

EXCHANGED = [
    ("Alpina bought Northwind.", "Northwind bought Alpina in 2016."),
    ("Northwind was bought by Alpina.", "Northwind bought Alpina in 2016."),
    ("Alpina bought the land from Northwind.", "Alpina sold the land to Northwind."),
    ("The wolf followed the shepherd.", "The shepherd followed the wolf down to the village."),
    ("Delta borrowed money from Omega.", "In March, Delta lent money to Omega."),
    ("Mount Brae is higher than Mount Kell.", "Mount Kell is higher than Mount Brae."),
    ("Mount Brae is higher than Mount Kell.", "Mount Brae is lower than Mount Kell, which is steep."),
    ("Bergen lies north of Oslo.", "Oslo lies north of Bergen."),
    ("The fire broke out before the lightning struck.", "The fire broke out after the lightning struck the barn."),
    ("Overfishing led to the war.", "The war led to overfishing."),
]
SAME_ROLES = [
    ("Alpina was bought by Northwind.", "Northwind bought Alpina in 2016."),
    ("Alpina sold the land to Northwind.", "Northwind bought the land from Alpina."),
    ("Omega borrowed money from Delta.", "In March, Delta lent money to Omega."),
    ("Mount Brae is lower than Mount Kell.", "Mount Kell is higher than Mount Brae."),
    ("Ann married Bo.", "Bo married Ann in May."),
    ("Paris is the capital of France.", "The capital of France is Paris."),
    ("The lightning struck before the fire broke out.", "The fire broke out after the lightning struck the barn."),
    ("Alpina, which Northwind bought, makes cheese.", "Northwind bought Alpina, which makes cheese."),
    ("The network was funded by the state.", "It was a network funded by the state."),
    ("Northwind bought Alpina.", "Alpina sold its farm and bought Northwind a tractor; Northwind bought Alpina."),
]


@pytest.mark.parametrize(("claim", "evidence"), EXCHANGED)
def test_exchanged_roles_contradict(claim: str, evidence: str) -> None:
    verdict = checked_verdict(claim, evidence, 0.99, 1.0, 0.5)
    assert verdict.label is Label.CONTRADICTED
    assert verdict.probability <= MAX_REFUSED_PROBABILITY
    assert verdict.reason


@pytest.mark.parametrize(("claim", "evidence"), SAME_ROLES)
def test_the_same_roles_in_another_order_do_not_contradict(claim: str, evidence: str) -> None:
    assert role_mismatch(claim, evidence, share=MIN_CLAIM_SHARE) == ""
    assert checked_verdict(claim, evidence, 0.99, 1.0, 0.5).label is Label.SUPPORTED


@given(st.sampled_from([claim for claim, _ in EXCHANGED + SAME_ROLES]))
def test_no_sentence_contradicts_itself(sentence: str) -> None:
    assert checked_verdict(sentence, sentence, 0.9, 1.0, 0.5).label is Label.SUPPORTED


@given(st.text(max_size=80), st.text(max_size=80))
def test_no_text_makes_the_checks_raise(claim: str, evidence: str) -> None:
    assert isinstance(role_mismatch(claim, evidence, share=0.0), str)


def test_another_currency_contradicts_although_the_words_are_equal() -> None:
    verdict = checked_verdict("It cost €5.", "It cost $5.", 0.9, 1.0, 0.5)
    assert (verdict.label, verdict.reason) == (Label.CONTRADICTED, "source says “$5”; answer says “€5”")
    assert (
        checked_verdict("It made a loss in 2019.", "It made a profit in 2019.", 0.9, 0.7, 0.5).label
        is Label.CONTRADICTED
    )
    assert checked_verdict("Fewer than 50 came.", "More than 50 came.", 0.9, 0.7, 0.5).label is Label.CONTRADICTED
    assert (
        checked_verdict("He led it from 1990 to 1995.", "He led it (1990–95).", 0.9, 0.9, 0.5).label is Label.SUPPORTED
    )


def test_another_currency_contradicts_although_it_is_most_of_the_claim() -> None:
    verdict = checked_verdict("It cost 410 million dollars.", "The barrier cost 410 million euros.", 0.9, 0.5, 0.5)
    assert (verdict.label, verdict.reason) == (
        Label.CONTRADICTED, "source says “410 million euros”; answer says “410 million dollars”",
    )  # fmt: skip


def test_the_context_may_tell_what_it_refers_to() -> None:
    claim, evidence = "The barrier was built between 2018 and 2024.", "It was built between 2019 and 2024."
    assert checked_verdict(claim, evidence, 0.9, 0.5, 0.5).reason == ""
    verdict = checked_verdict(claim, evidence, 0.9, 0.5, 0.5, "The barrier has six gates.")
    assert (verdict.label, verdict.reason) == (Label.CONTRADICTED, "source says 2019; answer says 2018")
    assert checked_verdict(claim, evidence, 0.9, 0.5, 0.5, "The museum has six halls.").reason == ""


@pytest.mark.parametrize(
    ("claim", "evidence", "mine", "other"),
    [
        ("All gates were repaired.", "Some gates were repaired in May.", "All", "Some"),
        ("Every gate was repaired.", "Most of the gates were repaired.", "Every", "Most"),
        ("The gates always close at night.", "The gates sometimes close at night.", "always", "sometimes"),
        ("The museum opens on Monday.", "The museum opens on Friday.", "Monday", "Friday"),
        ("The drug lowers blood pressure.", "The drug raises blood pressure.", "lowers", "raises"),
        ("The council voted for the plan.", "The council voted against the plan.", "for", "against"),
        ("The first stage is finished.", "The second stage is finished.", "first", "second"),
        ("The bridge is made of wood.", "The bridge, which is made of steel, is long.", "wood", "steel"),
    ],
)
def test_a_word_that_excludes_the_claims_word_contradicts(claim: str, evidence: str, mine: str, other: str) -> None:
    verdict = checked_verdict(claim, evidence, 0.9, 0.8, 0.5)
    assert verdict.label is Label.CONTRADICTED
    assert verdict.reason == f"source says “{other}”; answer says “{mine}”"


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Some gates were repaired.", "All gates were repaired."),
        ("The gates often close at night.", "The gates always close at night."),
        ("The gates were fixed.", "The gates were repaired."),
        ("The council backed the plan.", "The council supported the plan."),
        ("The drug does not lower blood pressure.", "The drug raises blood pressure."),
        ("Smoking is not allowed in the hall.", "The rules for the hall, which are strict, name a ban on smoking."),
        ("It is open on Monday and Friday.", "It is open on Friday."),
        ("The red house was sold.", "The red house with the blue door was sold."),
    ],
)
def test_other_words_do_not_contradict(claim: str, evidence: str) -> None:
    assert checked_verdict(claim, evidence, 0.9, 0.8, 0.5).label is Label.SUPPORTED


def test_exclusive_words_are_on_one_side_only() -> None:
    for row in (*DENYING, *RELATING, *STRONGER):
        words = [word for side in row.split("|") for word in side.split()]
        assert len(words) == len(set(words)), row
        assert "|" in row
