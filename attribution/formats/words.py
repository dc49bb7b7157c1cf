"""What reports say in plain words: how a fact stands, and where its source is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from propcite.attribution.citations import CitedAnswer, CitedProposition, Evidence, Label
from propcite.retrieval.text import Passage, Span

# A sign and words for each verdict: colour is never the only signal.
SIGNS = {
    Label.SUPPORTED: ("✓", "supported"),
    Label.PARTLY: ("◐", "partly supported"),
    Label.UNSUPPORTED: ("○", "no support found"),
    Label.CONTRADICTED: ("✗", "contradicted"),
}
NEAREST = {
    Label.CONTRADICTED: "The nearest source says otherwise",
    Label.PARTLY: "The nearest source says part of it",
}
NOT_NEAR = "The nearest source does not support it"
NOTHING_NEAR = "Nothing that comes near it was found"
ELSEWHERE = "found elsewhere"  # than in what the answer was written from


def label_of(cited: CitedProposition) -> Label:
    return cited.verdict.label if cited.verdict else Label.UNSUPPORTED


def coverage_line(answer: CitedAnswer) -> str:
    facts = answer.facts
    if not facts:
        return "Nothing here needs support"
    held = sum(bool(fact.citations) for fact in facts)
    line = f"{held} of {len(facts)} {'fact has' if len(facts) == 1 else 'facts have'} support"
    against = sum(label_of(fact) is Label.CONTRADICTED for fact in facts)
    return f"{line} · {against} contradicted" if against else line


def notices(answer: CitedAnswer) -> list[str]:
    """What a reader must know of how the answer was written, in sentences.

    >>> notices(CitedAnswer("It is", incomplete=True, notes=("the server went away",)))
    ['This answer is incomplete.', 'The server went away.']
    """
    first = ["this answer is incomplete"] if answer.incomplete else []
    return [f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in (*first, *answer.notes) if note.strip()]


def title_of(passage: Passage) -> str:
    return passage.title.strip() or passage.document_id.strip() or passage.id.strip() or "untitled"


def pages_line(pages: Sequence[int]) -> str:
    """
    >>> pages_line([]), pages_line([3]), pages_line([3, 4])
    ('', 'page 3', 'pages 3–4')
    """
    if not pages:
        return ""
    return f"page {pages[0]}" if len(pages) == 1 else f"pages {pages[0]}–{pages[-1]}"


def places_line(places: Sequence[str]) -> str:
    """
    >>> places_line(["slide 3"]), places_line(["row 2", "row 3", "row 4"])
    ('slide 3', 'row 2 to row 4')
    """
    return ", ".join(places) if len(places) < 3 else f"{places[0]} to {places[-1]}"


def where(passage: Passage, spans: Iterable[Span]) -> str:
    """Where these characters stand in their source, as a person counts there: its pages, or its named places."""
    spans = list(spans)
    pages = sorted({page for span in spans for page in passage.pages_of(span)})
    places = dict.fromkeys(place for span in sorted(spans) for place in passage.places_of(span))
    return ", ".join(filter(None, [pages_line(pages), places_line(list(places))]))


def place_of(evidence: Evidence) -> str:
    """Where it stands, whether the writer of the answer had it, and what became of it since."""
    elsewhere = "" if evidence.shown else ELSEWHERE
    return ", ".join(filter(None, [where(evidence.passage, [evidence.span]), elsewhere, evidence.gone]))
