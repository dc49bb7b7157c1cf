"""Word checks detect exchanged roles, numbers of another thing, and other names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.attribution.citations import Label
from propcite.attribution.english.comparison.moved_numbers import is_number_moved
from propcite.attribution.english.comparison.names import name_mismatch
from propcite.attribution.english.comparison.roles import role_mismatch
from propcite.attribution.english.words.exclusive import DENYING, RELATING, STRONGER
from propcite.attribution.judges.word_checks import (
    MAX_REFUSED_PROBABILITY,
    MIN_CLAIM_SHARE,
    checked_verdict,
    is_refused,
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


@pytest.mark.parametrize(
    ("claim", "evidence", "is_moved"),
    [
        ("The old mill is 31 metres high.", "The old mill is 12 metres high and the new silo is 31 metres high.", True),
        ("The new silo is 31 metres high.", "The old mill is 12 metres high, the new silo is 31 metres high.", False),
        ("The red line opened in 1984.", "The red line opened in 1971, the blue line in 1984.", True),
        ("The blue line opened in 1984.", "The red line opened in 1971, the blue line in 1984.", False),
        ("The museum closed in 1984.", "The museum opened in 1971 and closed in 1984.", False),
        ("Ada was minister until 1990.", "Ada sat for Leeds from 1979 to 1997, and was minister until 1990.", False),
    ],
)  # fmt: skip
def test_a_number_of_another_thing_is_detected(claim: str, evidence: str, is_moved: bool) -> None:
    assert is_number_moved(claim, evidence, share=MIN_CLAIM_SHARE) is is_moved


@given(st.sampled_from([claim for claim, _ in EXCHANGED + SAME_ROLES]))
def test_no_sentence_contradicts_itself(sentence: str) -> None:
    assert checked_verdict(sentence, sentence, 0.9, 1.0, 0.5).label is Label.SUPPORTED


@given(st.text(max_size=80), st.text(max_size=80))
def test_no_text_makes_the_checks_raise(claim: str, evidence: str) -> None:
    assert isinstance(role_mismatch(claim, evidence, share=0.0), str)
    assert is_number_moved(claim, evidence, share=0.0) in (True, False)


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


OPENED = "Ana Ruiz opened the museum in Lisbon in 1987."


@pytest.mark.parametrize(
    ("claim", "evidence", "mine", "other"),
    [
        ("Ana Ruiz opened the museum in Madrid.", OPENED, "Madrid", "Lisbon"),
        ("Bob Jones opened the museum in Lisbon.", OPENED, "Bob Jones", "Ana Ruiz"),
        ("Eva Ruiz opened the museum.", OPENED, "Eva Ruiz", "Ana Ruiz"),
        ("Madrid has a museum.", "Lisbon has a museum and two theatres.", "Madrid", "Lisbon"),
        (
            "The bridge was built by Acme Corp.",
            "The bridge was built by Globex Inc. in 1990.",
            "Acme Corp",
            "Globex Inc",
        ),
        ("The Amazon is the longest river.", "The Nile is the longest river of all.", "Amazon", "Nile"),
        (
            "It was José’s idea to move to Porto’s harbour.",
            "It was José's idea to move to Faro's harbour.",
            "Porto",
            "Faro",
        ),
    ],
)
def test_another_name_in_the_same_place_contradicts(claim: str, evidence: str, mine: str, other: str) -> None:
    assert name_mismatch(claim, evidence, share=MIN_CLAIM_SHARE) == (mine, other)
    verdict = checked_verdict(claim, evidence, 0.9, 0.8, 0.5)
    assert verdict.label is Label.CONTRADICTED
    assert verdict.probability <= MAX_REFUSED_PROBABILITY
    assert verdict.reason == f"source says {other}; answer says {mine}"
    assert is_refused(claim, evidence, 0.8)


@pytest.mark.parametrize(
    ("claim", "evidence", "context"),
    [
        ("Ana Ruiz opened the museum in Lisbon.", OPENED, ""),
        ("Ruiz opened the museum.", OPENED, ""),
        ("Ms. Ruiz opened the museum.", OPENED, ""),
        ("A. Ruiz opened the museum.", OPENED, ""),
        ("Ana Maria Ruiz opened the museum.", OPENED, ""),
        ("ANA RUIZ opened the museum.", OPENED, ""),
        ("Ana Ruiz opened the museum in Lisbon on a Monday.", "Ana Ruiz opened the museum in Lisbon on a Friday.", ""),
        ("The museum opened in Portugal.", "The museum opened in Lisbon.", "Museums of Portugal"),
        ("The WHO moved to Geneva.", "The World Health Organization moved to Geneva.", ""),
        ("The U.S. moved its embassy.", "The United States moved its embassy.", ""),
        ("Peruvian trains are slow in winter.", "In Peru trains are slow in winter.", ""),
        ("Britain’s streets are wide.", "Britain's streets are wide.", ""),
        ("Ann sang “Should Have Stayed” in Rome.", "Title: Should've Stayed Ann sang “Should've Stayed” in Rome.", ""),
        ("Josė Neves founded it in Porto.", "José Neves founded it in Porto.", ""),
        ("Das Haus wurde im Mai auf dem Berg gebaut.", "Das Gebäude wurde im Mai auf dem Berg gebaut.", ""),
        ("Studies have shown that cats sleep.", "Results have shown that cats sleep.", ""),
        ("It rained in Rome.", "The barrier in Oslo cost 410 million euros.", ""),
        ("Cats sleep.", "Dogs bark.", ""),
        ("", "", ""),
    ],
)
def test_another_form_of_the_same_name_does_not_contradict(claim: str, evidence: str, context: str) -> None:
    assert name_mismatch(claim, evidence, context, share=MIN_CLAIM_SHARE) is None


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=40))
def test_names_are_compared_in_any_text(claim: str, evidence: str, context: str) -> None:
    assert name_mismatch(claim, claim, context, share=MIN_CLAIM_SHARE) is None
    name_mismatch(claim, evidence, context, share=MIN_CLAIM_SHARE)


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
