"""The memory of verdicts: right whatever judge asks it, bounded, and counted."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import NOT_JUDGED, Case, EncodingJudge, Judge, label_of, with_threshold
from propcite.attribution.judges.embedded import EmbeddedJudge
from propcite.attribution.judges.remembering import ENTRY_BYTES, VerdictMemory, remembering
from propcite.attribution.propcite import PropCite
from propcite.retrieval.encoding.encoder import Encoder


class Counting:
    """Supports a claim by its share of the evidence's characters, and counts what it judges."""

    def __init__(self, name: str = "counting/1", supported_from: float = 0.5) -> None:
        self.name, self.supported_from = name, supported_from
        self.judged: list[Case] = []

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        self.judged += cases
        probabilities = [len(case.claim) / 10 for case in cases]
        return [Verdict(label_of(p, self.supported_from), p) for p in probabilities]


class Failing(Counting):
    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        self.judged += cases
        return [Verdict(Label.UNSUPPORTED, 0.0, f"{NOT_JUDGED}the server is silent") for _ in cases]


CASES = [Case("It rained", ("It rained.",)), Case("It", ("snowed", "twice"), context="Hills")]


def test_equal_cases_are_judged_once_by_all_that_share_a_memory() -> None:
    memory, inner = VerdictMemory(), Counting()
    first, second = remembering(inner, memory), remembering(Counting(), memory)
    verdicts = first.judge([*CASES, CASES[0]])
    assert inner.judged == CASES
    assert second.judge(CASES) == verdicts[:2] == inner.judge(CASES)
    assert (memory.num_computed, memory.num_recalled, len(memory)) == (2, 3, 2)


@pytest.mark.parametrize(
    "other",
    [
        Case("It", ("snowed", "twice")),
        Case("It", ("snowed twice",), context="Hills"),
        Case("It", ("snowedtwice", ""), context="Hills"),
        Case("ItHills", ("snowed", "twice")),
        Case("It", ("snowed", "twice"), context="Hillssnowed"),
    ],
)
def test_every_text_of_a_case_counts(other: Case) -> None:
    inner = Counting()
    judge = remembering(inner, VerdictMemory())
    judge.judge([CASES[1]])
    judge.judge([other])
    assert inner.judged == [CASES[1], other]


def test_another_judge_or_threshold_has_its_own_verdicts() -> None:
    memory = VerdictMemory()
    judge = remembering(Counting(), memory)
    strict, renamed = with_threshold(judge, 0.95), remembering(Counting("counting/2"), memory)
    assert [one.judge(CASES[:1])[0].label for one in (judge, strict, judge, renamed)] == [
        Label.SUPPORTED,
        Label.PARTLY,
        Label.SUPPORTED,
        Label.SUPPORTED,
    ]
    assert memory.num_computed == 3
    assert judge.name == strict.name == "counting/1"


def test_a_judge_without_a_threshold_still_has_none() -> None:
    class Fixed:
        name = "fixed"

        def judge(self, cases: Sequence[Case]) -> list[Verdict]:
            return [Verdict(Label.SUPPORTED, 1.0) for _ in cases]

    with pytest.raises(AttributionError, match="no threshold"):
        with_threshold(remembering(Fixed(), VerdictMemory()), 0.5)


def test_what_could_not_be_judged_is_judged_again() -> None:
    memory, inner = VerdictMemory(), Failing()
    judge = remembering(inner, memory)
    for _ in range(2):
        assert judge.judge(CASES)[0].reason.startswith(NOT_JUDGED)
    assert len(inner.judged) == 4
    assert memory.total == 0


def test_the_memory_is_bounded_in_bytes() -> None:
    memory = VerdictMemory(10 * ENTRY_BYTES)
    judge = remembering(Counting(), memory)
    for number in range(100):
        judge.judge([Case(f"Claim {number}", ("x" * 10_000,))])
        assert memory.total <= 10 * ENTRY_BYTES
    assert 0 < len(memory) <= 10


def test_a_judge_with_an_encoder_keeps_it(encoder: Encoder) -> None:
    memory = VerdictMemory()
    judge: Judge = remembering(EmbeddedJudge(encoder), memory)
    assert isinstance(judge, EncodingJudge)
    assert judge.encoder is encoder
    propcite = PropCite(encoder, judge=judge)
    answer, passages = "The barrier is 6.4 metres high.", ["The barrier is 6.4 metres high. It cost a lot."]
    first = propcite.cite(answer, passages)
    computed = memory.num_computed
    assert computed
    again = propcite.cite(answer, passages)
    assert memory.num_computed == computed
    assert [c.quote for c in again.citations] == [c.quote for c in first.citations]
    assert not isinstance(remembering(Counting(), memory), EncodingJudge)
