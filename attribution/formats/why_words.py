"""An explanation in plain words: what of a fact was found in its source, what was not, what the score is made of."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from propcite.attribution.citing.explaining import Explained
from propcite.attribution.formats.words import SIGNS, label_of
from propcite.retrieval.alignment import NEAREST
from propcite.retrieval.explanation import Explanation
from propcite.retrieval.text import Granularity

# Over the demo's questions the same word reaches 0.61 to 0.90 (5% to 95%), other words of any sentence 0.05 to 0.45.
FOUND_FROM = 0.6
HEAVY_FROM = 0.5  # of an even share: lighter words decide little and are not counted
NUM_STRONGEST = 3
AGAINST = {
    Granularity.PASSAGE: "the whole passage and its title",
    Granularity.SENTENCE: "the sentence",
    Granularity.PROPOSITION: "the nearest proposition of the sentence",
}


class Met(StrEnum):
    """What became of a word of the fact."""

    SAME = "same"  # the source has this very word
    OTHER = "other"  # it has another that means much the same
    NONE = "none"


def met(explanation: Explanation, word: int) -> Met:
    matches = explanation.matches(word)
    if not matches:
        return Met.NONE
    said, found = explanation.query[word].text, explanation.source[matches[0].source].text
    if said.casefold() == found.casefold():
        return Met.SAME
    return Met.OTHER if explanation.nearness[word] >= FOUND_FROM else Met.NONE


def heavy(explanation: Explanation) -> list[int]:
    """The words that say something and are not light."""
    speaking = [i for i, word in enumerate(explanation.query) if word.speaks]
    weights = {i: explanation.query[i].weight or 0.0 for i in speaking}
    least = HEAVY_FROM * sum(weights.values()) / max(1, len(weights))
    return [i for i in speaking if weights[i] >= least]


def found_line(explanation: Explanation) -> str:
    """How many words that matter were found, which of them count most, and which were not."""
    counted = heavy(explanation)
    by_kind = {kind: [i for i in counted if met(explanation, i) is kind] for kind in Met}
    line = f"{len(by_kind[Met.SAME])} of {len(counted)} words of weight found"
    if by_kind[Met.OTHER]:
        met_by = ", ".join(_pair(explanation, i) for i in by_kind[Met.OTHER])
        line += f", {len(by_kind[Met.OTHER])} met by another word ({met_by})"
    found = [*by_kind[Met.SAME], *by_kind[Met.OTHER]]
    if strongest := sorted(found, key=lambda i: -explanation.contributions[i].sum())[:NUM_STRONGEST]:
        line += f"; strongest: {_quoted(explanation, strongest)}"
    if by_kind[Met.NONE]:
        line += f"; not found: {_quoted(explanation, by_kind[Met.NONE])}"
    return f"{line}."


def score_line(explanation: Explanation) -> str:
    """What the score is made of."""
    against = AGAINST[explanation.granularity]
    line = f"Similarity {explanation.score:.2f}, with {against}"
    if explanation.share:
        line += (
            f": its words reach {explanation.unit_score:.2f}, all of its passage {explanation.passage_score:.2f},"
            f" which counts for {explanation.share:.0%}"
        )
    return line + ("." if explanation.alignment == NEAREST else f". Words are aligned by {explanation.alignment}.")


def verdict_line(explained: Explained) -> str:
    """What the judge made of it: similarity finds a source, and does not decide."""
    verdict = explained.fact.verdict
    said = SIGNS[label_of(explained.fact)][1]
    if verdict is None or explained.answer.models.get("judge") == "none":
        return f"No judge was asked; by similarity alone: {said}."
    reason = f": {verdict.reason.rstrip('.')}" if verdict.reason else ""
    return f"The judge says {said}, {verdict.probability:.0%} likely to hold{reason}."


def lines(explained: Explained) -> list[str]:
    return [found_line(explained.explanation), score_line(explained.explanation), verdict_line(explained)]


def _pair(explanation: Explanation, word: int) -> str:
    other = explanation.source[explanation.matches(word)[0].source].text
    return f"“{explanation.query[word].text}” by " + (f"“{other}”" if other else "the title")


def _quoted(explanation: Explanation, words: Iterable[int]) -> str:
    return ", ".join(f"“{explanation.query[i].text}”" for i in words)
