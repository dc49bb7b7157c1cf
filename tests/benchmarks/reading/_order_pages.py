"""Pages whose reading order is known, printed by Chromium, by groff and by a compositor of columns."""

from __future__ import annotations

import io
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from reportlab.lib.utils import simpleSplit
from reportlab.pdfgen.canvas import Canvas
from tests.benchmarks.answers.packages import fetch
from tests.benchmarks.reading._order_texts import Truth, Writer

Printed = tuple[str, bytes, Truth]  # the name of the layout, the PDF, what it says

_RULED = "table{border-collapse:collapse;margin:10pt 0}td,th{border:0.7pt solid black;padding:2pt 5pt;text-align:left}"
_BOOKTABS = (
    "table{border-collapse:collapse;margin:10pt 0;border-top:1pt solid;border-bottom:1pt solid}"
    "th{border-bottom:.5pt solid}td,th{padding:1pt 9pt;text-align:left}"
    "td:nth-child(2),td:nth-child(3){text-align:right}"
)
_RELIEF = "table{border:1px outset gray;border-spacing:2px;margin:10pt 0}td,th{border:1px inset gray;padding:2pt 5pt}"
_WIDE = "th[colspan='2']{text-align:center}"
_PLAIN = "table{margin:10pt 0}td,th{padding:1pt 12pt;text-align:left;vertical-align:top}"
_BODY = "body{font:10pt/1.25 'Liberation Serif';margin:0}p{margin:0 0 7pt;text-align:justify;hyphens:auto}"


def printed(cache: Path) -> Iterator[Printed]:
    """Yield each document; groff is fetched into `cache`."""
    yield from _by_browser()
    yield from _by_groff(cache)
    for columns in (1, 2, 3):
        for order in ("as read", "row by row", "notes first"):
            yield f"{columns} columns with notes, drawn {order}", *_composed(columns, order)


def _by_browser() -> Iterator[Printed]:
    for columns in (2, 3):
        writer = Writer(columns)
        style = _page(writer, "The chronicle of the coast") + f"main{{columns:{columns};column-gap:16pt}}"
        html = f"<h1>Report</h1><main>{''.join(_paragraph(writer, 4) for _ in range(26))}</main>"
        yield f"{columns} columns, running heads", _print(style, html), writer.truth
    writer = Writer(4)
    picture = '<svg width="200" height="90"><rect width="200" height="90" fill="#ccd"/></svg>'
    figure = f'<figure style="margin:6pt 0;break-inside:avoid">{picture}'
    parts = [
        _paragraph(writer, 5)
        + (f"{figure}<figcaption>{writer.apart(f'Figure {n}: ')}</figcaption></figure>" if n % 2 else "")
        for n in range(22)
    ]
    yield (
        "2 columns, figures",
        _print("main{columns:2}figcaption{font-size:8.5pt}", f"<main>{''.join(parts)}</main>"),
        writer.truth,
    )
    for side in ("left", "right"):
        writer = Writer(5)
        style = (
            f"main{{margin-{side}:120pt}}p{{position:relative}}"
            f"span{{position:absolute;{side}:-120pt;width:105pt;top:0;font-size:7.5pt;line-height:1.15}}"
        )
        parts = []
        for number in range(24):
            sentences = writer.paragraph(6)
            note = f"<span>{writer.apart()}</span>" if number % 2 else ""
            half = sentences[0].index(" was ")
            parts.append(f"<p>{sentences[0][:half]}{note}{sentences[0][half:]} {' '.join(sentences[1:])}</p>")
        yield f"notes in the {side} margin", _print(style, f"<main>{''.join(parts)}</main>"), writer.truth
    for every in (1, 5):
        writer = Writer(6)
        lines = [
            line
            for _ in range(20)
            for line in (*simpleSplit(" ".join(writer.paragraph(4)), "Times-Roman", 11, 400), "")
        ]
        rows, number = [], 0
        for line in lines:
            number += bool(line)
            label = number if line and number % every == 0 else ""
            rows.append(f"<div><i>{label}</i>{line or '&nbsp;'}</div>")
        style = (
            "div{white-space:nowrap;padding-left:34pt;position:relative;font-size:11pt}"
            "i{position:absolute;left:0;font:7pt 'Liberation Sans'}"
        )
        yield f"line numbers, every {every}", _print(style, "".join(rows)), writer.truth
    kinds = ("", "long cells", "labels", "names in two rows")
    divided = ("names in two rows, a page between", "labels, a page between", "names on each page")
    styles = (("ruled", _RULED), ("three rules", _BOOKTABS), ("no rules", _PLAIN), ("relief", _RELIEF))
    for name, style in styles:
        for kind in (*kinds, *("close cells",) * (name == "ruled"), *divided):
            writer = Writer(7)
            parts = []
            for number in range(1, 9):
                parts.append(_paragraph(writer, 4))
                caption = f"<p>{writer.apart(f'Table {number}. ')}</p>"
                num_rows = 40 if kind == "names on each page" else 6
                if kind.startswith("names in two rows"):
                    rows = writer.two_row_table(num_rows)
                else:
                    is_long, is_labelled = kind == "long cells", kind.startswith("labels")
                    rows = writer.table(num_rows, 3 + number % 3, long_cells=is_long, labels=is_labelled)
                break_at = {divided[0]: 2, divided[1]: 5}.get(kind, 0)  # the row before which a page begins
                if kind == "names on each page":
                    writer.head(f"{rows[0][0]} = {rows[0][0]}")
                parts.append(caption + _table(rows, break_at, repeats=kind == "names on each page"))
            closer = "td,th{padding:1pt 2pt}" if kind == "close cells" else ""
            yield (
                ", ".join(filter(None, ("tables", name, kind))),
                _print(style + _WIDE + closer, "".join(parts)),
                writer.truth,
            )


def _page(writer: Writer, head: str) -> str:
    return (
        f"@page{{@top-left{{content:'{writer.head(head)}';font:8pt 'Liberation Serif'}}"
        f"@bottom-center{{content:counter(page);font:8pt 'Liberation Serif'}}}}"
    )


def _paragraph(writer: Writer, sentences: int) -> str:
    return f"<p>{' '.join(writer.paragraph(sentences))}</p>"


def _table(rows: Sequence[Sequence[str]], break_at: int = 0, *, repeats: bool = False) -> str:
    width = max(map(len, rows))
    num_names = 1 + (1 < len(rows[0]) < width)
    written = []
    for number, row in enumerate(rows):
        tag = "td" if number >= num_names else "th"
        over = width if len(row) == 1 else 2 if len(row) < width else 1
        cells = (f"<{tag} colspan={over if at or len(row) == 1 else 1}>{cell}</{tag}>" for at, cell in enumerate(row))
        style = " style='break-before:page'" if number and number == break_at else ""
        written.append(f"<tr{style}>{''.join(cells)}</tr>")
    names = f"<thead>{''.join(written[:num_names])}</thead>" if repeats else "".join(written[:num_names])
    return f"<table>{names}<tbody>{''.join(written[num_names:])}</table>"


def _print(style: str, html: str) -> bytes:
    head = f"<meta charset=utf-8><style>@page{{size:A4;margin:25mm}}{_BODY}{style}</style>"
    page = f"<!doctype html><html lang=en>{head}{html}"
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "page.html"), Path(folder, "page.pdf")
        source.write_text(page, "utf-8")
        options = (
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-pdf-header-footer",
            f"--user-data-dir={folder}/user",
        )
        subprocess.run(
            ["chromium", *options, f"--print-to-pdf={target}", source.as_uri()], capture_output=True, check=True
        )
        return target.read_bytes()


def _by_groff(cache: Path) -> Iterator[Printed]:
    fetch(["groff"], cache)
    for columns in (1, 2):
        writer = Writer(20 + columns)
        parts = [
            ".ds LH " + writer.head("Annals of the coast"),
            ".ds RH " + writer.head("Volume seven"),
            f".{columns}C",
        ]
        for _ in range(24):
            first, *others = writer.paragraph(4)
            half = first.index(" was ")
            parts += [".LP", first[:half] + "\\**", ".FS", writer.apart(), ".FE", first[half + 1 :], *others]
        yield f"groff, {columns} columns, footnotes", _groff(cache, parts), writer.truth
    for name, form in (("ruled", "allbox"), ("rule below the header", "box"), ("no rules", "")):
        writer = Writer(30)
        parts = []
        for number in range(1, 9):
            parts += [".LP", *writer.paragraph(4), ".LP", writer.apart(f"Table {number}. "), ".TS", f"{form} tab(@);"]
            rows = writer.table(6, 3 + number % 3)
            parts += [" ".join(["l"] + ["n"] * (len(rows[0]) - 1)) + ".", "@".join(rows[0])]
            parts += ["_"] if name.startswith("rule ") else []
            parts += ["@".join(row) for row in rows[1:]] + [".TE"]
        yield f"groff, tables, {name}", _groff(cache, parts), writer.truth
    writer = Writer(40)
    parts = [".nm 1"] + [part for _ in range(22) for part in (".LP", *writer.paragraph(5))]
    yield "groff, line numbers", _groff(cache, parts), writer.truth


def _groff(cache: Path, lines: Sequence[str]) -> bytes:
    (shared,) = (cache / "groff/usr/share/groff").glob("[0-9]*")
    environment = {**os.environ, "PATH": f"{cache / 'groff/usr/bin'}:{os.environ['PATH']}"}
    command = ["groff", "-F", shared / "font", "-M", shared / "tmac", "-k", "-t", "-ms", "-Tpdf"]
    return subprocess.run(
        command, input="\n".join(lines).encode(), env=environment, capture_output=True, check=True
    ).stdout


def _composed(columns: int, order: str) -> tuple[bytes, Truth]:
    """Set four pages in columns with notes at the bottom of each, and draw their lines in an order of their own."""
    writer, file = Writer(50 + columns), io.BytesIO()
    writer.head("Proceedings of the society")
    width = (595 - 120 - 18 * (columns - 1)) / columns
    paragraphs = [writer.paragraph(5) for _ in range(60)]
    waiting = [
        line for sentences in paragraphs for line in (*simpleSplit(" ".join(sentences), "Times-Roman", 10, width), "")
    ]
    pdf, shown = Canvas(file, pagesize=(595, 842)), 0
    for page in range(1, 5):
        body: list[tuple[float, float, str]] = []
        notes: list[tuple[float, float, str]] = []
        for column in range(columns):
            x = 60 + column * (width + 18)
            note = simpleSplit(writer.apart(f"{page}{column} "), "Times-Roman", 8, width)
            bottom = 60 + 9.5 * len(note)
            notes += [(x, bottom - 9.5 * (row + 1), line) for row, line in enumerate(note)]
            y = 770.0
            is_last = (page, column) == (4, columns - 1)
            while y > bottom + 16 and not (
                is_last and y < 450 and not waiting[shown]
            ):  # the text ends with a paragraph
                if line := waiting[shown]:
                    body.append((x, y, line))
                shown, y = shown + 1, y - 12
            pdf.line(x, bottom + 4, x + 60, bottom + 4)
        if order == "row by row":
            body.sort(key=lambda line: (-line[1], line[0]))
        pdf.setFont("Times-Italic", 9)
        pdf.drawString(60, 800, f"{writer.truth.heads[0]}  {page}" if page % 2 else writer.truth.heads[0])
        for size, lines in ((8, notes), (10, body)) if order == "notes first" else ((10, body), (8, notes)):
            pdf.setFont("Times-Roman", size)
            for line in lines:
                pdf.drawString(*line)
        pdf.showPage()
    pdf.save()
    read = " ".join(line for line in waiting[:shown] if line)
    writer.truth.body = [sentence for sentence in writer.truth.body if sentence in read]
    return file.getvalue(), writer.truth
