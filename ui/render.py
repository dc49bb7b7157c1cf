"""Answers, evidence and hits as HTML text; whatever a person or a document wrote is escaped here and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import accumulate, pairwise
from typing import TypedDict

from propcite.attribution.citations import Citation, CitedAnswer, CitedProposition, CitedSentence, Evidence
from propcite.attribution.events import AnswerDone, Event, SentenceCited, TextDelta
from propcite.attribution.formats.text import is_address, link_to_words
from propcite.attribution.formats.wording import SIGNS, label_of, nearest_line
from propcite.attribution.propositions.nearest_clause import nearest_clause
from propcite.retrieval.text import Hit, Passage, Span
from propcite.ui.sources import Views, open_html, original_html
from propcite.ui.words import Fact, Sources, evidence_line, facts, place_line, reference

NO_VIEWS: Views = {}
STEPS = (
    '<nav class="steps" aria-label="Facts"><button type="button" class="deed" data-step="-1"'
    ' aria-label="Previous fact" title="Previous fact (k)">‹</button>'
    '<button type="button" class="deed" data-step="1" aria-label="Next fact" title="Next fact (j)">›</button></nav>'
)
_STOPS = re.compile(r"[^\w\s]*")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


class AnswerPayload(TypedDict):
    """What the clickable answer is given: HTML of the answer, and of the evidence of each of its facts."""

    id: str
    answer: str
    evidence: dict[str, str]
    selected: int


def payload(answer: CitedAnswer, sources: Sources, selected: int, views: Views = NO_VIEWS) -> AnswerPayload:
    return {
        "id": answer.id,
        "answer": answer_html(answer),
        "evidence": {str(number): evidence_html(cited, sources, views) for number, cited in facts(answer)},
        "selected": selected,
    }


def plain(text: str) -> str:
    """Markdown that shows just this text: for Streamlit's labels and messages, which read Markdown."""
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split()))


# The answer


def growing(events: Iterable[Event]) -> Iterator[str]:
    """An answer while it is written, as Markdown that shows just its text, with the markers of what is cited so far.

    >>> list(growing([TextDelta("It *rained"), TextDelta(" here.")]))
    ['It \\\\*rained', 'It \\\\*rained here\\\\.']
    """
    text, markers = "", {0: ""}
    for event in events:
        match event:
            case TextDelta(more):
                text += more
            case SentenceCited(sentence):
                markers[sentence.span.end] = "".join(f"**\\[{c.number}\\]**" for c in sentence.citations)
            case AnswerDone():
                continue
        yield "".join(
            _lines(text[start:end]) + markers.get(end, "") for start, end in pairwise(sorted({*markers, len(text)}))
        )


def _lines(text: str) -> str:
    """Text as Markdown that shows it, its line breaks too."""
    return "\n\n".join(_PUNCTUATION.sub(r"\\\1", line) for line in text.split("\n"))


def answer_html(answer: CitedAnswer) -> str:
    """The answer's very text; its facts can be chosen, and markers and notes stand where a sentence or a fact ends.

    Which one is chosen is not told here, so that the page need not draw all anew for another.
    """
    known = facts(answer)
    inserts = _notes(known, answer.text)
    firsts = accumulate((len(sentence.propositions) for sentence in answer.sentences), initial=0)
    for sentence, first in zip(answer.sentences, firsts, strict=False):
        inserts.setdefault(sentence.span.end, []).extend(_markers(sentence, first))
    pieces = list(inserts.get(0, []))
    met: set[int] = set()
    spans = {fact.number: fact.cited.proposition.spans for fact in known}
    for part, active in _cut(answer.text, spans, inserts):
        words = escape(part.of(answer.text))
        pieces.append(_fact_html(words, active, met, known) if active and words.strip() else words)
        pieces.extend(inserts.get(part.end, []))
        met.update(active)
    return "".join(pieces)


def _cut(text: str, spans: Mapping[int, Sequence[Span]], also: Iterable[int]) -> Iterable[tuple[Span, list[int]]]:
    """The text in pieces that each lie in the same spans throughout, with the numbers of those spans."""
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


def _fact_html(words: str, active: list[int], met: set[int], known: Sequence[Fact]) -> str:
    cited = {fact.number: bool(fact.cited.citations) for fact in known}
    classes = ["fact"] if any(cited[i] for i in active) else ["fact", "uncited"]
    tab = "0" if set(active) - met else "-1"  # a fact in several pieces is reached once
    return (
        f'<span class="{" ".join(classes)}" role="button" tabindex="{tab}"'
        f' aria-pressed="false" data-facts="{_numbers(active)}">{words}</span>'
    )


def _notes(known: Sequence[Fact], text: str) -> dict[int, list[str]]:
    """Behind each fact without a citation, what became of it."""
    notes: dict[int, list[str]] = {}
    for number, cited in known:
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
    """Behind the full stop, comma or bracket that follows."""
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
        f'<span class="joined"><button type="button" class="marker" data-facts="{_numbers(using)}" title="{title}"'
        f' aria-label="Citation {citation.number}: {title}">[{citation.number}]</button></span>'
    )


def _numbers(values: Iterable[int]) -> str:
    return " ".join(map(str, values))


# The evidence


def evidence_html(cited: CitedProposition, sources: Sources, views: Views = NO_VIEWS) -> str:
    """What was found for one fact: the verdict, the fact as it reads by itself, and the passages it was read in."""
    shown = [
        source_html(c.evidence, sources, views, number=c.number, is_open=place == 0, claim=cited.proposition.text)
        for place, c in enumerate(cited.citations)
    ]
    if not shown and cited.nearest is not None:
        nearest = source_html(cited.nearest, sources, views, is_open=False)
        shown = [f'<p class="nearest">{nearest_line(cited)}</p>{nearest}']
    reason = cited.verdict.reason if cited.verdict else ""
    return (
        f'<header>{badge_html(cited)}{STEPS}</header><p class="claim">{escape(cited.proposition.text)}</p>'
        + (f'<p class="reason">{escape(reason[:1].upper() + reason[1:])}.</p>' if reason else "")
        + ("".join(shown) or '<p class="nearest">The collection holds nothing that comes near it.</p>')
    )


def badge_html(cited: CitedProposition) -> str:
    sign, words = SIGNS[label_of(cited)]
    sure = (
        f'<span class="sure">{cited.verdict.probability:.0%} likely</span>' if cited.citations and cited.verdict else ""
    )
    return (
        f'<span class="badge {label_of(cited).value}"><span class="sign" aria-hidden="true">{sign}</span>'
        f" {words[:1].upper()}{words[1:]}</span>{sure}"
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
    """A passage with the words that support, or nearly support, a fact."""
    kind = "source" if number is not None else "source near"
    stated = [span.shifted(evidence.span.start) for span in nearest_clause(claim, evidence.quote)] if claim else []
    marker = f'<span class="number">[{number}]</span> ' if number is not None else ""
    return (
        f'<section class="{kind}"><h3>{marker}{title_html(evidence.passage)}</h3>'
        f"{_place_html(evidence_line(evidence, sources), _lead(evidence, sources))}"
        f"{passage_html(evidence.passage, [evidence.span], stated)}{_deeds_html(evidence, sources, views)}"
        f"{original_html(evidence.passage, [evidence.span], views, is_open=is_open)}</section>"
    )


def _deeds_html(evidence: Evidence, sources: Sources, views: Views) -> str:
    """What may be done with a source: its words taken along, its document opened."""
    copied = escape(reference(evidence, sources))
    return (
        f'<p class="deeds"><button type="button" class="deed" data-copy="{copied}">Copy the quote</button>'
        f"{open_html(evidence.passage, [evidence.span], views)}</p>"
    )


def title_html(passage: Passage) -> str:
    """The document's title, then the path of headings."""
    title, *path = (passage.title or "Untitled").split(" › ")
    return escape(title) + "".join(f' <span class="path">› {escape(heading)}</span>' for heading in path)


def _place_html(line: str, lead: str = "") -> str:
    return f'<p class="place">{escape(line)}{lead}</p>'


def _lead(evidence: Evidence, sources: Sources) -> str:
    """A way to the very words, where these are on the web."""
    source = sources.get(evidence.passage.document_id, "")
    if not is_address(source):
        return ""
    address = escape(link_to_words(source, evidence.quote))
    return f' · <a href="{address}" target="_blank" rel="noopener noreferrer">open it there</a>'


def passage_html(passage: Passage, spans: Sequence[Span], stated: Sequence[Span] = ()) -> str:
    """The passage's very text, without white space at its ends, with these spans marked, and others underlined."""
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
        f"{_place_html(place_line(hit.passage, hit.spans, sources))}"
        f"{passage_html(hit.passage, () if whole else hit.spans)}"
        + (f'<p class="deeds">{opened}</p>' if opened else "")
        + "</section>"
    )
