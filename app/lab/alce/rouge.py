"""ROUGE-Lsum as ALCE computes it: sentence by sentence, stemmed, the better of the references.

The original states the median of a thousand resampled means, drawn anew each time; the mean over the answers stands
here for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from propcite.app.errors import AppError
from propcite.app.lab.alce.sentences import sentences_of


class Rouge:
    def __init__(self) -> None:
        try:
            from rouge_score.rouge_scorer import RougeScorer
        except ImportError as error:
            raise AppError(
                "ROUGE needs a package more: pip install 'propcite[eval]', or leave it out with --no-rouge"
            ) from error
        self._make = RougeScorer

    @cached_property
    def _scorer(self) -> Any:
        return self._make(["rougeLsum"], use_stemmer=True)

    def score(self, output: str, references: Sequence[str]) -> float | None:
        """F of the longest common subsequences; None where there is nothing to compare with."""
        told = _lines(output)
        found = [self._scorer.score(_lines(one), told)["rougeLsum"].fmeasure for one in references]
        return max(found, default=None)


def _lines(text: str) -> str:
    return "\n".join(sentences_of(text.lower()))
