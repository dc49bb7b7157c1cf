"""Render answers, evidence and hits as HTML; all text of people and documents is escaped here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import accumulate, pairwise
from typing import TypedDict

from propcite.attribution.citations import Citation, CitedAnswer, CitedProposition, CitedSentence, Evidence, Label
from propcite.attribution.formats.text import is_address, link_to_words
from propcite.attribution.formats.wording import SIGNS, label_of, location_of, nearest_line, reason_of
from propcite.attribution.propositions.nearest_clause import nearest_clause
from propcite.retrieval.text import Hit, Passage, Span
from propcite.ui.sources import Views, open_html, original_html
from propcite.ui.words import (
    Fact,
    Sources,
    copied_text,
    counted,
    evidence_line,
    facts,
    place_line,
    reference,
    short_trust,
    sure_line,
)

NO_VIEWS: Views = {}
STEPS = (
    '<nav class="steps" aria-label="Statements"><button type="button" class="deed" data-step="-1"'
    ' aria-label="Previous statement" title="Previous statement (k)">‹</button>'
    '<button type="button" class="deed" data-step="1" aria-label="Next statement" title="Next statement (j)">›</button>'
    "</nav>"
)
_STOPS = re.compile(r"[^\w\s]*")


class AnswerPayload(TypedDict):
    """Data of the clickable answer: HTML of the answer, and of the evidence of each fact."""

    id: str
    answer: str
    evidence: dict[str, str]
    selected: int


def payload(answer: CitedAnswer, sources: Sources, selected: int, views: Views = NO_VIEWS) -> AnswerPayload:
    trust, of_text = short_trust(answer), not answer.question
    return {
        "id": answer.id,
        "answer": answer_html(answer) + _copy_html("Copy the answer", copied_text(answer, sources)),
        "evidence": {
            str(number): evidence_html(cited, sources, views, trust, of_text=of_text) for number, cited in facts(answer)
        },
        "selected": selected,
    }


# The answer


def answer_html(answer: CitedAnswer) -> str:
    """Return the answer with clickable facts, and markers and notes where a sentence or fact ends.

    The chosen fact is not marked here, so that choosing another redraws nothing.
    """
    listed = facts(answer)
    inserts = _notes(listed, answer.text)
    firsts = accumulate((len(sentence.propositions) for sentence in answer.sentences), initial=0)
    for sentence, first in zip(answer.sentences, firsts, strict=False):
        inserts.setdefault(sentence.span.end, []).extend(_markers(sentence, first))
    pieces = list(inserts.get(0, []))
    met: set[int] = set()
    spans = {fact.number: fact.cited.proposition.spans for fact in listed}
    for part, active in _cut(answer.text, spans, inserts):
        words = escape(part.of(answer.text))
        pieces.append(_fact_html(words, active, met, listed) if active and words.strip() else words)
        pieces.extend(inserts.get(part.end, []))
        met.update(active)
    return "".join(pieces)


def _cut(text: str, spans: Mapping[int, Sequence[Span]], also: Iterable[int]) -> Iterable[tuple[Span, list[int]]]:
    """Cut a text at all span borders; yield each piece with the numbers of the spans it is in."""
    opens: dict[int, list[int]] = {}
    closes: dict[int, list[int]] = {}
    for number, several in spans.items():
        for span in filter(None, several):
            opens.setdefault(span.start, []).append(number)
            closes.setdefault(span.end, []).append(number)
    active: list[int] = []
    for start, end in pairwise(sorted({0, len(text), *opens, *closes, *also})):
        for number in closes.get(start, []):
            if number in active:
                active.remove(number)
        active += opens.get(start, [])
        yield Span(start, end), sorted(set(active))


def _fact_html(words: str, active: list[int], met: set[int], listed: Sequence[Fact]) -> str:
    cited = {fact.number: bool(fact.cited.citations) for fact in listed}
    classes = ["fact"] if any(cited[i] for i in active) else ["fact", "uncited"]
    tab = "0" if set(active) - met else "-1"  # the keyboard reaches a fact in several pieces once
    return (
        f'<span class="{" ".join(classes)}" role="button" tabindex="{tab}"'
        f' aria-pressed="false" data-facts="{_numbers(active)}">{words}</span>'
    )


def _notes(listed: Sequence[Fact], text: str) -> dict[int, list[str]]:
    """Return a note on the verdict after each fact without citations, by place."""
    notes: dict[int, list[str]] = {}
    for number, cited in listed:
        if not cited.citations and cited.proposition.spans:
            end = _after_stops(text, max(span.end for span in cited.proposition.spans))
            label = label_of(cited)
            sign, words = SIGNS[label]
            notes.setdefault(end, []).append(
                f'<span class="joined"><button type="button" class="note {label.value}" data-facts="{number}">'
                f'<span class="sign" aria-hidden="true">{sign}</span> {words}</button></span>'
            )
    return notes


def _after_stops(text: str, place: int) -> int:
    """Return the place after the punctuation that follows."""
    stops = _STOPS.match(text, place)
    return stops.end() if stops else place


def _markers(sentence: CitedSentence, first: int) -> list[str]:
    return [_marker(citation, sentence, first) for citation in sentence.citations]


def _marker(citation: Citation, sentence: CitedSentence, first: int) -> str:
    using = [
        first + i
        for i, cited in enumerate(sentence.propositions)
        if cited.proposition.check_worthy and any(c.number == citation.number for c in cited.citations)
    ]
    title = escape(citation.passage.title or "untitled")
    return (
        f'<span class="joined"><button type="button" class="marker" data-facts="{_numbers(using)}"'
        f' aria-label="Citation {citation.number}: {title}">[{citation.number}]</button></span>'
    )


def _numbers(values: Iterable[int]) -> str:
    return " ".join(map(str, values))


# The evidence


def evidence_html(
    cited: CitedProposition, sources: Sources, views: Views = NO_VIEWS, trust: str = "", *, of_text: bool = False
) -> str:
    """Return the evidence of one fact: its verdict and how often such verdicts are right, its text, its passages."""
    shown = [
        source_html(c.evidence, sources, views, number=c.number, is_open=place == 0, claim=cited.proposition.text)
        for place, c in enumerate(cited.citations)
    ]
    if not shown and cited.nearest is not None:
        nearest = source_html(cited.nearest, sources, views, is_open=False)
        shown = [f'<p class="nearest">{nearest_line(cited)}</p>{nearest}']
    reason = reason_of(cited.verdict, of_text=of_text)
    return (
        f'<header>{badge_html(cited, trust)}{STEPS}</header><p class="claim">{escape(cited.proposition.text)}</p>'
        + (f'<p class="reason">{escape(reason[:1].upper() + reason[1:])}.</p>' if reason else "")
        + ("".join(shown) or f'<p class="nearest">{nearest_line(cited)}.</p>')
    )


def badge_html(cited: CitedProposition, trust: str = "") -> str:
    """Return the verdict on a fact with how sure it is; `trust` says how often such verdicts are right."""
    sure = ""
    if cited.verdict and (cited.citations or cited.nearest):
        line = " · ".join(filter(None, [sure_line(cited.verdict), trust if cited.citations else ""]))
        sure = f'<span class="sure">{escape(line)}</span>' if line else ""
    return badge(label_of(cited)) + sure


def badge(label: Label) -> str:
    """Return a verdict as a sign and words in its colour."""
    sign, words = SIGNS[label]
    return (
        f'<span class="badge {label.value}"><span class="sign" aria-hidden="true">{sign}</span>'
        f" {words[:1].upper()}{words[1:]}</span>"
    )


def source_html(
    evidence: Evidence,
    sources: Sources,
    views: Views = NO_VIEWS,
    *,
    number: int | None = None,
    is_open: bool = True,
    claim: str = "",
) -> str:
    """Return a passage with the words that support, or nearly support, a fact."""
    kind = "source" if number is not None else "source near"
    stated = [span.shifted(evidence.span.start) for span in nearest_clause(claim, evidence.quote)] if claim else []
    marker = f'<span class="number">[{number}]</span> ' if number is not None else ""
    return (
        f'<section class="{kind}"><h3>{marker}{title_html(evidence.passage)}</h3>'
        f"{place_html(evidence_line(evidence, sources), _lead(evidence, sources))}"
        f"{passage_html(evidence.passage, [evidence.span], stated)}"
        f"{_copies_html([(copy.passage, [copy.span]) for copy in evidence.copies], views)}"
        f"{_deeds_html(evidence, sources, views)}"
        f"{original_html(evidence.passage, [evidence.span], views, is_open=is_open)}</section>"
    )


def _copies_html(places: Sequence[tuple[Passage, Sequence[Span]]], views: Views) -> str:
    """Return the other places of the same words, each as a link that opens it; empty where there are none."""
    if not places:
        return ""
    shown = []
    for passage, spans in places:
        title = (passage.title or "Untitled").split(" › ")[0]
        name = ", ".join(filter(None, [title, location_of(passage, spans)]))
        shown.append(open_html(passage, spans, views, name) or escape(name))
    number = len({passage.document_id or passage.id for passage, _ in places})
    counts = counted(number, "document") if number == len(places) else counted(len(places), "place")
    return f'<p class="place copies">Also in {counts}: {" · ".join(shown)}</p>'


def _deeds_html(evidence: Evidence, sources: Sources, views: Views) -> str:
    """Return the actions on a source: copy its words, open its document."""
    opening = open_html(evidence.passage, [evidence.span], views)
    return _copy_html("Copy the quote", reference(evidence, sources), opening)


def _copy_html(label: str, words: str, beside: str = "") -> str:
    button = f'<button type="button" class="deed" data-copy="{escape(words)}">{label}</button>'
    return f'<p class="deeds">{button}{beside}</p>'


def title_html(passage: Passage) -> str:
    """Return the document's title and the path of headings."""
    title, *path = (passage.title or "Untitled").split(" › ")
    return escape(title) + "".join(f' <span class="path">› {escape(heading)}</span>' for heading in path)


def place_html(line: str, lead: str = "") -> str:
    return f'<p class="place">{escape(line)}{lead}</p>'


def _lead(evidence: Evidence, sources: Sources) -> str:
    """Return a link to the words on the web; empty for other sources."""
    source = sources.get(evidence.passage.document_id, "")
    if not is_address(source):
        return ""
    address = escape(link_to_words(source, evidence.quote))
    return f' · <a href="{address}" target="_blank" rel="noopener noreferrer">open it there</a>'


def passage_html(passage: Passage, spans: Sequence[Span], stated: Sequence[Span] = ()) -> str:
    """Return the trimmed passage with these spans marked and others underlined."""
    text = passage.text
    headings = {-1: [s.span.trimmed(text) for s in passage.sentences if s.is_heading]}
    pieces, is_marked = [], False
    for part, active in _cut(text, {0: spans, 1: stated, **headings}, ()):
        words = escape(part.of(text))
        for number, kind in ((-1, "heading"), (1, "stated")):
            words = f'<span class="{kind}">{words}</span>' if number in active else words
        if is_marked is not (0 in active):
            pieces.append("</mark>" if is_marked else '<mark class="cited">')
            is_marked = not is_marked
        pieces.append(words)
    return f'<blockquote class="passage">{"".join(pieces).strip()}{"</mark>" if is_marked else ""}</blockquote>'


# Hits of a search


def hits_html(hits: Sequence[Hit], sources: Sources, views: Views = NO_VIEWS) -> str:
    return "".join(_hit_html(hit, rank, sources, views) for rank, hit in enumerate(hits, 1))


def _hit_html(hit: Hit, rank: int, sources: Sources, views: Views) -> str:
    whole = hit.spans == (Span(0, len(hit.passage.text)).trimmed(hit.passage.text),)
    opened = open_html(hit.passage, hit.spans, views)
    return (
        f'<section class="source"><h3><span class="number">{rank}</span> {title_html(hit.passage)}</h3>'
        f"{place_html(place_line(hit.passage, hit.spans, sources))}"
        f"{passage_html(hit.passage, () if whole else hit.spans)}"
        f"{_copies_html([(copy.passage, copy.spans) for copy in hit.copies], views)}"
        + (f'<p class="deeds">{opened}</p>' if opened else "")
        + "</section>"
    )
