"""Whether propositions read as sentences, and whether their sentence supports them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from propcite.attribution.citations import Label, Proposition
from propcite.attribution.judges import Case, Judge
from propcite.attribution.propositions.faults import FaultFinder


class Quality:
    """Judges propositions beside their sentence, and finds what is wrong with them; the same text is judged once."""

    def __init__(self, judge: Judge | None, finder: FaultFinder) -> None:
        self._judge = judge
        self._finder = finder
        self._supported: dict[tuple[str, str], bool] = {}

    def measures(
        self, sentences: Sequence[str], propositions: Sequence[Sequence[Proposition]]
    ) -> list[tuple[dict[str, float | None], list[dict[str, object]]]]:
        """Return the measures of each sentence's propositions, and what is wrong with each of these."""
        self._judge_all(sentences, propositions)
        return [self._of_sentence(s, split) for s, split in zip(sentences, propositions, strict=True)]

    def _judge_all(self, sentences: Sequence[str], propositions: Sequence[Sequence[Proposition]]) -> None:
        if self._judge is None:
            return
        split = ((s, p.text) for s, group in zip(sentences, propositions, strict=True) if len(group) > 1 for p in group)
        new = [pair for pair in dict.fromkeys(split) if pair not in self._supported]
        verdicts = self._judge.judge([Case(text, (sentence,)) for sentence, text in new])
        self._supported |= {pair: verdict.label is Label.SUPPORTED for pair, verdict in zip(new, verdicts, strict=True)}

    def _of_sentence(
        self, sentence: str, split: Sequence[Proposition]
    ) -> tuple[dict[str, float | None], list[dict[str, object]]]:
        faults = self._finder.faults(sentence, split)
        supported = [len(split) < 2 or self._supported.get((sentence, p.text)) for p in split]
        count = max(1, len(split))
        known = None if None in supported else sum(map(bool, supported)) / count
        measures: Mapping[str, float | None] = {
            "supported": known,
            "well_formed": sum(not found for found in faults) / count,
        }
        judgements: list[dict[str, object]] = [
            {"text": p.text, "faults": found, "supported": is_supported}
            for p, found, is_supported in zip(split, faults, supported, strict=True)
        ]
        return dict(measures), judgements
