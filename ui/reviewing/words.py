"""Wording of drafts under review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from propcite.app.library.store import ReviewInfo, ReviewState
from propcite.app.reviewing.exports import ReviewFormat
from propcite.app.reviewing.facts import DraftFact
from propcite.attribution.citations import Label
from propcite.attribution.formats.reviewed.decisions import Choice
from propcite.attribution.formats.wording import SIGNS
from propcite.attribution.judges import NOT_JUDGED
from propcite.ui.words import counted, fact_line, percent

CHOICES = {
    Choice.OPEN: "Not decided",
    Choice.ACCEPTED: "Accepted",
    Choice.CHANGED: "Changed",
    Choice.REJECTED: "Rejected",
}
FORMATS = {
    ReviewFormat.DOCX: "Word, with a comment at each statement",
    ReviewFormat.MARKDOWN: "Markdown, with a footnote at each statement",
}
_STATES = {
    ReviewState.CANCELLED: "The citing was cancelled at {share}: what follows has no sources yet.",
    ReviewState.FAILED: "The draft could not be cited: {reason}",
    ReviewState.INTERRUPTED: "The citing was interrupted, as the server ended or its sources were removed.",
}


def draft_line(info: ReviewInfo) -> str:
    """Describe a draft in a list."""
    if info.state is ReviewState.CITING:
        how_far = f"{percent(info.share)} cited"
    elif info.state is ReviewState.DONE or info.num_facts:
        how_far = decided_line(info.num_decided, info.num_facts)
    else:
        how_far = info.state.value
    by = f" · {info.by}" if info.by else ""
    return f"{info.name} · {how_far} · {info.begun_at.astimezone():%d %b %Y, %H:%M}{by}"


def decided_line(num_decided: int, num_facts: int) -> str:
    """Say how many statements are decided on.

    >>> decided_line(1, 5)
    '1 of 5 statements decided'
    """
    return f"{min(num_decided, num_facts):,} of {counted(num_facts, 'statement')} decided"


def state_line(info: ReviewInfo) -> str:
    """Say why a draft is not, or not wholly, cited; empty where it is."""
    return _STATES.get(info.state, "").format(share=percent(info.share), reason=info.reason)


def unchecked_line(reasons: Sequence[str]) -> str:
    """Say that statements could not be checked, each for a reason; empty for none.

    >>> unchecked_line(["not checked: no server answers"])
    '1 statement could not be checked: no server answers'
    """
    first = next(iter(reasons), "").removeprefix(NOT_JUDGED)
    return f"{counted(len(reasons), 'statement')} could not be checked: {first}" if reasons else ""


def verdict_words(label: Label, counts: Mapping[Label, int]) -> str:
    """Name a verdict to filter by, with its number.

    >>> verdict_words(Label.CONTRADICTED, {Label.CONTRADICTED: 2})
    '✗ Contradicted (2)'
    """
    sign, words = SIGNS[label]
    return f"{sign} {words[:1].upper()}{words[1:]} ({counts[label]:,})"


def place_line(number: int, shown: int, part: int, parts: int) -> str:
    """Say which statement is open, and in which part of the draft.

    >>> place_line(3, 40, 1, 12)
    'Statement 3 of 40 · part 1 of 12'
    """
    return f"Statement {number:,} of {shown:,}" + (f" · part {part} of {parts}" if parts > 1 else "")


def row(one: DraftFact) -> dict[str, str | int]:
    return {"No.": one.number, "Statement": fact_line(one.cited), "Decision": CHOICES[one.choice]}
