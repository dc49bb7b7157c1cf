"""The facts of a draft with their verdicts and decisions, filtered, and decisions that are checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from propcite.app.errors import AppError, NotFoundError
from propcite.app.storable_text import storable
from propcite.attribution.citations import CitedAnswer, CitedProposition, Label
from propcite.attribution.formats.reviewed.decisions import Choice, Decision, Decisions
from propcite.attribution.formats.wording import label_of, location_of

MAX_WORDS = 10_000  # characters of the words that a reader proposes, and of a note
TOO_LONG = f"words and notes have at most {MAX_WORDS:,} characters: shorten them"


@dataclass(frozen=True, slots=True)
class DraftFact:
    """A fact of a draft: its number from 1, its verdict, and the decision on it, if there is one."""

    number: int
    cited: CitedProposition
    decision: Decision | None = None

    @property
    def label(self) -> Label:
        return label_of(self.cited)

    @property
    def choice(self) -> Choice:
        return self.decision.choice if self.decision else Choice.OPEN


def draft_facts(
    answer: CitedAnswer, decisions: Decisions, labels: Collection[Label] = (), choices: Collection[Choice] = ()
) -> list[DraftFact]:
    """Return the facts of a draft, or those with one of these verdicts and decisions."""
    every = (DraftFact(n, cited, decisions.get(cited.id)) for n, cited in enumerate(answer.facts, start=1))
    return [one for one in every if (not labels or one.label in labels) and (not choices or one.choice in choices)]


def counts(answer: CitedAnswer) -> dict[Label, int]:
    """Return how many facts have each verdict."""
    counted = Counter(map(label_of, answer.facts))
    return {label: counted[label] for label in Label}


def make_decision(
    answer: CitedAnswer, fact: str, choice: Choice, *, words: str = "", note: str = "", by: str = ""
) -> Decision:
    """Return a checked decision on a fact, which its number or id names."""
    id_ = next((one.cited.id for one in draft_facts(answer, {}) if fact in (str(one.number), one.cited.id)), "")
    if not id_:
        raise NotFoundError(f"no fact {fact[:40]!r}: this draft has the facts 1 to {len(answer.facts)}")
    if choice is Choice.CHANGED and not words.strip():
        raise AppError("a changed fact needs its new words: give them, or reject the fact")
    if words.strip() and choice is not Choice.CHANGED:
        raise AppError("only a changed fact has new words: leave them out, or decide 'changed'")
    if max(len(words), len(note)) > MAX_WORDS:
        raise AppError(TOO_LONG)
    return Decision(id_, choice, storable(words).strip(), storable(note).strip(), by)


def decide_open(facts: Sequence[DraftFact], choice: Choice, *, note: str = "", by: str = "") -> list[Decision]:
    """Return the same decision on each of these facts that has none yet."""
    if choice not in (Choice.ACCEPTED, Choice.REJECTED):
        raise AppError("all facts at once can be accepted or rejected: decide otherwise on each by its number")
    if len(note) > MAX_WORDS:
        raise AppError(TOO_LONG)
    remark = storable(note).strip()
    return [Decision(one.cited.id, choice, "", remark, by) for one in facts if one.choice is Choice.OPEN]


def fact_values(one: DraftFact) -> dict[str, Any]:
    """Return a fact as JSON: its words, verdict, quotes with their sources, and the decision that counts."""
    evidence = [c.evidence for c in one.cited.citations] or ([one.cited.nearest] if one.cited.nearest else [])
    verdict, decision = one.cited.verdict, one.decision
    return {
        "number": one.number,
        "id": one.cited.id,
        "text": one.cited.proposition.text,
        "verdict": one.label.value,
        "probability": verdict.probability if verdict else None,
        "reason": verdict.reason if verdict else "",
        "is_cited": bool(one.cited.citations),
        "quotes": [
            {
                "quote": each.quote,
                "title": each.passage.title,
                "place": location_of(each.passage, [each.span]),
                "document_id": each.passage.document_id,
            }
            for each in evidence
        ],
        "choice": one.choice.value,
        "words": decision.words if decision else "",
        "note": decision.note if decision else "",
        "by": decision.by if decision else "",
        "at": decision.at.isoformat() if decision and decision.at else None,
    }
