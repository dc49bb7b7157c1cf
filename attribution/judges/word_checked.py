"""Any judge under the checks of plain words."""

from __future__ import annotations

from collections.abc import Sequence

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.english import words
from propcite.attribution.judges import SUPPORTED_FROM, Case, Judge, accepting_from
from propcite.attribution.judges.checks import RULES, checked


class WordChecked:
    """What `judge` calls supported stays so only where numbers, units, names, opposed words, "not" and "may" allow it.

    The checks know no arithmetic: a sum that a language model would grant is refused.
    """

    def __init__(self, judge: Judge, *, supported_from: float = SUPPORTED_FROM) -> None:
        self.inner = judge
        self._supported_from = supported_from
        self.name = f"{judge.name}+{RULES}"

    @property
    def supported_from(self) -> float:
        return self._supported_from

    @supported_from.setter
    def supported_from(self, supported_from: float) -> None:
        self._supported_from = supported_from
        self.inner = accepting_from(self.inner, supported_from)

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        return [self._checked(*pair) for pair in zip(cases, self.inner.judge(cases), strict=True)]

    def _checked(self, case: Case, verdict: Verdict) -> Verdict:
        if verdict.label is not Label.SUPPORTED:
            return verdict
        overlap = words.plain_share(case.claim, case.text)
        return checked(case.claim, case.text, verdict.probability, overlap, self.supported_from, case.context)
