"""A fact that an answer repeats is judged once, and cited at each of its places."""

from __future__ import annotations

from collections.abc import Sequence

from propcite.attribution.citations import Verdict
from propcite.attribution.judges import Case
from propcite.attribution.judges.embedded import EmbeddedJudge
from propcite.attribution.propcite import PropCite
from propcite.retrieval.encoding.encoder import Encoder


class Counting(EmbeddedJudge):
    """The embedded judge, which keeps what it was asked."""

    asked: tuple[Case, ...] = ()

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        self.asked += tuple(cases)
        return super().judge(cases)


def test_a_repeated_fact_is_judged_once_and_cited_everywhere(encoder: Encoder) -> None:
    source = ["The barrier has fourteen gates. It was finished in 2024."]
    judge = Counting(encoder)
    once = PropCite(encoder, judge=judge).cite("The barrier has fourteen gates.", source)
    asked = len(judge.asked)
    judge = Counting(encoder)
    repeated = PropCite(encoder, judge=judge).cite(" ".join(["The barrier has fourteen gates."] * 5), source)
    assert len(judge.asked) == asked
    assert [c.quote for c in repeated.citations] == [once.citations[0].quote] * 5
    assert len({fact.proposition.spans for fact in repeated.facts}) == 5
