"""Any judge as ALCE's `phi`, asked in batches and remembering what it said."""

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
TOGETHER = 256  # judgements in one batch


@dataclass(slots=True)
class Entailment:
    """What one judge says of premise and hypothesis, each pair asked once."""

    judge: Judge
    known: dict[Pair, bool] = field(default_factory=dict)
    num_judged: int = 0

    def together(self, works: Sequence[Callable[[Phi], Result]]) -> list[Result]:
        """What each work computes; what they need to know is judged together, in as many rounds as it takes.

        A work may be called several times: until all is known it hears "no" of what is not, and its result is dropped.
        """
        results: dict[int, Result] = {}
        waiting = dict(enumerate(works))
        while waiting:
            asked: dict[Pair, None] = {}
            for place, work in list(waiting.items()):
                missing: dict[Pair, None] = {}
                result = work(self._telling(missing))
                if missing:
                    asked |= missing
                else:
                    results[place] = result
                    del waiting[place]
            self._judge(list(asked))
        return [results[place] for place in range(len(works))]

    def remember(self, judgements: Mapping[Pair, bool]) -> None:
        self.known.update(judgements)

    def _telling(self, missing: dict[Pair, None]) -> Phi:
        def phi(premise: Premise, hypothesis: str) -> bool:
            if (premise, hypothesis) not in self.known:
                missing[premise, hypothesis] = None
            return self.known.get((premise, hypothesis), False)

        return phi

    def _judge(self, pairs: Sequence[Pair]) -> None:
        for first in range(0, len(pairs), TOGETHER):
            some = pairs[first : first + TOGETHER]
            self.known.update(zip(some, _entailed(self.judge, some), strict=True))
            self.num_judged += len(some)


def _entailed(judge: Judge, pairs: Sequence[Pair]) -> list[bool]:
    """TRUE decides as ALCE has it decide, one by one; another judge by whether it calls the claim supported."""
    if isinstance(judge, EntailmentJudge) and judge.name.startswith("true/"):
        from propcite.attribution.judges.t5 import T5Reader, entails

        if isinstance(judge.reader, T5Reader):
            return [entails(judge.reader, "\n".join(premise), hypothesis) for premise, hypothesis in pairs]
    verdicts = judge.judge([Case(hypothesis, premise) for premise, hypothesis in pairs])
    return [verdict.label is Label.SUPPORTED for verdict in verdicts]
