"""Make the real files in this folder with the programs that people use.

    python tests/support/real_files/make.py

It needs soffice (Writer, Calc, Impress), pandoc, chromium, and `pip install python-pptx openpyxl msoffcrypto-tool`.
"""

from __future__ import annotations

import mailbox
import subprocess
import sys
from datetime import date, datetime
from email.message import EmailMessage
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent

REPORT = """---
title: Harbour works
author: Ann Lee
date: 2024-03-01
---

# The barrier

The barrier cost 212 million euros.[^1] It opened in **May** 2024, see [the notice](https://example.org/notice).

- fourteen gates
- two pumps
    - one of them old

1. close the gates
2. start the pumps

## Costs by year

| Country | Year | Share |
|:--------|-----:|------:|
| Spain   | 2020 |   14% |
| Italy   | 2021 |    9% |

# History

Heron Bridge opened in 1931. Café Léon stands beside it — “since 1899”.

[^1]: As audited in 2025.
"""

TEXT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"
 xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"
 xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">
<office:meta><dc:title>Minutes</dc:title><meta:initial-creator>Bo Hart</meta:initial-creator>
<meta:creation-date>2023-05-04T10:00:00</meta:creation-date></office:meta>
<office:master-styles><style:master-page style:name="Standard" style:page-layout-name="P">
<style:header><text:p>Running header</text:p></style:header>
<style:footer><text:p>Running footer</text:p></style:footer>
</style:master-page></office:master-styles>
<office:automatic-styles><style:page-layout style:name="P">
<style:header-style/><style:footer-style/></style:page-layout>
</office:automatic-styles>
<office:body><office:text>
<text:tracked-changes>
<text:changed-region text:id="c1"><text:insertion><office:change-info><dc:creator>Bo</dc:creator>
<dc:date>2023-05-04T10:00:00</dc:date></office:change-info></text:insertion></text:changed-region>
<text:changed-region text:id="c2"><text:deletion><office:change-info><dc:creator>Bo</dc:creator>
<dc:date>2023-05-04T10:00:00</dc:date></office:change-info><text:p>, which was never built</text:p></text:deletion>
</text:changed-region></text:tracked-changes>
<text:h text:outline-level="1">Sitting of May</text:h>
<text:p>The pier<text:change text:change-id="c2"/> opened<text:change-start
 text:change-id="c1"/> in June<text:change-end
 text:change-id="c1"/>.<text:note text:note-class="endnote" text:id="n1"><text:note-citation>i</text:note-citation>
<text:note-body><text:p>Said by the mayor.</text:p></text:note-body></text:note></text:p>
<text:p>Before the box.<draw:frame text:anchor-type="paragraph" svg:width="5cm" svg:height="2cm"><draw:text-box>
<text:p>Words in a box.</text:p></draw:text-box></draw:frame></text:p>
<text:h text:outline-level="2">Votes</text:h>
<table:table table:name="T"><table:table-column table:number-columns-repeated="2"/>
<table:table-row><table:table-cell><text:p>Member</text:p></table:table-cell><table:table-cell><text:p>Votes</text:p>
</table:table-cell></table:table-row>
<table:table-row><table:table-cell><text:p>Hart</text:p></table:table-cell><table:table-cell><text:p>12</text:p>
</table:table-cell></table:table-row></table:table>
<text:p>Closed at nine.</text:p>
</office:text></office:body></office:document>
"""


def main() -> None:
    with TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "report.md").write_text(REPORT)
        for suffix in ("docx", "odt", "epub", "pptx", "rtf"):
            run("pandoc", "-s", work / "report.md", "-o", HERE / f"report-pandoc.{suffix}")
        for suffix in ("docx", "rtf", "epub", "doc"):
            convert(HERE / "report-pandoc.odt", suffix, work, "report")
        (work / "minutes.fodt").write_text(TEXT)
        for suffix in ("docx", "odt"):
            convert(work / "minutes.fodt", suffix, work, "minutes")
        slides(work / "slides.pptx")
        (HERE / "slides-python-pptx.pptx").write_bytes((work / "slides.pptx").read_bytes())
        slides(work / "slides.pptx", with_chart=False)
        for suffix in ("pptx", "odp"):
            convert(work / "slides.pptx", suffix, work, "slides")
        budget(HERE / "budget-openpyxl.xlsx")
        for suffix in ("xlsx", "ods"):
            convert(HERE / "budget-openpyxl.xlsx", suffix, work, "budget")
        lock(HERE / "report-libreoffice.docx", HERE / "locked.docx")
        articles(work)
    letters()


def run(*command: object) -> None:
    subprocess.run([str(part) for part in command], check=True, capture_output=True, timeout=300)


def convert(source: Path, suffix: str, work: Path, name: str) -> None:
    out = work / f"out-{suffix}"
    run(
        "soffice",
        "--headless",
        f"-env:UserInstallation=file://{work}/profile",
        "--convert-to",
        suffix,
        "--outdir",
        out,
        source,
    )
    (out / f"{source.stem}.{suffix}").replace(HERE / f"{name}-libreoffice.{suffix}")


def articles(work: Path) -> None:
    """Print the same article in one column and in two."""
    sys.path.insert(0, str(HERE.parent))
    from real_article import page

    for columns in (1, 2):
        (work / "article.html").write_text(page(columns))
        out = HERE / f"article-{columns}-chromium.pdf"
        options = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={work}/chromium")
        run("chromium", *options, "--no-pdf-header-footer", f"--print-to-pdf={out}", f"file://{work}/article.html")
    run("pandoc", "-s", work / "article.html", "-o", work / "article.odt")
    convert(work / "article.odt", "pdf", work, "article")


def slides(path: Path, *, with_chart: bool = True) -> None:
    from pptx import Presentation
    from pptx.util import Inches

    show: Any = Presentation()
    show.core_properties.title, show.core_properties.author = "PowerPoint Presentation", "Cy Dole"
    show.core_properties.created = datetime(2022, 2, 3)
    first = show.slides.add_slide(show.slide_layouts[0])
    first.shapes.title.text, first.placeholders[1].text = "Tides of the bay", "A short course"
    second = show.slides.add_slide(show.slide_layouts[5])
    second.shapes.title.text = "Two columns"
    for words, left, top in (("lower left", 1, 4), ("upper right", 5, 2), ("upper left", 1, 2.05)):
        box = second.shapes.add_textbox(Inches(left), Inches(top), Inches(3), Inches(1))
        box.text_frame.text = words
    group = second.shapes.add_group_shape()
    for words, left in (("grouped right", 5), ("grouped left", 1)):
        group.shapes.add_textbox(Inches(left), Inches(3), Inches(3), Inches(0.5)).text_frame.text = words
    second.notes_slide.notes_text_frame.text = "Say that the left one is older."
    third = show.slides.add_slide(show.slide_layouts[1])
    third.shapes.title.text = "What moves water"
    frame = third.placeholders[1].text_frame
    frame.text = "The moon"
    for words, level in (("most of all", 1), ("The sun", 0)):
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = words, level
    third._element.set("show", "0")
    fourth = show.slides.add_slide(show.slide_layouts[5])
    fourth.shapes.title.text = "Heights"
    table = fourth.shapes.add_table(3, 2, Inches(1), Inches(2), Inches(6), Inches(1)).table
    for row, cells in enumerate((("Port", "Metres"), ("Sandwick", "4.1"), ("Alder Quay", "3.8"))):
        for column, words in enumerate(cells):
            table.cell(row, column).text = words
    if with_chart:
        add_chart(fourth)
    used = {slide.slide_layout.part.partname for slide in show.slides}
    for layout in [layout for layout in show.slide_layouts if layout.part.partname not in used]:
        show.slide_layouts.remove(layout)
    show.save(str(path))


def add_chart(slide: Any) -> None:
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    data = CategoryChartData()
    data.categories = ["2020", "2021"]
    data.add_series("Storms", (3, 5))
    chart = slide.shapes.add_chart(
        XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(4), Inches(6), Inches(3), data
    ).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Storms a year"


def budget(path: Path) -> None:
    from openpyxl import Workbook

    book: Any = Workbook()
    book.properties.title, book.properties.creator = "Budget", "Di Ross"
    book.properties.created = datetime(2021, 6, 7)
    sheet = book.active
    sheet.title = "Budget"
    sheet["B2"] = "Budget of the harbour"
    sheet.append([])
    for cells in (
        ["", "Port", "Opened", "Share", "Cost", "Open"],
        ["", "Sandwick", date(2024, 3, 1), 0.14, 1200.5, True],
        ["", None, date(2023, 12, 31), 0.095, -3, False],
        ["", "Alder Quay", datetime(2024, 3, 1, 14, 30), 1, 1e6, None],
    ):
        sheet.append(cells)
    sheet.merge_cells("B5:B6")
    for row in range(4, 9):
        sheet.cell(row, 4).number_format = "0.0%" if row == 6 else "0%"
        sheet.cell(row, 5).number_format = '#,##0.00 "€"'
        sheet.cell(row, 3).number_format = "dd/mm/yyyy hh:mm" if row == 7 else "dd/mm/yyyy"
    sheet["D12"], sheet["E12"] = "Quarter", "Visits"
    sheet["D13"], sheet["E13"] = "Q1", 17
    hidden = book.create_sheet("Old")
    hidden.append(["Name", "Year"])
    hidden.append(["Heron Bridge", 1931])
    hidden.sheet_state = "hidden"
    book.create_sheet("Empty")
    words = book.create_sheet("No header")
    for cells in ([3, "oak"], [5, "elm"]):
        words.append(cells)
    book.save(path)


def lock(source: Path, path: Path) -> None:
    import msoffcrypto.format.ooxml

    with source.open("rb") as file, path.open("wb") as out:
        msoffcrypto.format.ooxml.OOXMLFile(file).encrypt("secret", out)


def letters() -> None:
    message = letter("Café plans", "We meet at nine.\n\nOn Friday Bob wrote:\n> When do we meet?\n> Bob\n")
    message.add_alternative("<p>We meet at <b>nine</b>.</p>", subtype="html")
    message.add_attachment("Port,Visits\nSandwick,17\nAlder Quay,9\n", subtype="csv", filename="visits.csv")
    message.add_attachment(
        (HERE / "minutes-libreoffice.docx").read_bytes(), "application", "msword", filename="minutes.docx"
    )
    message.add_attachment(b"\x89PNG", "image", "png", filename="harbour.png")
    (HERE / "letter.eml").write_bytes(bytes(message))
    html_only = letter("Storm", "")
    html_only.set_content(
        "<h1>Storm</h1><p>The ferry is off.</p><blockquote>Is the ferry on?</blockquote>", subtype="html"
    )
    (HERE / "letters.mbox").unlink(missing_ok=True)
    box = mailbox.mbox(HERE / "letters.mbox")
    for message in (html_only, letter("Reply", "From now on it is on.\n\nFrom Monday too.\n")):
        box.add(message)
    box.close()


def letter(subject: str, words: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Ann Lee <ann@example.org>", "Bob <bob@example.org>", subject
    message["Date"] = "Fri, 01 Mar 2024 10:00:00 +0100"
    message.set_content(words)
    return message


if __name__ == "__main__":
    sys.exit(main())
