"""A cited text as a Word document with a comment at each fact; the text of a Word file stays as it is."""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any

import docx
from docx.comments import Comments
from docx.document import Document
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.text.run import Run

from propcite.attribution.citations import CitedAnswer, CitedProposition
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats.reviewed.decisions import Decisions
from propcite.attribution.formats.reviewed.places import WordPlaces, leveled_lines, places_of_facts, same_words
from propcite.attribution.formats.reviewed.remarks import remark_lines
from propcite.attribution.formats.text import one_line, printable
from propcite.retrieval.interrupting import check_interrupt
from propcite.retrieval.text import Heading, Span

AUTHOR, INITIALS = "PropCite", "PC"
MAX_LEVEL = 9  # of headings in Word
SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_LEFT_OUT = frozenset(qn(tag) for tag in ("w:del", "w:moveFrom"))
_BOXES = frozenset(qn(tag) for tag in ("w:txbxContent", "w:del", "w:moveFrom"))  # Word has no comments in text boxes
_BREAKS = frozenset(qn(tag) for tag in ("w:tab", "w:ptab", "w:br", "w:cr"))

Chosen = Callable[[CitedProposition], bool]


def to_commented_docx(
    answer: CitedAnswer,
    decisions: Decisions,
    original: bytes | None = None,
    headings: tuple[Heading, ...] = (),
    chosen: Chosen = lambda _: True,
) -> bytes:
    """Return a Word document with a comment at each chosen fact: verdict, quotes with sources, decision.

    `original` is the Word file that the text was read from: its words and formats stay, comments are added.  Without
    it the document is made of the text, whose `headings` get the styles of headings.
    """
    document = opened(original) if original else _from_text(answer.text, headings)
    runs = _Runs(document)
    if not runs.text.strip():  # all words are in text boxes and notes, where Word has no comments
        document = _from_text(answer.text, headings)
        runs = _Runs(document)
    last, comments = Span(0, 1), _Comments(document)
    for cited, place in list(places_of_facts(answer, WordPlaces(runs.text))):
        check_interrupt()
        last = place or last
        if chosen(cited):
            decision, said = decisions.get(cited.id), cited.proposition.text
            is_said_there = place is not None and same_words(said, place.of(runs.text))
            about = [] if is_said_there else [f"About “{one_line(said)}”"]
            lines = [*about, *remark_lines(cited, decision)]
            comments.add(runs.of(last), "\n".join(map(printable, lines)), decision.at if decision else None)
    saved = io.BytesIO()
    document.save(saved)
    return saved.getvalue()


def opened(original: bytes) -> Document:
    """Return a Word file's document; AttributionError for one that cannot be written back, as of Strict Open XML."""
    try:
        document: Document = docx.Document(io.BytesIO(original))
        _ = document.comments, document.element.body.xpath("./w:p")
    except Exception as error:  # whatever python-docx says of a file that it does not know
        raise AttributionError(
            "this Word file cannot get comments: save it as a plain .docx and review it again, or take Markdown"
        ) from error
    return document


class _Comments:
    """The comments of a document; each new one gets an id that no other has."""

    def __init__(self, document: Document) -> None:
        self._document, self._all = document, document.comments._comments_elm
        used = set(self._all.xpath("./w:comment/@w:id"))
        self._ids = (number for number in count() if str(number) not in used)

    def add(self, runs: tuple[Any, Any], text: str, at: datetime | None) -> None:
        # python-docx reads all comments for the id of a new one, so each is made where there are no others
        alone: Any = OxmlElement("w:comments")
        made = Comments(alone, self._document.part._comments_part).add_comment(text, AUTHOR, INITIALS)._comment_elm
        made.id = next(self._ids)
        if at:
            made.date = at.astimezone(UTC)
        self._all.append(made)
        first, last = (Run(run, self._document._body) for run in runs)
        first.mark_comment_range(last, made.id)


def _from_text(text: str, headings: tuple[Heading, ...]) -> Document:
    document: Document = docx.Document()
    for level, line in leveled_lines(text, headings):
        words = printable(line.replace("\r", ""))
        if level:
            document.add_heading(words, min(level, MAX_LEVEL))
        elif words.strip():
            document.add_paragraph(words)
    return document


@dataclass(slots=True)
class _Piece:
    """Words of a run, which begin at `start` of all words."""

    start: int
    element: Any  # w:t

    @property
    def end(self) -> int:
        return self.start + len(self.element.text or "")


class _Runs:
    """The words of a document's paragraphs in their runs; runs are split where a comment begins or ends."""

    def __init__(self, document: Document) -> None:
        self._pieces: list[_Piece] = []
        written: list[str] = []
        at = 0
        for paragraph in document.element.body.iter(qn("w:p")):
            if any(ancestor.tag in _BOXES for ancestor in paragraph.iterancestors()):
                continue
            for element in _words(paragraph):
                words = " " if element.tag in _BREAKS else element.text or ""
                if words and element.tag not in _BREAKS:
                    self._pieces.append(_Piece(at, element))
                written.append(words)
                at += len(words)
            written.append("\n")
            at += 1
        self.text = "".join(written)

    def of(self, span: Span) -> tuple[Any, Any]:
        """Return the first and the last run of these words, which have no others."""
        first = self._piece_at(span.start)
        if span.start > self._pieces[first].start:
            first = self._split(first, span.start)
        last = self._piece_at(max(span.end - 1, span.start))
        if span.end < self._pieces[last].end:
            self._split(last, span.end)
        return _run_from(self._pieces[first].element), _run_to(self._pieces[last].element)

    def _piece_at(self, place: int) -> int:
        return max(0, bisect_right(self._pieces, place, key=lambda piece: piece.start) - 1)

    def _split(self, number: int, place: int) -> int:
        """Split a piece, if the place is in it; return the number of the piece that begins there."""
        piece = self._pieces[number]
        if place >= piece.end:
            return min(number + 1, len(self._pieces) - 1)
        words, cut = piece.element.text, place - piece.start
        rest = OxmlElement("w:t")
        piece.element.text, rest.text = words[:cut], words[cut:]
        for element in (piece.element, rest):
            element.set(SPACE, "preserve")
        piece.element.addnext(rest)
        self._pieces.insert(number + 1, _Piece(place, rest))
        return number + 1


def _words(paragraph: Any) -> Iterator[Any]:
    """Yield the text and break elements of a paragraph's runs, without deleted ones."""
    for child in paragraph:
        if child.tag == qn("w:r"):
            yield from (part for part in child if part.tag == qn("w:t") or part.tag in _BREAKS)
        elif child.tag not in _LEFT_OUT and not child.tag.endswith("}pPr"):
            yield from _words(child)


def _run_from(text: Any) -> Any:
    """Return the run that begins with this text: its run is split before it if it has something before."""
    run = text.getparent()
    before = [part for part in text.itersiblings(preceding=True) if part.tag != qn("w:rPr")]
    return _parted(run, text) if before else run


def _run_to(text: Any) -> Any:
    """Return the run that ends with this text: its run is split behind it if it has something behind."""
    following = text.getnext()
    if following is not None:
        _parted(text.getparent(), following)
    return text.getparent()


def _parted(run: Any, first: Any) -> Any:
    """Move what a run has from this part on to a new run of the same format behind it; return that."""
    new = OxmlElement("w:r")
    properties = run.find(qn("w:rPr"))
    if properties is not None:
        new.append(deepcopy(properties))
    for part in [first, *first.itersiblings()]:
        new.append(part)
    run.addnext(new)
    return new
