"""A cited answer as one HTML file: no script, nothing from elsewhere; every text that was written is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from propcite.attribution.citations import Citation, CitedAnswer, CitedProposition, Evidence
from propcite.attribution.formats.addresses import words_at
from propcite.attribution.formats.page import page, safe
from propcite.attribution.formats.pieces import Piece, Source, parted, pieces, sources
from propcite.attribution.formats.plain import one_line
from propcite.attribution.formats.words import (
    ELSEWHERE,
    NEAREST,
    NOT_NEAR,
    NOTHING_NEAR,
    SIGNS,
    coverage_line,
    label_of,
    notices,
    title_of,
    where,
)
from propcite.retrieval.text import Span


def to_html(answer: CitedAnswer) -> str:
    title = one_line(answer.question) or "A cited text"
    parts = (_header(answer, title), _answer(answer), _facts(answer), _sources(answer), _details(answer))
    return page(title, "".join(parts))


# The answer


def _header(answer: CitedAnswer, title: str) -> str:
    counts: dict[str, int] = {}
    for cited in answer.facts:
        counts[label_of(cited).value] = counts.get(label_of(cited).value, 0) + 1
    shares = "".join(
        f'<span class="{label.value}" style="flex-grow:{counts[label.value]}"></span>'
        for label in SIGNS
        if label.value in counts
    )
    bar = f'<div class="bar" aria-hidden="true">{shares}</div>\n' if shares else ""
    return (
        f'<header>\n<p class="kicker">PropCite</p>\n<h1 dir="auto">{escape(title)}</h1>\n'
        f'{bar}<p class="coverage">{escape(coverage_line(answer))}</p>\n{_notices(answer)}</header>\n'
    )


def _notices(answer: CitedAnswer) -> str:
    told = safe(" ".join(notices(answer)))
    return f'<p class="notice" role="note" dir="auto">{told}</p>\n' if told else ""


def _answer(answer: CitedAnswer) -> str:
    numbers = {cited.id: number for number, cited in enumerate(answer.facts, start=1)}
    uncited = answer.uncited_spans
    text = "".join(_words(piece, answer.text, uncited) + _behind(piece, numbers) for piece in pieces(answer))
    return f'<section class="answer" dir="auto">{text}</section>\n'


def _words(piece: Piece, text: str, uncited: Sequence[Span]) -> str:
    return "".join(
        f'<span class="uncited">{safe(span.of(text))}</span>' if bare else safe(span.of(text))
        for span, (bare,) in parted(piece.span, uncited)
    )


def _behind(piece: Piece, numbers: dict[str, int]) -> str:
    return "".join(map(_marker, piece.markers)) + "".join(_note(cited, numbers[cited.id]) for cited in piece.bare)


def _marker(citation: Citation) -> str:
    title = escape(one_line(title_of(citation.passage)))
    label = f'aria-label="Source {citation.number}: {title}" title="{title}"'
    return (
        f'<sup class="joined"><a class="marker" href="#source-{citation.number}" {label}>[{citation.number}]</a></sup>'
    )


def _note(cited: CitedProposition, number: int) -> str:
    sign, words = SIGNS[label_of(cited)]
    label = label_of(cited).value
    sign = f'<span aria-hidden="true">{sign}</span>'
    return f'<span class="joined"><a class="note {label}" href="#fact-{number}">{sign} {words}</a></span>'


# Its facts


def _facts(answer: CitedAnswer) -> str:
    items = "".join(_fact(cited, number) for number, cited in enumerate(answer.facts, start=1))
    return f'<section class="facts">\n<h2>Facts</h2>\n<ol>\n{items}</ol>\n</section>\n' if items else ""


def _fact(cited: CitedProposition, number: int) -> str:
    """A fact as it reads by itself, how it stands, and the words for it or nearest to it."""
    sign, words = SIGNS[label_of(cited)]
    sure = f'<span class="sure">probability of support {cited.verdict.probability:.0%}</span>' if cited.verdict else ""
    badge = f'<span class="badge {label_of(cited).value}"><span aria-hidden="true">{sign}</span> {words}</span>'
    reason = safe(cited.verdict.reason) if cited.verdict else ""
    said = f'<p class="reason" dir="auto">{reason}</p>\n' if reason else ""
    return (
        f'<li id="fact-{number}" class="fact {label_of(cited).value}">\n<p class="status">{badge}{sure}</p>\n'
        f'<p class="claim" dir="auto">{safe(cited.proposition.text)}</p>\n{said}{_evidence(cited)}</li>\n'
    )


def _evidence(cited: CitedProposition) -> str:
    if cited.citations:
        return "".join(_quote(c.evidence, f'<a href="#source-{c.number}">[{c.number}]</a> ') for c in cited.citations)
    if cited.nearest is None:
        return f'<p class="nearest">{NOTHING_NEAR}.</p>\n'
    return f'<p class="nearest">{NEAREST.get(label_of(cited), NOT_NEAR)}:</p>\n{_quote(cited.nearest, "", "near")}'


def _quote(evidence: Evidence, marker: str, kind: str = "") -> str:
    return (
        f'<figure class="quote {kind}">\n<blockquote dir="auto">{safe(evidence.quote.strip())}</blockquote>\n'
        f"<figcaption>{marker}{_title(evidence)}{_place([evidence])}</figcaption>\n</figure>\n"
    )


# Its sources


def _sources(answer: CitedAnswer) -> str:
    cards = "".join(_card(source, answer) for source in sources(answer))
    return f'<section class="sources">\n<h2>Sources</h2>\n{cards}</section>\n' if cards else ""


def _card(source: Source, answer: CitedAnswer) -> str:
    """A cited passage with the cited words marked, and links to the facts that they support."""
    supported = [
        f'<a href="#fact-{number}">{number}</a>'
        for number, cited in enumerate(answer.facts, start=1)
        if any(c.number == source.number for c in cited.citations)
    ]
    facts = "fact" if len(supported) == 1 else "facts"
    links = f'<p class="supports">Supports {facts} {", ".join(supported)}</p>\n' if supported else ""
    evidence = [citation.evidence for citation in source.citations]
    return (
        f'<article id="source-{source.number}" class="source">\n'
        f'<h3><span class="number">[{source.number}]</span> {_title(evidence[0])}</h3>\n'
        f'<p class="place">{_place(evidence).removeprefix(" · ")}</p>\n{_passage(source)}{links}</article>\n'
    )


def _passage(source: Source) -> str:
    text = source.passage.text
    headings = [sentence.span for sentence in source.passage.sentences if sentence.is_heading]
    words = ""
    for span, (marked, heading) in parted(
        Span(0, len(text)).trimmed(text), [c.span for c in source.citations], headings
    ):
        part = f"<b>{safe(span.of(text))}</b>" if heading else safe(span.of(text))
        words += f"<mark>{part}</mark>" if marked else part
    return f'<blockquote class="passage" dir="auto">{words}</blockquote>\n'


def _title(evidence: Evidence) -> str:
    """The document's title, then the path of headings; it leads to the words themselves where these are on the web."""
    title, *path = one_line(title_of(evidence.passage)).split(" › ")
    words = f'<bdi class="title">{escape(title)}' + "".join(f" <i>› {escape(part)}</i>" for part in path) + "</bdi>"
    address = escape(words_at(evidence.address, evidence.quote)) if evidence.address else ""
    return f'<a href="{address}" rel="noreferrer">{words}</a>' if address else words


def _place(several: Iterable[Evidence]) -> str:
    """Where it stands in one passage, what the writer of the answer did not have, and what became of it since."""
    evidence = list(several)
    elsewhere = "" if all(e.shown for e in evidence) else ELSEWHERE
    stands = where(evidence[0].passage, [e.span for e in evidence]) if evidence else ""
    gone = evidence[0].gone if evidence else ""
    return "".join(f" · {escape(part)}" for part in (stands, elsewhere, gone) if part)


# How it was made


def _details(answer: CitedAnswer) -> str:
    rows = {"Answer": answer.id, "Collection": answer.collection, "Index version": answer.index_version}
    rows |= {kind.capitalize(): name for kind, name in answer.models.items()}
    rows |= {f"Time to {kind}": f"{spent:,.0f} ms" for kind, spent in answer.timings_ms.items()}
    listed = "".join(f"<div><dt>{safe(k)}</dt><dd>{safe(v)}</dd></div>\n" for k, v in rows.items() if v)
    return f"<footer>\n<h2>How it was made</h2>\n<dl>\n{listed}</dl>\n</footer>\n"
