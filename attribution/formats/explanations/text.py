"""Say in words which words of a fact its source contains, how its score is made up, and what the judge decided."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from propcite.attribution.citing.explaining import Explained
from propcite.attribution.formats.wording import SIGNS, copies_line, label_of, reason_of
from propcite.retrieval.alignment import NEAREST
from propcite.retrieval.explanation import Explanation
from propcite.retrieval.text import Granularity

# Over the demo's questions the same word reaches 0.61 to 0.90 (5% to 95%), other words of any sentence 0.05 to 0.45.
MATCH_FROM = 0.6
HEAVY_FROM = 0.5  # of an even share: lighter words decide little and are not counted
NUM_STRONGEST = 3
UNITS = {
    Granularity.PASSAGE: "the whole passage and its title",
    Granularity.SENTENCE: "the sentence",
    Granularity.PROPOSITION: "the nearest proposition of the sentence",
}


class WordMatch(StrEnum):
    """Whether the source contains a word of the fact."""

    SAME = "same"  # this very word
    OTHER = "other"  # another word of much the same meaning
    NONE = "none"


def word_match(explanation: Explanation, word: int) -> WordMatch:
    matches = explanation.matches(word)
    if not matches:
        return WordMatch.NONE
    own, best = explanation.query[word].text, explanation.source[matches[0].source].text
    if own.casefold() == best.casefold():
        return WordMatch.SAME
    return WordMatch.OTHER if explanation.nearness[word] >= MATCH_FROM else WordMatch.NONE


def heavy_words(explanation: Explanation) -> list[int]:
    """Return the words of the fact that have content and at least half the average weight."""
    words = [i for i, word in enumerate(explanation.query) if word.has_content]
    weights = {i: explanation.query[i].weight or 0.0 for i in words}
    min_weight = HEAVY_FROM * sum(weights.values()) / max(1, len(weights))
    return [i for i in words if weights[i] >= min_weight]


def explanation_lines(explained: Explained) -> list[str]:
    lines = [summary_line(explained.explanation), score_line(explained.explanation), verdict_line(explained)]
    also = copies_line(explained.evidence)
    return [*lines, f"{also[:1].upper()}{also[1:]}."] if also else lines


def summary_line(explanation: Explanation) -> str:
    """Say how many heavy words the source contains, which contribute most, and which it lacks."""
    heavy = heavy_words(explanation)
    by_match = {match: [i for i in heavy if word_match(explanation, i) is match] for match in WordMatch}
    same, other, none = by_match[WordMatch.SAME], by_match[WordMatch.OTHER], by_match[WordMatch.NONE]
    line = f"{len(same)} of {len(heavy)} words of weight found"
    if other:
        line += f", {len(other)} met by another word ({', '.join(_pair(explanation, i) for i in other)})"
    if strongest := sorted([*same, *other], key=lambda i: -explanation.contributions[i].sum())[:NUM_STRONGEST]:
        line += f"; strongest: {_quoted(explanation, strongest)}"
    if none:
        line += f"; not found: {_quoted(explanation, none)}"
    return f"{line}."


def score_line(explanation: Explanation) -> str:
    """Say what was compared, and how the score is made up."""
    line = f"Similarity {explanation.score:.2f}, with {UNITS[explanation.granularity]}"
    if explanation.passage_share:
        line += (
            f": its words reach {explanation.unit_score:.2f}, all of its passage {explanation.passage_score:.2f},"
            f" which counts for {explanation.passage_share:.0%}"
        )
    return line + ("." if explanation.alignment == NEAREST else f". Words are aligned by {explanation.alignment}.")


def verdict_line(explained: Explained) -> str:
    """Say what the judge decided: similarity only finds a source."""
    verdict = explained.fact.verdict
    words = SIGNS[label_of(explained.fact)][1]
    if verdict is None or explained.answer.models.get("judge") == "none":
        return f"No judge was asked; by similarity alone: {words}."
    why = reason_of(verdict, of_text=not explained.answer.question)
    reason = f": {why.rstrip('.')}" if why else ""
    return f"The judge says {words}, {verdict.probability:.0%} likely to hold{reason}."


def _pair(explanation: Explanation, word: int) -> str:
    other = explanation.source[explanation.matches(word)[0].source].text
    return f"“{explanation.query[word].text}” by " + (f"“{other}”" if other else "the title")


def _quoted(explanation: Explanation, words: Iterable[int]) -> str:
    return ", ".join(f"“{explanation.query[i].text}”" for i in words)
