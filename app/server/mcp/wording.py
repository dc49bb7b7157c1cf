"""Results as text: what a model reads where its client shows it no structured values, and what people read."""

from __future__ import annotations

from collections.abc import Sequence

from propcite.app.server.mcp.results import (
    AskResult,
    CheckResult,
    CitedText,
    EvidenceResult,
    ExplainResult,
    Fact,
    Quote,
    SearchResult,
)
from propcite.attribution.citations import Label
from propcite.attribution.formats.wording import SIGNS

CITE_EACH = "Cite each fact that you take from here by its source: title, place and link."
ALL_SUPPORTED = "Every fact is supported."
NO_FACTS = "The text holds no facts that need support."


def search_text(result: SearchResult) -> str:
    """Return the hits, each with what to cite it by."""
    if not result.hits:
        return (
            f"Nothing in {result.collection!r} comes near. Search with other words, or say that the sources hold none."
        )
    hits = [f"{source_line(hit)}\n{indented(hit.context)}" if hit.context else source_line(hit) for hit in result.hits]
    return "\n\n".join([*hits, *result.notes, CITE_EACH])


def check_text(result: CheckResult) -> str:
    """Return the verdict on each fact, and what to do about those without support."""
    if not result.num_facts:
        return NO_FACTS
    lines = [f"{result.num_supported} of {result.num_facts} facts are supported.", *map(fact_lines, result.facts)]
    if result.to_correct:
        numbers = ", ".join(map(str, result.to_correct))
        lines.append(f"Correct fact {numbers} to what the sources say, or leave it out; then check again.")
    else:
        lines.append(ALL_SUPPORTED)
    return "\n\n".join([*lines, *result.notes])


def cited_text(result: CitedText) -> str:
    """Return the text with its markers, then its sources, then the facts that have none."""
    parts = [result.cited_text]
    if result.sources:
        parts.append("Sources:\n" + "\n".join(map(source_line, result.sources)))
    if bare := [fact for fact in result.facts if not fact.citations]:
        parts += ["Without support; correct these or leave them out:", *map(fact_lines, bare)]
    elif result.facts:
        parts.append(ALL_SUPPORTED)
    return "\n\n".join([*parts, *result.notes])


def ask_text(result: AskResult) -> str:
    missing = [part.question for part in result.parts if part.answered == "no"]
    left = [f"The sources do not answer: {' '.join(missing)}"] if missing and not result.abstained else []
    return "\n\n".join([cited_text(result), *left])


def evidence_text(result: EvidenceResult) -> str:
    if not result.evidence:
        return f"Nothing in {result.collection!r} comes near: {result.claim}"
    lines = []
    for one in result.evidence:
        said = f"{_verdict(one.verdict, one.reason)} ({one.probability:.0%} likely to support it)"
        lines.append(f"{said}\n{indented(source_line(one))}")
    return "\n\n".join([f"Evidence for: {result.claim}", *lines])


def explanation_text(result: ExplainResult) -> str:
    pairs = [f"{pair.word} → {pair.source_word}" for pair in result.words if pair.match == "other"]
    words = [f"Other words of much the same meaning: {', '.join(pairs)}"] if pairs else []
    return "\n\n".join([result.claim, source_line(result.quote), *result.lines, *words])


def fact_lines(fact: Fact) -> str:
    lines = [f"{fact.number}. {_verdict(fact.verdict, fact.reason)}: {fact.text}"]
    lines += [indented(source_line(quote)) for quote in fact.citations]
    if fact.nearest:
        lines.append(indented(f"nearest: {source_line(fact.nearest)}"))
    return "\n".join(lines)


def _verdict(label: str, reason: str) -> str:
    sign, words = SIGNS[Label(label)]
    return f"{sign} {words}" + (f" ({reason})" if reason else "")


def source_line(quote: Quote) -> str:
    """Return a source in one line: its number, title and place, the words, and where they can be opened."""
    number = f"[{quote.number}] " if quote.number else ""
    name = ", ".join(filter(None, [quote.title, quote.place]))
    also = f" (also in {'; '.join(quote.also_in)})" if quote.also_in else ""
    return f"{number}{name}: “{' '.join(quote.words.split())}”{also}" + "".join(f" <{at}>" for at in _opened(quote))


def _opened(quote: Quote) -> Sequence[str]:
    return [at for at in (quote.link, quote.uri) if at]


def indented(text: str) -> str:
    return "\n".join(f"   {line}" for line in text.splitlines())
