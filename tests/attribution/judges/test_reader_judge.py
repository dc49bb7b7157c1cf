"""The reader names wrong words, refuses numbers that do not follow, and judges each case independently."""

from __future__ import annotations

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from itertools import pairwise
from typing import Any

import pytest
from claim_pairs import ROWS
from hypothesis import given
from hypothesis import strategies as st

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.judges import Case
from propcite.attribution.judges.excerpts import excerpt
from propcite.attribution.judges.reader import (
    Calibration,
    Reader,
    ReaderJudge,
    reason,
    shown_evidence,
    whole_words,
)
from propcite.attribution.judges.reader_files import READER, load
from propcite.attribution.reading.pairs import Pair, batches
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.text import Span

GATES = "The tidal barrier has fourteen steel gates."
COST = "The barrier cost 410 million euros."
MIN_ORDERED, MIN_CORRECT, MIN_ROLES = 0.75, 0.7, 0.9  # below the results of the shipped weights


@pytest.fixture(scope="module")
def judge(encoder: Encoder) -> ReaderJudge:
    return ReaderJudge(encoder)


@pytest.fixture(scope="module")
def verdict_pairs(judge: ReaderJudge) -> list[tuple[str, Verdict, Verdict]]:
    cases = [Case(claim, (evidence,)) for _, evidence, yes, no in ROWS for claim in (yes, no)]
    verdicts = judge.judge(cases)
    return [(row[0], *pair) for row, pair in zip(ROWS, zip(verdicts[::2], verdicts[1::2], strict=True), strict=True)]


def one(judge: ReaderJudge, claim: str, *evidence: str, context: str = "") -> Verdict:
    return judge.judge([Case(claim, evidence, context)])[0]


def test_the_supported_one_of_two_claims_is_likelier(verdict_pairs: list[tuple[str, Verdict, Verdict]]) -> None:
    ordered = [yes.probability > no.probability for _, yes, no in verdict_pairs]
    assert sum(ordered) / len(ordered) >= MIN_ORDERED


def test_most_labels_are_correct(verdict_pairs: list[tuple[str, Verdict, Verdict]]) -> None:
    correct = [(yes.label is Label.SUPPORTED) + (no.label is not Label.SUPPORTED) for _, yes, no in verdict_pairs]
    assert sum(correct) / (2 * len(correct)) >= MIN_CORRECT


def test_exchanged_roles_are_distinguished(verdict_pairs: list[tuple[str, Verdict, Verdict]]) -> None:
    ordered = [yes.probability > no.probability for kind, yes, no in verdict_pairs if kind == "roles"]
    assert sum(ordered) / len(ordered) >= MIN_ROLES


@pytest.mark.parametrize("sentence", [GATES, COST, "Terns breed on the gravel roof of the warehouse."])
def test_a_sentence_supports_itself(judge: ReaderJudge, sentence: str) -> None:
    assert one(judge, sentence, sentence).label is Label.SUPPORTED


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        (GATES, "Rye bread needs a sourdough that is at least two days old."),
        ("Herring spawn in the bay.", GATES),
        ("The chess club meets in the library.", COST),
    ],
)
def test_other_topics_are_not_supported(judge: ReaderJudge, claim: str, evidence: str) -> None:
    assert one(judge, claim, evidence).label in (Label.UNSUPPORTED, Label.PARTLY)


@pytest.mark.parametrize(
    ("claim", "evidence", "reason"),
    [
        ("The barrier cost 510 million euros.", COST, "source says 410 million euros; answer says 510 million euros"),
        ("Sales rose in the spring.", "Sales fell in the spring.", "source says “fell”; answer says “rose”"),
        ("The gates were closed.", "The gates were not closed.", "one of the two is negated, the other is not"),
    ],
)
def test_a_refusal_says_what_the_source_says_instead(
    judge: ReaderJudge, claim: str, evidence: str, reason: str
) -> None:
    verdict = one(judge, claim, evidence)
    assert (verdict.label, verdict.reason) == (Label.CONTRADICTED, reason)


@pytest.mark.parametrize(
    ("claim", "evidence", "is_supported"),
    [
        ("Three countries signed the treaty.", "France, Spain and Italy signed the treaty.", True),
        ("Four countries signed the treaty.", "France, Spain and Italy signed the treaty.", False),
    ],
)
def test_a_number_may_follow_from_the_evidence(
    judge: ReaderJudge, claim: str, evidence: str, is_supported: bool
) -> None:
    assert (one(judge, claim, evidence).label is Label.SUPPORTED) is is_supported


def test_a_sum_that_follows_is_far_likelier_than_another_and_never_contradicted(judge: ReaderJudge) -> None:
    final = "The Broncos won the final 24–10."
    right, wrong = (one(judge, f"The Broncos won the final by {n} points.", final) for n in ("fourteen", "thirteen"))
    assert right.probability > wrong.probability + 0.3
    assert right.label in (Label.SUPPORTED, Label.PARTLY)
    assert (wrong.label, wrong.reason) == (Label.CONTRADICTED, "source says 24, 10; answer says thirteen")


def test_a_number_that_does_not_follow_is_refused_whatever_the_network_reads(judge: ReaderJudge) -> None:
    judge = copy(judge)
    judge.calibration = Calibration(intercept=99.0)
    assert one(judge, "The gates weigh 30 tons.", GATES).label is not Label.SUPPORTED
    assert one(judge, "The gates are heavy.", GATES).label is Label.SUPPORTED


@pytest.mark.parametrize(
    ("title", "evidence", "claim", "label"),
    [
        ("Tessera 5.3 › Highlights", "Regions can be saved.", "Regions can be saved in Tessera 5.3.", Label.SUPPORTED),
        (
            "Budget 2026",
            "The deficit is 2 million euros.",
            "The 2026 budget has a deficit of 2 million euros.",
            Label.SUPPORTED,
        ),
        ("Tessera 5.3", "Tessera 5.2 can save regions.", "Tessera 5.3 can save regions.", None),
        ("Plan 2030", "The bridge opened in May.", "The bridge opened in May 2030.", None),
        (
            "Minutes of 12 March 2025",
            "The next meeting is in the town hall.",
            "The next meeting is on 12 March 2025.",
            None,
        ),
    ],
)
def test_the_number_of_a_name_may_stand_in_the_title_and_no_other(
    judge: ReaderJudge, title: str, evidence: str, claim: str, label: Label | None
) -> None:
    (verdict,) = judge.judge([Case(claim, (evidence,), title)])
    assert (verdict.label is Label.SUPPORTED) == (label is Label.SUPPORTED)


def test_a_claim_that_the_evidence_denies_is_contradicted_without_any_rule(judge: ReaderJudge) -> None:
    evidence = "Anna Berg sold the museum to the city of Bergen."
    claim = "The museum was sold to Anna Berg by the city of Bergen."
    verdict = one(judge, claim, evidence)
    assert verdict.label is Label.CONTRADICTED
    assert "Anna Berg" in verdict.reason
    assert one(judge, "The museum has a café.", evidence).label is Label.UNSUPPORTED


@pytest.mark.parametrize("evidence", [(), ("",), (" ", "\n")])
def test_no_evidence_supports_nothing(judge: ReaderJudge, evidence: tuple[str, ...]) -> None:
    assert [one(judge, claim, *evidence).label for claim in (GATES, COST, "")] == [Label.UNSUPPORTED] * 3


@pytest.mark.parametrize("odd", ["", " ", "\ud800", "\x00", "🙂 " * 400, "a" * 3000, "[SEP] [CLS] [unused3]"])
def test_any_text_can_be_judged(judge: ReaderJudge, odd: str) -> None:
    for verdict in judge.judge([Case(odd, (GATES,)), Case(GATES, (odd,)), Case(GATES, (GATES,), odd)]):
        assert 0 <= verdict.probability <= 1


def test_no_cases_give_no_verdicts(judge: ReaderJudge) -> None:
    assert judge.judge([]) == []


def test_a_verdict_does_not_depend_on_the_other_cases(encoder: Encoder) -> None:
    cases = [Case(claim, (evidence,)) for _, evidence, yes, no in ROWS[:4] for claim in (yes, no)]
    long = Case("The barrier has gates.", (f"{COST} " * 10 + GATES,))
    together, single = ReaderJudge(encoder), ReaderJudge(encoder)  # of which neither has read for the other
    assert together.judge([long, *cases, long])[1:-1] == [single.judge([case])[0] for case in cases]


def test_a_pair_that_was_read_lately_is_not_read_again(encoder: Encoder) -> None:
    judge, other = ReaderJudge(encoder), ReaderJudge(encoder)
    widths: list[int] = []
    network = judge.reader.network

    def counted(pairs: Sequence[Pair], width: int) -> Any:
        widths.append(width)
        return network(pairs, width)

    judge.reader.network = counted  # type: ignore[assignment]
    cases = [Case(yes, (evidence,)) for _, evidence, yes, _ in ROWS[:3]]
    first = judge.judge(cases)
    num_read = len(widths)
    assert num_read
    assert judge.judge([*cases, cases[0]]) == [*first, first[0]] == [*other.judge(cases), first[0]]
    assert len(widths) == num_read


def test_the_network_computes_for_the_pairs_that_are_read_and_no_others() -> None:
    reader, rows = Reader(), list[int]()
    counting = reader.network.register_forward_pre_hook(lambda _, given: rows.append(len(given[0])))
    try:
        for pairs in ([(GATES, COST)], [(COST, GATES), (GATES, f"{COST} {GATES}"), (GATES, COST)]):
            reader.read(pairs)
    finally:
        counting.remove()
    assert sum(rows) == 3  # one of them was read before


def test_in_float32_too_a_pair_is_read_alike_whatever_is_read_beside_it() -> None:
    pairs = [(claim, f"{evidence} {GATES}") for _, evidence, yes, no in ROWS[:3] for claim in (yes, no)]
    alone = Reader(precision="float32")
    assert Reader(precision="float32").read(pairs) == [alone.read([pair])[0] for pair in pairs]


def test_threads_share_one_judge(encoder: Encoder) -> None:
    cases = [[Case(yes, (evidence,))] for _, evidence, yes, _ in ROWS[:6]]
    shared, single = ReaderJudge(encoder), ReaderJudge(encoder)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(shared.judge, cases)) == [single.judge(case) for case in cases]


def test_the_threshold_decides_the_label(encoder: Encoder, judge: ReaderJudge) -> None:
    probability = one(judge, GATES, GATES).probability
    strict = ReaderJudge(encoder, supported_from=min(1.0, probability + 0.001))
    assert one(strict, GATES, GATES).label is not Label.SUPPORTED


def test_the_relevant_sentence_is_found_in_long_evidence(judge: ReaderJudge) -> None:
    filler = "The council discussed the parking of bicycles near the market at great length that evening. " * 30
    assert one(judge, GATES, filler + GATES + " " + filler).label is Label.SUPPORTED
    assert one(judge, GATES, filler).label is not Label.SUPPORTED


@given(st.lists(st.sampled_from(["The gates rose.", "Rain fell all day long.", "It cost 3 euros."]), max_size=40))
def test_an_excerpt_keeps_the_order_of_sentences(sentences: list[str]) -> None:
    text = " ".join(f"{s[:-1]} {i}." for i, s in enumerate(sentences))
    shortened = excerpt(Case("Rain fell.", (text,)), 30)
    positions = [text.index(piece) for piece in shortened.split(". ") if piece]
    assert positions == sorted(positions)
    assert len(shortened.split()) <= 30


def test_an_excerpt_prefers_the_first_of_equally_good_sentences() -> None:
    dice, words = random.Random(3), "river bridge mill stone water tower garden winter harvest market clock".split()
    for _ in range(20):
        same = [f"{' '.join(dice.sample(words, len(words)))}." for _ in range(30)]
        text = " ".join(f"{sentence} {' '.join(dice.sample(words, 6))}." for sentence in same)
        assert excerpt(Case(" ".join(words), (text.title(),)), 60) == " ".join(same[:5]).title()


@given(st.lists(st.integers(1, 256), max_size=60), st.integers(1, 8))
def test_batches_have_each_text_once_and_a_width_that_depends_on_it_alone(lengths: list[int], rows: int) -> None:
    groups = batches(lengths, rows)
    assert sorted(i for _, batch in groups for i in batch) == list(range(len(lengths)))
    assert all(len(batch) <= rows for _, batch in groups)
    assert all(width == -(-lengths[i] // 16) * 16 for width, batch in groups for i in batch)


@given(st.lists(st.integers(1, 256), max_size=60), st.integers(1, 8))
def test_filled_batches_have_each_text_and_one_shape_per_width(lengths: list[int], rows: int) -> None:
    groups = batches(lengths, rows, are_filled=True)
    assert {i for _, batch in groups for i in batch} == set(range(len(lengths)))
    assert all(len(batch) == rows for _, batch in groups)
    assert all(width - 32 < lengths[i] <= width for width, batch in groups for i in batch)


def test_the_shipped_reader_is_small_and_describes_its_training() -> None:
    sizes = [file.stat().st_size for file in READER.glob("*.safetensors")]
    assert sum(sizes) <= 100_000_000
    assert max(sizes) < 50_000_000
    assert {"base", "calibration", "reliability", "made"} <= set(load().about)


def test_the_name_identifies_the_weights(judge: ReaderJudge) -> None:
    assert judge.name == f"reader/{load().name}+numbers2"


def test_a_refusal_names_the_words_that_the_source_does_not_say(judge: ReaderJudge) -> None:
    evidence = "ABO blood groups were discovered by Landsteiner in 1901."
    verdict = one(judge, "ABO blood groups were discovered by Landsteiner in Vienna.", evidence)
    assert verdict.label is not Label.SUPPORTED
    assert "Vienna" in verdict.reason


@pytest.mark.parametrize(
    ("context", "evidence", "shown"),
    [
        ("", GATES, GATES),
        ("The barrier", GATES, f"The barrier: {GATES}"),
        ("The barrier\nIt rained.", GATES, f"The barrier: {GATES}"),
        ("The barrier\nThe barrier is new.", "It has gates.", "The barrier: The barrier is new. It has gates."),
        ("The barrier is new.", "It has gates.", "The barrier is new. It has gates."),
        ("The barrier is new.", GATES, GATES),
    ],
)
def test_the_title_is_read_and_the_sentence_before_only_where_evidence_refers_to_it(
    context: str, evidence: str, shown: str
) -> None:
    assert shown_evidence(Case(COST, (evidence,), context)) == shown


@given(st.text(max_size=40), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6)), max_size=6))
def test_wrong_words_are_whole_apart_and_in_order(text: str, starts: list[tuple[int, int]]) -> None:
    pieces = sorted({(min(a, len(text)), min(a + n, len(text))) for a, n in starts})
    words = whole_words(text, [Span(*piece) for piece in pieces])
    assert all(any(c.isalnum() for c in word.of(text)) for word in words)
    assert all(a.end <= b.start for a, b in pairwise(words))


def test_a_reason_names_three_phrases_at_most() -> None:
    words = [Span(at, at + 1) for at in (0, 2, 4, 6)]
    assert reason("a b c d", words, "") == "the source does not say “a” or “b” or “c”"
    assert reason("a b c d", [], "") == ""


def test_words_that_the_source_says_of_something_else_are_not_called_missing() -> None:
    words = [Span(4, 6), Span(11, 15)]
    assert reason("In **18 or 1990", words, "It says 180 and 19900.").startswith("the source does not say")
    claim = "The south sold 18 in May."
    assert reason(claim, [Span(15, 17)], "The north sold 18.") == "the source says “18”, but not of this"
    both = reason(claim, [Span(15, 17), Span(21, 24)], "The north sold 18.")
    assert both == "the source does not say “May”; it says “18”, but not of this"


def test_pictures_around_a_claim_change_nothing(judge: ReaderJudge) -> None:
    evidence = "The tidal barrier has fourteen steel gates. It cost 410 million euros."
    for claim in ("It cost 410 million euros.", "The barrier has fourteen gates.", "The barrier has twenty gates."):
        plain = one(judge, claim, evidence)
        assert one(judge, f"✅ {claim}", evidence) == plain
        assert one(judge, f"\U0001f30a\U0001f30a {claim} \U0001f327\ufe0f", evidence) == plain
    assert one(judge, "\U0001f30a Look at it.", "\U0001f30a Rain.") == one(judge, "Look at it.", "\U0001f30a Rain.")


def test_a_calibration_never_prefers_a_worse_reading() -> None:
    logits = [Calibration(0.7, -0.5).logit(reading) for reading in (-50.0, -2.0, 0.0, 2.0, 50.0)]
    assert logits == sorted(logits)
    assert logits[0] > -10  # a reading is limited


def test_a_claim_that_is_too_long_to_be_read_whole_is_refused(judge: ReaderJudge) -> None:
    """What stands behind the last word that the network reads could be anything."""
    long = " ".join(["The tidal barrier has fourteen steel gates and"] * 40) + " it sank in 1999."
    assert one(judge, long, f"{GATES} " * 40).label is not Label.SUPPORTED
    [reading] = judge.readings([Case(long, (GATES,))])
    assert reading.logit < 0
    assert reading.reason == "the claim is longer than the judge can read: split it"


def test_a_sentence_of_the_evidence_is_supported_and_words_inside_one_are_read(judge: ReaderJudge) -> None:
    said = "The keeper lied. Bob stole the money."
    assert one(judge, "Bob stole the money.", said).probability == 0.99
    assert one(judge, "Bob stole the money.", "Alice said that Bob stole the money.").probability < 0.99
