"""Build the demo collection's PDFs from pdf_sources/: `python app/demo/make_pdfs.py`.

reportlab is a development dependency, so the PDFs are stored in documents/.  A source begins with `key: value` lines;
after an empty line come `# headings`, paragraphs (one line each), `- bullets` and `| table | rows |`.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_JUSTIFY, TA_LEFT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import registerFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

HERE = Path(__file__).parent
SOURCES = HERE / "pdf_sources"
DOCUMENTS = HERE / "documents"

# (regular, bold, size).  Only Vera, which is included in reportlab, has the letter Ł.
FONTS = {
    "serif": ("Times-Roman", "Times-Bold", 12.5),
    "sans": ("Helvetica", "Helvetica-Bold", 11.0),
    "vera": ("Vera", "VeraBd", 10.5),
}
INK, GREY = HexColor(0x1F3044), HexColor(0x66727F)
SOFT_HYPHEN = "\u00ad"
MARGIN = 28 * mm
PADDING = 6.0  # points between the margin and the text in reportlab's frame


@dataclass(frozen=True)
class Source:
    """The source of a PDF: the fields above the first empty line, and the lines below it."""

    meta: dict[str, str]
    lines: list[str]

    @classmethod
    def read(cls, path: Path) -> Source:
        head, _, body = path.read_text(encoding="utf-8").partition("\n\n")
        meta = dict(line.split(": ", 1) for line in head.splitlines())
        return cls(meta, [line for line in body.splitlines() if line.strip()])


def hyphenate(text: str, breaks: dict[str, str]) -> str:
    """Put soft hyphens into words at the given breaks.  {"pier": "pi-er"}: "Pier" -> "Pi\u00ader"."""

    def word(match: re.Match[str]) -> str:
        letters = iter(match[0])
        pattern = breaks.get(match[0].lower(), match[0])
        return "".join(SOFT_HYPHEN if mark == "-" else next(letters) for mark in pattern)

    return re.sub(r"[^\W\d_]+", word, text)


def styles(meta: dict[str, str]) -> dict[str, ParagraphStyle]:
    regular, bold, size = FONTS[meta["font"]]
    justified = meta.get("align") == "justify"
    body = ParagraphStyle(
        "body",
        fontName=regular,
        fontSize=size,
        leading=size * 1.5,
        spaceAfter=size * 0.7,
        alignment=TA_JUSTIFY if justified else TA_LEFT,
        embeddedHyphenation=1,
    )
    heading = {"fontName": bold, "textColor": INK, "alignment": TA_LEFT}
    return {
        "body": body,
        "cell": ParagraphStyle("cell", body, alignment=TA_LEFT, spaceAfter=0, leading=size * 1.25),
        "bullet": ParagraphStyle("bullet", body, leftIndent=16, bulletIndent=4, spaceAfter=size * 0.3),
        "byline": ParagraphStyle("byline", body, textColor=GREY, alignment=TA_LEFT, spaceAfter=size * 1.6),
        "title": ParagraphStyle("title", body, fontSize=22, leading=27, spaceAfter=8, **heading),
        "heading": ParagraphStyle(
            "heading", body, fontSize=size + 3, spaceBefore=size, spaceAfter=size * 0.4, keepWithNext=1, **heading
        ),
    }


def table(lines: list[str], style: dict[str, ParagraphStyle]) -> Table:
    rows = [[Paragraph(escape(cell.strip()), style["cell"]) for cell in line.strip("| ").split("|")] for line in lines]
    look = [
        ("LINEBELOW", (0, 0), (-1, -1), 0.4, GREY),
        ("LINEBELOW", (0, 0), (-1, 0), 1.2, INK),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
    ]
    return Table(rows, hAlign="LEFT", style=TableStyle(look), spaceBefore=4, spaceAfter=14, repeatRows=1)


def story(source: Source) -> list[Flowable]:
    style = styles(source.meta)
    breaks = {word.replace("-", ""): word for word in source.meta.get("hyphenate", "").split()}
    flow: list[Flowable] = [
        Paragraph(escape(source.meta["title"]), style["title"]),
        Paragraph(escape(source.meta["byline"]), style["byline"]),
    ]
    for kind, group in groupby(source.lines, lambda line: line[0] if line[0] in "#-|" else ""):
        if kind == "|":
            flow.append(table(list(group), style))
            continue
        for line in group:
            if kind == "#":
                flow.append(Paragraph(escape(line.lstrip("# ")), style["heading"]))
            elif kind == "-":
                text = escape(hyphenate(line.removeprefix("- "), breaks))
                flow.append(Paragraph(text, style["bullet"], bulletText="•"))
            else:
                flow.append(Paragraph(escape(hyphenate(line, breaks)), style["body"]))
        if kind == "-":
            flow.append(Spacer(0, 8))
    return flow


def build(path: Path, folder: Path) -> Path:
    """Build one source's PDF, byte for byte the same each time."""
    source = Source.read(path)
    for name in ("Vera", "VeraBd"):
        registerFont(TTFont(name, f"{name}.ttf"))
    regular = FONTS[source.meta["font"]][0]

    def header_and_footer(canvas: Canvas, template: SimpleDocTemplate) -> None:
        canvas.saveState()
        canvas.setFont(regular, 8)
        canvas.setFillColor(GREY)
        left, right, top = MARGIN + PADDING, A4[0] - MARGIN - PADDING, A4[1] - 18 * mm
        canvas.drawString(left, top + 2 * mm, source.meta["header"])
        canvas.line(left, top, right, top)
        canvas.drawCentredString(A4[0] / 2, 14 * mm, f"Page {template.page}")
        canvas.restoreState()

    target = folder / f"{path.stem}.pdf"
    template = SimpleDocTemplate(
        str(target),
        pagesize=A4,
        leftMargin=MARGIN,
        rightMargin=MARGIN,
        topMargin=MARGIN,
        bottomMargin=MARGIN,
        title=source.meta["title"],
        author="PropCite project",
        subject="Invented document of the PropCite demo collection",
        creator="app/demo/make_pdfs.py",
        invariant=1,
    )
    template.build(story(source), onFirstPage=header_and_footer, onLaterPages=header_and_footer)
    return target


def build_all(folder: Path = DOCUMENTS) -> list[Path]:
    return [build(path, folder) for path in sorted(SOURCES.glob("*.md"))]


if __name__ == "__main__":
    for pdf in build_all():
        sys.stdout.write(f"{pdf} {pdf.stat().st_size} bytes\n")
