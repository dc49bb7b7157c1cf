"""Find a fact of an answer, or one of its citations, by number, marker or id."""

from __future__ import annotations

from propcite.attribution.citations import Citation, CitedAnswer, CitedProposition
from propcite.attribution.errors import NotInAnswerError


def fact_of(answer: CitedAnswer, name: str | int) -> CitedProposition:
    """Find a fact by its number, counted from 1, or by its id."""
    for number, fact in enumerate(answer.facts, start=1):
        if str(name) in (str(number), fact.id):
            return fact
    raise NotInAnswerError(
        f"no fact {str(name)[:40]!r} in answer {answer.id}: it has {len(answer.facts)}, counted from 1"
    )


def citation_of(fact: CitedProposition, name: str | int = "") -> Citation | None:
    """Find a fact's citation by marker or id.  `name` may be empty if there is only one; None if there are none."""
    if not name and len(fact.citations) < 2:
        return next(iter(fact.citations), None)
    for citation in fact.citations:
        if str(name) in (citation.id, str(citation.number)):
            return citation
    markers = ", ".join(f"[{c.number}]" for c in fact.citations) or "none"
    raise NotInAnswerError(f"the fact has the citations {markers}: name one of them")
