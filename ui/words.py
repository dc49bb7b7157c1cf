"""Wording of the page: facts with their verdicts, and where their sources are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from propcite.app.ingest.names import file_name
from propcite.app.library.store import Opinion
from propcite.attribution.citations import CitedAnswer, CitedProposition, Evidence, Label, Verdict
from propcite.attribution.citing.repaired import MarkerCheck, MarkerState
from propcite.attribution.formats.cited_documents import Documents
from propcite.attribution.formats.pieces import cited_passages, pieces
from propcite.attribution.formats.wording import SIGNS, counts_line, label_of, location_of, trust_line
from propcite.attribution.formats.wording import notices as notices
from propcite.retrieval.text import Granularity, Passage, Span

Sources = Mapping[str, str]  # a document's id to its source; removed documents are missing


class Fact(NamedTuple):
    """A proposition that needs support, with its index among the answer's propositions."""

    number: int
    cited: CitedProposition


def facts(answer: CitedAnswer) -> list[Fact]:
    return [Fact(i, p) for i, p in enumerate(answer.propositions) if p.proposition.check_worthy]


def evidence_of(cited: CitedProposition) -> list[Evidence]:
    """Return what is shown for a fact: its citations, or the nearest miss."""
    return [c.evidence for c in cited.citations] or ([cited.nearest] if cited.nearest else [])


def fact_line(cited: CitedProposition) -> str:
    """Return a fact as one line of plain text, for a list."""
    return f"{SIGNS[label_of(cited)][0]} {' '.join(cited.proposition.text.split())}"


# Formats of answers that people read, with what they are called on the page.
FILES = {
    "html": "**Web page** · to read and to print",
    "pdf": "**PDF** · the same, printed",
    "docx": "**Word**",
    "markdown": "**Markdown** · text with footnotes",
    "csv": "**Table (CSV)** · a row for each quote, and for each statement without one",
    "bibtex": "**BibTeX** · the cited documents, for LaTeX",
}
UNITS = {Granularity.PASSAGE: "passage", Granularity.SENTENCE: "sentence", Granularity.PROPOSITION: "statement"}
NOT_READ = "found by the check: the answer was written without it"
NEITHER = "No other sentence is near."


def opinion_words(opinion: Opinion, *, cited: bool) -> str:
    """Return the label of a choice.

    >>> opinion_words(Opinion.WRONG, cited=False), opinion_words(Opinion.TOO_BROAD, cited=True)
    ('No, something does', 'Too broad')
    """
    if cited:
        return {Opinion.TOO_BROAD: "Too broad", Opinion.BETTER: "A better one is here"}.get(
            opinion, opinion.value.capitalize()
        )
    labels = {Opinion.RIGHT: "Yes, nothing does", Opinion.WRONG: "No, something does", Opinion.BETTER: "It is here"}
    return labels[opinion]


def sure_line(verdict: Verdict) -> str:
    """Say how sure a verdict is; empty where nothing was checked.

    >>> sure_line(Verdict(Label.SUPPORTED, 0.94)), sure_line(Verdict(Label.UNSUPPORTED, 0.03))
    ('94% sure', '97% sure')
    """
    if verdict.label is Label.UNCHECKED:
        return ""
    is_for = verdict.label is Label.SUPPORTED
    return f"{percent(verdict.probability if is_for else 1 - verdict.probability)} sure"


def other_documents_line(named: Sequence[str], cited: Sequence[str]) -> str:
    """Say that a question names documents that its answer does not cite.

    >>> other_documents_line(["Annual report 2023"], ["Annual report 2022"])
    'The question names “Annual report 2023”, but this answer cites “Annual report 2022”.'
    """
    first, second = (" and ".join(f"“{title}”" for title in titles[:3]) for titles in (named, cited))
    return f"The question names {first}, but this answer cites {second}."


def support_line(answer: CitedAnswer) -> str:
    """Say how many statements have a source, how many one contradicts, and how often "supported" is right, if known."""
    said = f"statement{'s' * (len(answer.facts) != 1)} supported by a source"
    counts = counts_line(answer, said) or "Nothing here needs a source"
    return " · ".join(filter(None, [counts, short_trust(answer)]))


def short_trust(answer: CitedAnswer) -> str:
    """Say how often "supported" is right, without how it was measured; empty where nothing is, or it is not known."""
    return trust_line(answer).partition(" (")[0]


def percent(share: float) -> str:
    """Write a share in percent; never 0% or 100% unless exact.

    >>> percent(0.997), percent(0.001), percent(1.0)
    ('99%', '1%', '100%')
    """
    return f"{100 if share >= 1 else min(99, max(1, round(100 * share)))}%"


def counted(number: int, thing: str) -> str:
    """Write a number with its noun.

    >>> counted(1, "page"), counted(2, "page")
    ('1 page', '2 pages')
    """
    return f"{number:,} {thing}{'s' * (number != 1)}"


def sentence(line: str) -> str:
    """Write a line as a sentence.

    >>> sentence("3 pages have no text"), sentence("the last page was not read")
    ('3 pages have no text.', 'The last page was not read.')
    """
    return f"{line[:1].upper()}{line[1:]}."


def evidence_line(evidence: Evidence, sources: Sources) -> str:
    """Name the file and place of evidence, whether the answer's writer had it, and why its words may differ."""
    place = place_line(evidence.passage, [evidence.span], sources)
    return " · ".join(filter(None, [place, "" if evidence.shown else NOT_READ, evidence.doubt]))


def reference(evidence: Evidence, sources: Sources) -> str:
    """Return the quote with its reference, to copy."""
    title, *_ = evidence.passage.title.split(" › ")
    quote = " ".join(evidence.quote.split())
    return f"“{quote}” ({', '.join(filter(None, [title, place_line(evidence.passage, [evidence.span], sources)]))})"


def copied_text(answer: CitedAnswer, sources: Sources) -> str:
    """Return the answer as plain text to copy: with its markers, what has no support, and its sources below."""
    text = ""
    for piece in pieces(answer):
        notes = "".join(f" [{SIGNS[label_of(cited)][1]}]" for cited in piece.unsupported)
        text += piece.span.of(answer.text) + "".join(f"[{one.number}]" for one in piece.markers) + notes
    cited = [(one.number, citation) for one in cited_passages(answer) for citation in one.citations]
    lines = [f"[{number}] {reference(citation.evidence, sources)}" for number, citation in cited]
    return "\n\n".join(filter(None, [text, "\n".join(lines)]))


def place_line(passage: Passage, spans: Sequence[Span], sources: Sources) -> str:
    """Name the file, and where in it these spans are."""
    source = sources.get(passage.document_id)
    gone = "no longer in the library" if passage.document_id else "given with the text"
    places = [file_name(source) if source else gone]
    return " · ".join(filter(None, [*places, location_of(passage, spans)]))


def sources_of(documents: Documents) -> Sources:
    """Return where documents came from; for a changed or removed one also its status.

    >>> from propcite.attribution.formats.cited_documents import CitedDocument
    >>> sources_of({"a": CitedDocument("a", "Tides", "/srv/tides.pdf", "source removed")})
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
    MarkerState.DROPPED: ("✗", "wrong, removed"),
    MarkerState.UNKNOWN: ("✗", "no such passage"),
    MarkerState.ADDED: ("+", "was missing"),
    MarkerState.UNCHECKED: ("?", "kept as it was"),
}


_GIVING_REASONS = (MarkerState.DROPPED, MarkerState.UNCHECKED)


def check_line(check: MarkerCheck, text: str) -> str:
    """Say what happened to one marker."""
    sign, words = MARKERS[check.state]
    reason = check.verdict.reason if check.verdict and check.state in _GIVING_REASONS else ""
    claim = " ".join(check.sentence.of(text).split())
    return f"{sign} [{check.number}] {words}: {claim}" + (f" ({reason})" if reason else "")
