"""Write a cited answer as a Word document whose markers link to the sources with their quotes."""

from __future__ import annotations

import io
import unicodedata
import zipfile
from typing import Any

import docx
from docx.document import Document
from docx.enum.text import WD_UNDERLINE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Pt, RGBColor
from docx.text.paragraph import Paragraph
from docx.text.run import Run

from propcite.attribution.citations import Citation, CitedAnswer, CitedProposition, Evidence
from propcite.attribution.formats.pieces import CitedPassage, Piece, cited_passages, pieces, split_at
from propcite.attribution.formats.text import one_line, printable
from propcite.attribution.formats.wording import (
    SIGNS,
    copies_line,
    label_of,
    nearest_line,
    notices,
    place_of,
    summary_line,
    title_of,
)

ACCENT, QUIET = RGBColor(0x2F, 0x5F, 0xA5), RGBColor(0x63, 0x64, 0x6A)
EPOCH = (1980, 1, 1, 0, 0, 0)  # the date of every part of the file: the same answer must be the same bytes


def to_docx(answer: CitedAnswer) -> bytes:
    document = _blank(one_line(answer.question) or "A cited text")
    if lines := notices(answer):
        document.add_paragraph().add_run(one_line(" ".join(lines))).italic = True
    _answer(document, answer)
    _small(document, summary_line(answer))
    if answer.uncited:
        document.add_heading("Without support", 2)
        for fact in answer.uncited:
            _unsupported(document, fact)
    if cited := cited_passages(answer):
        document.add_heading("Sources", 2)
        for source in cited:
            _source(document, source)
    origin = [f"{kind} {name}" for kind, name in answer.models.items()]
    origin += [f"index {answer.index_version}"] if answer.index_version else []
    _small(document, " · ".join([f"PropCite, answer {answer.id}", *origin]))
    return _bytes(document)


def _blank(title: str) -> Document:
    document: Document = docx.Document()
    for name, size in (("Normal", 11), ("Title", 20), ("Heading 2", 13)):
        style: Any = document.styles[name]
        style.font.name, style.font.size = "Calibri", Pt(size)
        fonts = style.element.rPr.rFonts.attrib
        for theme in [name for name in fonts if name.lower().endswith("theme")]:
            del fonts[theme]  # a theme's font would take precedence
        style.font.color.rgb = None if name == "Normal" else RGBColor(0x26, 0x27, 0x2B)
    core = document.core_properties
    core.title, core.author, core.comments = title, "PropCite", ""
    for element in [e for e in core._element if e.tag.endswith(("}created", "}modified"))]:
        core._element.remove(element)
    _set_direction(document.add_heading(title, 0), title)
    return document


# Answer


def _answer(document: Document, answer: CitedAnswer) -> None:
    """Add a paragraph per line; uncited words have a dotted underline, and their verdict follows them."""
    lines, uncited = [document.add_paragraph()], answer.uncited_spans
    for piece in pieces(answer):
        for span, (is_uncited,) in split_at(piece.span, uncited):
            first, *rest = printable(span.of(answer.text)).replace("\r\n", "\n").replace("\r", "\n").split("\n")
            _words(lines[-1], first, is_uncited)
            for line in rest:
                lines.append(_below(lines[-1]))
                _words(lines[-1], line, is_uncited)
        _marks(lines[-1], piece)
    for paragraph in lines:
        _set_direction(paragraph, paragraph.text)
    if len(lines) > 1 and not lines[-1].text:
        document.element.body.remove(lines[-1]._p)  # the answer ends with a line break


def _below(paragraph: Paragraph) -> Paragraph:
    """Add a paragraph below another one: to add one to a document looks through all that it has."""
    element = OxmlElement("w:p")
    paragraph._p.addnext(element)
    return Paragraph(element, paragraph._parent)


def _marks(paragraph: Paragraph, piece: Piece) -> None:
    for citation in piece.markers:
        _marker(paragraph, citation)
    for cited in piece.unsupported:
        _quiet(paragraph.add_run(f" ({' '.join(SIGNS[label_of(cited)])})"))


def _words(paragraph: Paragraph, words: str, is_uncited: bool) -> None:
    if words:
        run = paragraph.add_run(words)
        if is_uncited:
            run.font.underline = WD_UNDERLINE.DOTTED


def _marker(paragraph: Paragraph, citation: Citation) -> None:
    """Add a superscript number that links to its source."""
    link = OxmlElement("w:hyperlink")
    link.set(qn("w:anchor"), f"source{citation.number}")
    run = paragraph.add_run(f"[{citation.number}]")
    run.font.superscript, run.font.color.rgb = True, ACCENT
    link.append(run._r)
    paragraph._p.append(link)


# Facts and sources


def _unsupported(document: Document, cited: CitedProposition) -> None:
    sign, words = SIGNS[label_of(cited)]
    paragraph = document.add_paragraph()
    paragraph.paragraph_format.keep_together = True
    paragraph.add_run(f"{sign} {one_line(cited.proposition.text)}").bold = True
    reason = f": {one_line(cited.verdict.reason)}" if cited.verdict and cited.verdict.reason else ""
    paragraph.add_run(f"\n{words[:1].upper()}{words[1:]}{reason}.")
    if cited.nearest is None:
        _quiet(paragraph.add_run(f"\n{nearest_line(cited)}."))
        return
    _quiet(paragraph.add_run(f"\n{nearest_line(cited)}: {one_line(title_of(cited.nearest.passage))}"))
    _quote(paragraph, cited.nearest)


def _source(document: Document, source: CitedPassage) -> None:
    paragraph = document.add_paragraph()
    paragraph.paragraph_format.keep_together = True
    _bookmark(paragraph, source.number)
    number = paragraph.add_run(f"[{source.number}] ")
    number.bold, number.font.color.rgb = True, ACCENT
    paragraph.add_run(one_line(title_of(source.passage))).bold = True
    for citation in source.citations:
        _quote(paragraph, citation.evidence)
    _set_direction(paragraph, title_of(source.passage))


def _quote(paragraph: Paragraph, evidence: Evidence) -> None:
    paragraph.add_run("\n")
    paragraph.add_run(f"“{one_line(evidence.quote)}”").italic = True
    if place := "; ".join(filter(None, [place_of(evidence), copies_line(evidence)])):
        _quiet(paragraph.add_run(f" ({one_line(place)})"))


def _bookmark(paragraph: Paragraph, number: int) -> None:
    start, end = OxmlElement("w:bookmarkStart"), OxmlElement("w:bookmarkEnd")
    for mark in (start, end):
        mark.set(qn("w:id"), str(number))
        paragraph._p.append(mark)
    start.set(qn("w:name"), f"source{number}")


def _small(document: Document, text: str) -> None:
    _quiet(document.add_paragraph().add_run(one_line(text)))


def _quiet(run: Run) -> None:
    run.font.size, run.font.color.rgb = Pt(9.5), QUIET


def _set_direction(paragraph: Paragraph, text: str) -> None:
    """Set a paragraph from right to left if its first letter is of such a script."""
    strong = next((d for d in map(unicodedata.bidirectional, text) if d in ("L", "R", "AL")), "L")
    if strong != "L":
        paragraph._p.get_or_add_pPr().append(OxmlElement("w:bidi"))


def _bytes(document: Document) -> bytes:
    saved, fixed = io.BytesIO(), io.BytesIO()
    document.save(saved)
    with zipfile.ZipFile(saved) as source, zipfile.ZipFile(fixed, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            target.writestr(zipfile.ZipInfo(name, EPOCH), source.read(name), zipfile.ZIP_DEFLATED)
    return fixed.getvalue()
