"""What the page says in plain words: facts and how they stand, and the places of their sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PureWindowsPath
from typing import NamedTuple

from propcite.app.library.store import Opinion
from propcite.attribution.citations import CitedAnswer, CitedProposition, Evidence
from propcite.attribution.citing.repaired import MarkerCheck, MarkerState
from propcite.attribution.formats.cited_documents import Documents
from propcite.attribution.formats.wording import ELSEWHERE, SIGNS, label_of, location_of
from propcite.attribution.formats.wording import coverage_line as coverage_line  # the page says it too
from propcite.attribution.formats.wording import notices as notices
from propcite.retrieval.text import Passage, Span

Sources = Mapping[str, str]  # a document's id -> where it came from; documents that are gone are missing


class Fact(NamedTuple):
    """A proposition that needs support, with its place among the answer's propositions."""

    number: int
    cited: CitedProposition


def facts(answer: CitedAnswer) -> list[Fact]:
    return [Fact(i, p) for i, p in enumerate(answer.propositions) if p.proposition.check_worthy]


def evidence_of(cited: CitedProposition) -> list[Evidence]:
    """What is shown for a fact: its citations, or what came nearest."""
    return [c.evidence for c in cited.citations] or ([cited.nearest] if cited.nearest else [])


def fact_line(cited: CitedProposition) -> str:
    """A fact in one line of plain text, for a list to choose from."""
    return f"{SIGNS[label_of(cited)][0]} {' '.join(cited.proposition.text.split())}"


NEITHER = "There is no other sentence that comes near."


def opinion_words(opinion: Opinion, *, cited: bool) -> str:
    """What a click says.

    >>> opinion_words(Opinion.WRONG, cited=False), opinion_words(Opinion.TOO_BROAD, cited=True)
    ('No, something does', 'Too broad')
    """
    if cited:
        return {Opinion.TOO_BROAD: "Too broad", Opinion.BETTER: "A better one is here"}.get(
            opinion, opinion.value.capitalize()
        )
    said = {Opinion.RIGHT: "Yes, nothing does", Opinion.WRONG: "No, something does", Opinion.BETTER: "It is here"}
    return said[opinion]


def written_by(answer: CitedAnswer) -> str:
    """What wrote the answer; empty for a text that was given.

    >>> written_by(CitedAnswer("It is.", models={"generator": "extractive"}))
    'written by extractive'
    """
    return f"written by {answer.models['generator']}" if "generator" in answer.models else ""


def counted(number: int, thing: str) -> str:
    """
    >>> counted(1, "fact"), counted(2, "fact")
    ('1 fact', '2 facts')
    """
    return f"{number:,} {thing}{'s' * (number != 1)}"


def evidence_line(evidence: Evidence, sources: Sources) -> str:
    """The file and the pages of some evidence, and whether the writer of the answer had it."""
    place = place_line(evidence.passage, [evidence.span], sources)
    return place if evidence.shown else f"{place} · {ELSEWHERE}"


def reference(evidence: Evidence, sources: Sources) -> str:
    """The words as one takes them along: in quotes, with where they stand."""
    title, *_ = evidence.passage.title.split(" › ")
    quote = " ".join(evidence.quote.split())
    return f"“{quote}” ({', '.join(filter(None, [title, place_line(evidence.passage, [evidence.span], sources)]))})"


def place_line(passage: Passage, spans: Sequence[Span], sources: Sources) -> str:
    """The file, and where in it these spans stand."""
    source = sources.get(passage.document_id)
    gone = "no longer in the library" if passage.document_id else "given with the text"
    places = [file_name(source) if source else gone]
    return " · ".join(filter(None, [*places, location_of(passage, spans)]))


def sources_told(documents: Documents) -> Sources:
    """Where documents came from; of one that has gone, what became of it.

    >>> sources_told({"a": CitedDocument("a", "Tides", "/srv/tides.pdf", "source removed")})
    {'a': 'tides.pdf · source removed'}
    """
    return {
        i: " · ".join(
            filter(None, [file_name(document.source) if document.status else document.source, document.status])
        )
        for i, document in documents.items()
        if document.source
    }


MARKERS = {
    MarkerState.KEPT: ("✓", "right"),
    MarkerState.DROPPED: ("✗", "wrong, taken out"),
    MarkerState.UNKNOWN: ("✗", "there is no such passage"),
    MarkerState.ADDED: ("+", "was missing"),
}


def check_line(check: MarkerCheck, text: str) -> str:
    """What became of one marker, in plain text."""
    sign, words = MARKERS[check.state]
    reason = check.verdict.reason if check.verdict and check.state is MarkerState.DROPPED else ""
    claim = " ".join(check.sentence.of(text).split())
    return f"{sign} [{check.number}] {words}: {claim}" + (f" ({reason})" if reason else "")


def file_name(source: str) -> str:
    """The last part of a path, whichever system wrote it.

    >>> file_name("/srv/papers/tides.pdf"), file_name("C:\\\\papers\\\\tides.pdf"), file_name("tides.pdf")
    ('tides.pdf', 'tides.pdf', 'tides.pdf')
    """
    return PureWindowsPath(source).name or source
