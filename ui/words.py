"""What the page says in plain words: facts and how they stand, and the places of their sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PureWindowsPath
from typing import NamedTuple

from attribution.citations import CitedAnswer, CitedProposition, Evidence, Label
from retrieval.text import Passage, Span

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

Sources = Mapping[str, str]  # a document's id -> where it came from; documents that are gone are missing


class Fact(NamedTuple):
    """A proposition that needs support, with its place among the answer's propositions."""

    number: int
    cited: CitedProposition


def facts(answer: CitedAnswer) -> list[Fact]:
    return [Fact(i, p) for i, p in enumerate(answer.propositions) if p.proposition.check_worthy]


def coverage_line(answer: CitedAnswer) -> str:
    needing = facts(answer)
    if not needing:
        return "Nothing here needs support"
    held = sum(bool(fact.cited.citations) for fact in needing)
    line = f"{held} of {len(needing)} {'fact has' if len(needing) == 1 else 'facts have'} support"
    against = sum(label_of(fact.cited) is Label.CONTRADICTED for fact in needing)
    return f"{line} · {against} contradicted" if against else line


def label_of(cited: CitedProposition) -> Label:
    return cited.verdict.label if cited.verdict else Label.UNSUPPORTED


def evidence_of(cited: CitedProposition) -> list[Evidence]:
    """What is shown for a fact: its citations, or what came nearest."""
    return [c.evidence for c in cited.citations] or ([cited.nearest] if cited.nearest else [])


def fact_line(cited: CitedProposition) -> str:
    """A fact in one line of plain text, for a list to choose from."""
    return f"{SIGNS[label_of(cited)][0]} {' '.join(cited.proposition.text.split())}"


def counted(number: int, thing: str) -> str:
    """
    >>> counted(1, "fact"), counted(2, "fact")
    ('1 fact', '2 facts')
    """
    return f"{number:,} {thing}{'s' * (number != 1)}"


def place_line(passage: Passage, spans: Sequence[Span], sources: Sources) -> str:
    """The file and the pages on which these spans stand."""
    pages = sorted({page for span in spans for page in passage.pages_of(span)})
    source = sources.get(passage.document_id)
    places = [file_name(source) if source else "no longer in the library"]
    if pages:
        places.append(f"page {pages[0]}" if len(pages) == 1 else f"pages {pages[0]}–{pages[-1]}")
    return " · ".join(places)


def file_name(source: str) -> str:
    """The last part of a path, whichever system wrote it.

    >>> file_name("/srv/papers/tides.pdf"), file_name("C:\\\\papers\\\\tides.pdf"), file_name("tides.pdf")
    ('tides.pdf', 'tides.pdf', 'tides.pdf')
    """
    return PureWindowsPath(source).name or source
