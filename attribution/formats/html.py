"""Write a cited answer as one HTML file without script or links to load; all text is escaped here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

from propcite.attribution.citations import Citation, CitedAnswer, CitedProposition, Evidence
from propcite.attribution.formats.links import link_to
from propcite.attribution.formats.pieces import CitedPassage, Piece, cited_passages, pieces, split_at
from propcite.attribution.formats.record.section import record_html
from propcite.attribution.formats.record.values import AnswerRecord
from propcite.attribution.formats.text import one_line, safe
from propcite.attribution.formats.wording import (
    ELSEWHERE,
    SIGNS,
    copies_line,
    label_of,
    location_of,
    nearest_line,
    notices,
    summary_line,
    title_of,
)
from propcite.retrieval.text import Span

POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # browsers load and run nothing, whatever a text contains


def to_html(answer: CitedAnswer, record: AnswerRecord | None = None) -> str:
    """Return the report; with a `record` it also says who asked and when, and names the versions of all sources."""
    title = one_line(answer.question) or "A cited text"
    kept = record_html(answer, record) if record else ""
    parts = (_header(answer, title), _answer(answer), _facts(answer), _sources(answer), kept, _details(answer))
    return page(title, "".join(parts))


def page(title: str, body: str, style: str = "") -> str:
    """Return a whole document that follows the reader's light or dark mode.

    `body` is markup; `style` is CSS that comes after the style of all pages.
    """
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<meta name="generator" content="PropCite">\n<title>{escape(title)}</title>\n'
        f"<style>\n{_style()}{style}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )


@cache
def _style() -> str:
    return Path(__file__).with_name("report.css").read_text("utf-8")


# Answer


def _header(answer: CitedAnswer, title: str) -> str:
    counts = Counter(map(label_of, answer.facts))
    shares = "".join(
        f'<span class="{label.value}" style="flex-grow:{counts[label]}"></span>' for label in SIGNS if label in counts
    )
    bar = f'<div class="bar" aria-hidden="true">{shares}</div>\n' if shares else ""
    return (
        f'<header>\n<p class="kicker">PropCite</p>\n<h1 dir="auto">{escape(title)}</h1>\n'
        f'{bar}<p class="coverage">{escape(summary_line(answer))}</p>\n{_notices(answer)}</header>\n'
    )


def _notices(answer: CitedAnswer) -> str:
    text = safe(" ".join(notices(answer)))
    return f'<p class="notice" role="note" dir="auto">{text}</p>\n' if text else ""


def _answer(answer: CitedAnswer) -> str:
    numbers = {cited.id: number for number, cited in enumerate(answer.facts, start=1)}
    uncited = answer.uncited_spans
    text = "".join(_words(piece, answer.text, uncited) + _marks(piece, numbers) for piece in pieces(answer))
    return f'<section class="answer" dir="auto">{text}</section>\n'


def _words(piece: Piece, text: str, uncited: Sequence[Span]) -> str:
    return "".join(
        f'<span class="uncited">{safe(span.of(text))}</span>' if is_uncited else safe(span.of(text))
        for span, (is_uncited,) in split_at(piece.span, uncited)
    )


def _marks(piece: Piece, numbers: dict[str, int]) -> str:
    notes = "".join(_note(cited, numbers[cited.id]) for cited in piece.unsupported)
    return "".join(map(_marker, piece.markers)) + notes


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


# Facts


def _facts(answer: CitedAnswer) -> str:
    items = "".join(_fact(cited, number) for number, cited in enumerate(answer.facts, start=1))
    return f'<section class="facts">\n<h2>Facts</h2>\n<ol>\n{items}</ol>\n</section>\n' if items else ""


def _fact(cited: CitedProposition, number: int) -> str:
    """Return a fact with its verdict and its evidence, or the nearest evidence."""
    sign, words = SIGNS[label_of(cited)]
    support = (
        f'<span class="sure">probability of support {cited.verdict.probability:.0%}</span>' if cited.verdict else ""
    )
    badge = f'<span class="badge {label_of(cited).value}"><span aria-hidden="true">{sign}</span> {words}</span>'
    text = safe(cited.verdict.reason) if cited.verdict else ""
    reason = f'<p class="reason" dir="auto">{text}</p>\n' if text else ""
    return (
        f'<li id="fact-{number}" class="fact {label_of(cited).value}">\n<p class="status">{badge}{support}</p>\n'
        f'<p class="claim" dir="auto">{safe(cited.proposition.text)}</p>\n{reason}{_evidence(cited)}</li>\n'
    )


def _evidence(cited: CitedProposition) -> str:
    if cited.citations:
        return "".join(_quote(c.evidence, f'<a href="#source-{c.number}">[{c.number}]</a> ') for c in cited.citations)
    if cited.nearest is None:
        return f'<p class="nearest">{nearest_line(cited)}.</p>\n'
    return f'<p class="nearest">{nearest_line(cited)}:</p>\n{_quote(cited.nearest, "", "near")}'


def _quote(evidence: Evidence, marker: str, kind: str = "") -> str:
    return (
        f'<figure class="quote {kind}">\n<blockquote dir="auto">{safe(evidence.quote.strip())}</blockquote>\n'
        f"<figcaption>{marker}{_title(evidence)}{_place([evidence])}</figcaption>\n</figure>\n"
    )


# Sources


def _sources(answer: CitedAnswer) -> str:
    cards = "".join(_card(source, answer) for source in cited_passages(answer))
    return f'<section class="sources">\n<h2>Sources</h2>\n{cards}</section>\n' if cards else ""


def _card(source: CitedPassage, answer: CitedAnswer) -> str:
    """Return a cited passage with the cited words marked, and links to the facts that it supports."""
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


def _passage(source: CitedPassage) -> str:
    text = source.passage.text
    quotes = [citation.span for citation in source.citations]
    headings = [sentence.span for sentence in source.passage.sentences if sentence.is_heading]
    words = ""
    for span, (is_quote, is_heading) in split_at(Span(0, len(text)).trimmed(text), quotes, headings):
        part = f"<b>{safe(span.of(text))}</b>" if is_heading else safe(span.of(text))
        words += f"<mark>{part}</mark>" if is_quote else part
    return f'<blockquote class="passage" dir="auto">{words}</blockquote>\n'


def _title(evidence: Evidence) -> str:
    """Return the document's title and the path of headings, as a link to the quote if there is one."""
    title, *path = one_line(title_of(evidence.passage)).split(" › ")
    words = f'<bdi class="title">{escape(title)}' + "".join(f" <i>› {escape(part)}</i>" for part in path) + "</bdi>"
    address = escape(link_to(evidence))
    return f'<a href="{address}" rel="noreferrer">{words}</a>' if address else words


def _place(evidence: Sequence[Evidence]) -> str:
    """Return where evidence from one passage is, with what is known of its document, and other places of its words."""
    elsewhere = "" if all(e.shown for e in evidence) else ELSEWHERE
    location = location_of(evidence[0].passage, [e.span for e in evidence])
    copies = dict.fromkeys(map(copies_line, evidence))
    parts = location, elsewhere, evidence[0].document_status, evidence[0].doubt, *copies
    return "".join(f" · {safe(part)}" for part in parts if part)


# Details


def _details(answer: CitedAnswer) -> str:
    rows = {"Answer": answer.id, "Collection": answer.collection, "Index version": answer.index_version}
    rows |= {kind.replace("_", " ").capitalize(): name for kind, name in answer.models.items()}
    rows |= {f"Time to {kind}": f"{spent:,.0f} ms" for kind, spent in answer.timings_ms.items()}
    listed = "".join(f"<div><dt>{safe(k)}</dt><dd>{safe(v)}</dd></div>\n" for k, v in rows.items() if v)
    return f"<footer>\n<h2>How it was made</h2>\n<dl>\n{listed}</dl>\n</footer>\n"
