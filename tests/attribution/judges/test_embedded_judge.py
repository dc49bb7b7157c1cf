"""The embedded judge accepts what the evidence states, and never a number that the evidence lacks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.english import numbers
from propcite.attribution.judges import Case
from propcite.attribution.judges.embedded import EmbeddedJudge, Features, support_probability
from propcite.attribution.judges.word_checks import MAX_REFUSED_PROBABILITY
from propcite.retrieval.encoding.encoder import Encoder

GATES = "The tidal barrier has fourteen steel gates."
COST = "The barrier cost 410 million euros."
SHARES = st.floats(0, 1)
FEATURES = st.builds(Features, SHARES, SHARES, SHARES, SHARES)


def one(judge: EmbeddedJudge, claim: str, evidence: Sequence[str]) -> Verdict:
    return judge.judge([Case(claim, tuple(evidence))])[0]


@pytest.fixture(scope="module")
def judge(encoder: Encoder) -> EmbeddedJudge:
    return EmbeddedJudge(encoder)


@pytest.mark.parametrize("sentence", [GATES, COST, "Terns breed on the gravel roof of the warehouse."])
def test_a_sentence_supports_itself(judge: EmbeddedJudge, sentence: str) -> None:
    assert one(judge, sentence, [sentence]).label is Label.SUPPORTED


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The barrier has 14 gates made of steel.", GATES),
        ("The cost of the barrier was 410 million euros.", COST),
        ("The barrier cost 410,000,000 euros.", COST),
    ],
)
def test_a_paraphrase_is_supported(judge: EmbeddedJudge, claim: str, evidence: str) -> None:
    assert one(judge, claim, [evidence]).label is Label.SUPPORTED


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        (GATES, "Rye bread needs a sourdough that is at least two days old."),
        ("Herring spawn in the bay.", GATES),
        ("The chess club meets in the library.", COST),
    ],
)
def test_other_topics_are_not_supported(judge: EmbeddedJudge, claim: str, evidence: str) -> None:
    verdict = one(judge, claim, [evidence])
    assert verdict.label in (Label.UNSUPPORTED, Label.PARTLY)
    assert verdict.probability < one(judge, claim, [claim]).probability


@pytest.mark.parametrize(
    ("claim", "evidence", "says", "claimed"),
    [
        ("The barrier cost 510 million euros.", COST, "410 million euros", "510 million euros"),
        ("The tidal barrier has twelve steel gates.", GATES, "fourteen", "twelve"),
        ("The tidal barrier has 12 steel gates.", GATES, "fourteen", "12"),
        ("The act was passed in May 1999.", "The act was passed in May 1998.", "1998", "1999"),
        ("It is 3 m.", "It is 4 m.", "4 m", "3 m"),
        ("The lamp is at −5 °C.", "The lamp is at 5 °C.", "5 °C", "−5 °C"),
    ],
)
def test_another_number_contradicts_and_the_reason_names_both(
    judge: EmbeddedJudge, claim, evidence, says, claimed
) -> None:
    verdict = one(judge, claim, [evidence])
    assert verdict.label is Label.CONTRADICTED
    source, answer = verdict.reason.split("; answer says ")
    assert says in source
    assert claimed in answer


@pytest.mark.parametrize(
    ("claim", "evidence", "reason"),
    [
        ("Sales rose in the spring.", "Sales fell in the spring.", "source says “fell”; answer says “rose”"),
        ("The path is 3 miles long.", "The path is 3 km long.", "source says “3 km”; answer says “3 miles”"),
    ],
)
def test_an_opposed_word_or_another_unit_contradicts(
    judge: EmbeddedJudge, claim: str, evidence: str, reason: str
) -> None:
    verdict = one(judge, claim, [evidence])
    assert (verdict.label, verdict.reason) == (Label.CONTRADICTED, reason)
    assert verdict.probability <= MAX_REFUSED_PROBABILITY


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Sales did not rise in the spring.", "Sales fell in the spring."),
        ("Sales rose in the spring.", "Sales rose in the spring and fell in the autumn."),
        ("The barrier cost £410m.", "The barrier cost £410 million."),
        ("The council approved the 2nd plan.", "The council approved the second plan."),
    ],
)
def test_a_paraphrase_is_not_contradicted(judge: EmbeddedJudge, claim: str, evidence: str) -> None:
    assert one(judge, claim, [evidence]).label is not Label.CONTRADICTED


@given(FEATURES, st.sampled_from(["has 12 gates", "cost 5 million", "opened in May", "was 1.5 m high"]))
def test_a_number_that_the_evidence_lacks_is_never_supported(encoder: Encoder, features: Features, claim: str) -> None:
    judge = EmbeddedJudge(encoder)
    for evidence in ("It has gates.", "It has 14 gates.", ""):
        assert numbers(claim) - numbers(evidence)
        assert judge.verdict(Case(claim, (evidence,)), features).label is not Label.SUPPORTED


@given(FEATURES, SHARES)
def test_more_similarity_never_lowers_the_probability(features: Features, more: float) -> None:
    assert 0 <= support_probability(features) <= 1
    closer = Features(max(features.similarity, more), features.weakest, features.numbers, features.overlap)
    assert support_probability(closer) >= support_probability(features)


@given(FEATURES, st.floats(0.05, 0.95))
def test_a_label_follows_from_its_probability(encoder: Encoder, features: Features, threshold: float) -> None:
    verdict = EmbeddedJudge(encoder, supported_from=threshold).verdict(
        Case("It has gates.", ("It has gates.",)), features
    )
    assert (verdict.label is Label.SUPPORTED) == (verdict.probability >= threshold)


@pytest.mark.parametrize("evidence", [[], [""], [" ", "\n"]])
def test_no_evidence_supports_nothing(judge: EmbeddedJudge, evidence: list[str]) -> None:
    for claim in (GATES, COST, ""):
        assert one(judge, claim, evidence).label in (Label.UNSUPPORTED, Label.PARTLY)


def test_pieces_of_evidence_are_judged_together(judge: EmbeddedJudge) -> None:
    claim = "The barrier has fourteen gates and cost 410 million euros."
    both = one(judge, claim, [GATES, COST])
    assert both.probability > one(judge, claim, [GATES]).probability
    assert both.probability > one(judge, claim, [COST]).probability


def test_a_batch_is_judged_like_each_case(judge: EmbeddedJudge) -> None:
    pairs = [(GATES, [COST]), (COST, [COST]), (GATES, [GATES, COST]), (GATES, [])]
    many = judge.judge([Case(claim, tuple(evidence)) for claim, evidence in pairs])
    for verdict, (claim, evidence) in zip(many, pairs, strict=True):
        alone = one(judge, claim, evidence)
        assert verdict.probability == pytest.approx(alone.probability, abs=0.03)
        assert verdict.label == alone.label
    assert judge.judge([]) == []
