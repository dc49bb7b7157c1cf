"""What is written at a fact: its verdict, the quotes with their sources, and what was decided."""

from __future__ import annotations

from propcite.attribution.citations import CitedProposition, Evidence
from propcite.attribution.formats.reviewed.decisions import Choice, Decision
from propcite.attribution.formats.text import one_line
from propcite.attribution.formats.wording import (
    SIGNS,
    copies_line,
    label_of,
    nearest_line,
    place_of,
    reason_of,
    title_of,
)

_SAID = {Choice.ACCEPTED: "Accepted", Choice.CHANGED: "To be changed", Choice.REJECTED: "Rejected"}


def remark_lines(cited: CitedProposition, decision: Decision | None = None) -> list[str]:
    """Return the verdict with its reason, each quote with its source, and the decision, a line each.

    >>> from propcite import PropCite
    >>> answer = PropCite.default().cite("It is 7 metres high.", [{"title": "Note", "text": "It is 6.4 metres high."}])
    >>> remark_lines(answer.facts[0])[1:]
    ['The nearest source says otherwise: “It is 6.4 metres high.” (Note)']
    """
    if cited.citations:
        sources = [f"[{c.number}] {quote_line(c.evidence)}" for c in cited.citations]
    else:
        near = f": {quote_line(cited.nearest)}" if cited.nearest else "."
        sources = [nearest_line(cited) + near]
    return [verdict_line(cited), *sources, *([decision_line(decision)] if decision else [])]


def verdict_line(cited: CitedProposition) -> str:
    """Say the verdict, how likely support is, and what differs."""
    sign, words = SIGNS[label_of(cited)]
    if cited.verdict is None:
        return f"{sign} {words[:1].upper()}{words[1:]}"
    likely = f" (probability of support {cited.verdict.probability:.0%})"
    why = reason_of(cited.verdict, of_text=True)
    reason = f": {one_line(why)}" if why else ""
    return f"{sign} {words[:1].upper()}{words[1:]}{likely}{reason}"


def quote_line(evidence: Evidence) -> str:
    """Return a quote with the document and the place that it is from."""
    about = filter(None, [title_of(evidence.passage), place_of(evidence), copies_line(evidence)])
    return f"“{one_line(evidence.quote)}” ({one_line(', '.join(about))})"


def decision_line(decision: Decision) -> str:
    """Say what was decided, by whom and when.

    >>> decision_line(Decision("1f2e", Choice.CHANGED, words="It opens on 14 May.", note="see the minutes", by="ada"))
    'To be changed by ada to: “It opens on 14 May.” Note: see the minutes'
    """
    by = f" by {one_line(decision.by)}" if decision.by else ""
    at = f" on {decision.at:%d %B %Y}".replace(" 0", " ") if decision.at else ""
    words = f" to: “{one_line(decision.words)}”" if decision.choice is Choice.CHANGED else ""
    note = f"{'' if words else '.'} Note: {one_line(decision.note)}" if decision.note else ""
    return f"{_SAID[decision.choice]}{by}{at}{words}{note}"
