"""An article that several programs print to PDF, and the text that must be read from those PDFs."""

from __future__ import annotations

PLACES = (
    "Alder Quay", "Sandwick", "Heron Bridge", "Lantern Point", "Weaver's Lock", "the old customs house", "Millrace",
    "Saint Ebba's", "the northern breakwater", "Tollgate", "Ropewalk", "the fish market",
)  # fmt: skip
TITLE = "Measurements of the tide"
HEADINGS = ("What was measured", "How it was measured", "What follows from it")
ABSTRACT = (
    "This report gathers twelve years of observations, some of them extraordinarily incomplete, at twelve places."
)
SENTENCES = tuple(
    f"In the year {2003 + number} the gauge at {PLACES[number % 12]} stood at {140 + 7 * number} centimetres, "
    f"{words} than the administration had anticipated, and {number + 3} measurements were repeated afterwards."
    for number, words in enumerate(
        ("considerably higher", "only insignificantly lower", "unquestionably more", "disproportionately less") * 9
    )
)


def sections() -> list[tuple[str, list[list[str]]]]:
    """Return each heading with its paragraphs, as lists of sentences."""
    each = len(SENTENCES) // len(HEADINGS)
    return [
        (heading, [list(batch) for batch in _batched(SENTENCES[each * place : each * (place + 1)], 4)])
        for place, heading in enumerate(HEADINGS)
    ]


def page(columns: int) -> str:
    """Return the HTML to print: justified, with words hyphenated at line ends."""
    body = "".join(
        f"<h2>{heading}</h2>" + "".join(f"<p>{' '.join(paragraph)}</p>" for paragraph in paragraphs)
        for heading, paragraphs in sections()
    )
    style = "@page { size: A4; margin: 22mm } body { font: 10.5pt/1.35 serif } "
    style += f"div {{ column-count: {columns}; column-gap: 8mm; text-align: justify; hyphens: auto }}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{TITLE}</title>'
        f"<style>{style}</style></head><body><h1>{TITLE}</h1><p>{ABSTRACT}</p><div>{body}</div></body></html>"
    )


def _batched(sentences: tuple[str, ...], size: int) -> list[tuple[str, ...]]:
    return [sentences[first : first + size] for first in range(0, len(sentences), size)]
