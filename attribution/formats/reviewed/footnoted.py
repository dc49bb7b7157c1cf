"""A cited text as Markdown with a footnote at each fact; a Markdown source stays as it is around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from propcite.attribution.citations import CitedAnswer, CitedProposition
from propcite.attribution.formats.markdown import escaped, inline, kept_lines
from propcite.attribution.formats.reviewed.decisions import Decisions
from propcite.attribution.formats.reviewed.places import WordPlaces, hull, leveled_lines, places_of_facts
from propcite.attribution.formats.reviewed.remarks import remark_lines
from propcite.attribution.formats.text import printable
from propcite.retrieval.text import Heading, Span

MAX_LEVEL = 6  # of headings in Markdown
_BEHIND = re.compile(r"(?:[*_`~\"”’»)]|\]\([^()\s]*(?:\s\"[^\"]*\")?\)|\]\[[^\]]*\]|\])*[.,;:!?…]*[\"”’»)*_]*")
_FENCED = re.compile(r"^ {0,3}(```+|~~~+).*?(?:^ {0,3}\1[^\n]*(?:\n|\Z)|\Z)", re.MULTILINE | re.DOTALL)

Chosen = Callable[[CitedProposition], bool]


def to_footnoted_markdown(
    answer: CitedAnswer,
    decisions: Decisions,
    source: str = "",
    headings: Sequence[Heading] = (),
    chosen: Chosen = lambda _: True,
) -> str:
    """Return Markdown with a footnote behind each chosen fact: verdict, quotes with sources, decision.

    `source` is the Markdown that the text was read from: it stays, and gets the footnotes.  Without it the text itself
    is written, escaped, and its `headings` as headings.
    """
    numbers = {cited.id: number for number, cited in enumerate(answer.facts, start=1)}
    label = "propcite-fact" if "[^fact-" in source else "fact"
    marks: dict[int, str] = {}
    notes: list[str] = []
    for cited, end in _ends(answer, source):
        if chosen(cited):
            name = f"[^{label}-{numbers[cited.id]}]"
            marks[end] = marks.get(end, "") + name
            notes.append(f"{name}: {_note(cited, decisions)}")
    if source:
        written = _written(source, marks, lambda words: words)
    else:
        written = "\n\n".join(_blocks(printable(answer.text), headings, marks))
    return "\n\n".join(filter(None, [written.rstrip("\n"), "\n".join(notes)])) + "\n"


def _blocks(text: str, headings: Sequence[Heading], marks: Mapping[int, str]) -> Iterator[str]:
    """Yield the headings of a text, and what stands between them, as Markdown with the marks at their places."""
    start = place = 0
    for level, line in [*leveled_lines(text, headings), (1, "")]:
        if level:
            if between := kept_lines(_part(text, start, place, marks)):
                yield between
            start = place + len(line) + 1
            if line.strip():
                yield f"{'#' * min(level, MAX_LEVEL)} {_part(text, place, start - 1, marks).strip()}"
        place += len(line) + 1


def _part(text: str, start: int, end: int, marks: Mapping[int, str]) -> str:
    """Return a part of a text, escaped, with the marks that are behind its words."""
    own = {at - start: mark for at, mark in marks.items() if start < at <= end}
    return _written(text[start:end], own, escaped)


def _ends(answer: CitedAnswer, source: str) -> Iterator[tuple[CitedProposition, int]]:
    """Yield each fact with the place behind it, in the source or in the text."""
    if not source:
        for sentence in answer.sentences:
            for cited in sentence.propositions:
                if cited.proposition.check_worthy:
                    yield cited, _behind(answer.text, hull(cited, sentence).end)
        return
    fenced = [Span(*match.span()) for match in _FENCED.finditer(source)]
    end = 0
    for cited, place in places_of_facts(answer, WordPlaces(source)):
        end = _behind(source, place.end) if place else end
        yield cited, next((fence.end for fence in fenced if fence.start < end < fence.end), end)


def _behind(text: str, end: int) -> int:
    """Return the place behind the markup and the punctuation that close some words.

    >>> _behind("It is **high**. So", 12), _behind("See [it](a.html), and", 7)
    (15, 17)
    """
    match = _BEHIND.match(text, end)
    return match.end() if match else end


def _note(cited: CitedProposition, decisions: Decisions) -> str:
    lines = remark_lines(cited, decisions.get(cited.id))
    return " ".join([inline(cited.proposition.text), "—", *(f"{inline(line.rstrip('.'))}." for line in lines)])


def _written(text: str, marks: Mapping[int, str], write: Callable[[str], str]) -> str:
    """Return the text with marks at their places; words between them go through `write`."""
    written, start = "", 0
    for end in sorted(marks):
        written += write(text[start:end]) + marks[end]
        start = end
    return written + write(text[start:])
