"""Any judge as ALCE's entailment function `phi`, called in batches and once per pair."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from propcite.app.lab.alce.scores import Phi, Premise
from propcite.attribution.citations import Label
from propcite.attribution.judges import Case, Judge
from propcite.attribution.judges.entailment import EntailmentJudge

Result = TypeVar("Result")
Pair = tuple[Premise, str]
BATCH_SIZE = 256  # judgements


@dataclass(slots=True)
class Entailment:
    """Whether premises entail hypotheses by one judge; each pair is judged once."""

    judge: Judge
    judged: dict[Pair, bool] = field(default_factory=dict)
    num_judged: int = 0

    def compute(self, functions: Sequence[Callable[[Phi], Result]]) -> list[Result]:
        """Return each function's result; the pairs that they ask `phi` for are judged together.

        A function is called again until all its pairs are judged: until then `phi` returns False for the missing ones,
        and the result is dropped.
        """
        results: dict[int, Result] = {}
        waiting = dict(enumerate(functions))
        while waiting:
            pairs: dict[Pair, None] = {}
            for place, function in list(waiting.items()):
                missing: dict[Pair, None] = {}
                result = function(self._phi(missing))
                if missing:
                    pairs |= missing
                else:
                    results[place] = result
                    del waiting[place]
            self._judge(list(pairs))
        return [results[place] for place in range(len(functions))]

    def add(self, judgements: Mapping[Pair, bool]) -> None:
        """Add judgements of an earlier call, so that they are not made again."""
        self.judged.update(judgements)

    def _phi(self, missing: dict[Pair, None]) -> Phi:
        def phi(premise: Premise, hypothesis: str) -> bool:
            if (premise, hypothesis) not in self.judged:
                missing[premise, hypothesis] = None
            return self.judged.get((premise, hypothesis), False)

        return phi

    def _judge(self, pairs: Sequence[Pair]) -> None:
        for first in range(0, len(pairs), BATCH_SIZE):
            batch = pairs[first : first + BATCH_SIZE]
            self.judged.update(zip(batch, _entailed(self.judge, batch), strict=True))
            self.num_judged += len(batch)


def _entailed(judge: Judge, pairs: Sequence[Pair]) -> list[bool]:
    """Return whether each premise entails its hypothesis: TRUE decides as in ALCE, other judges by their verdict."""
    if isinstance(judge, EntailmentJudge) and judge.name.startswith("true/"):
        from propcite.attribution.judges.t5 import T5Classifier, entails

        if isinstance(judge.model, T5Classifier):
            return [entails(judge.model, "\n".join(premise), hypothesis) for premise, hypothesis in pairs]
    verdicts = judge.judge([Case(hypothesis, premise) for premise, hypothesis in pairs])
    return [verdict.label is Label.SUPPORTED for verdict in verdicts]
