"""Words of text boxes, shapes and charts in each kind of office file."""

from __future__ import annotations

import io
import zipfile

import openpyxl
import pytest
from lxml import etree
from odf_files import odf
from openpyxl.chart import BarChart, Reference

from propcite.app.ingest.readers import document_from_bytes
from propcite.app.ingest.readers.charts import write_chart
from propcite.app.ingest.readers.draft import Draft

SHAPE = (
    '<xdr:sp xmlns:xdr="d"><xdr:nvSpPr><xdr:cNvPr id="1"{}/></xdr:nvSpPr><xdr:txBody><a:p xmlns:a="a"><a:r>'
    "<a:t>{}</a:t></a:r></a:p></xdr:txBody></xdr:sp>"
)


def sheet_with_chart() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (("Berth", "Ships"), ("North", 14), ("South", 9)):
        sheet.append(row)
    chart = BarChart()
    chart.title, chart.y_axis.title = "Ships per berth", "Ships a day"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    sheet.add_chart(chart, "E5")
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def with_shapes(data: bytes) -> bytes:
    """Return a workbook with two shapes above its chart, one of them hidden, and one below."""
    source, out = zipfile.ZipFile(io.BytesIO(data)), io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        for name in source.namelist():
            words = source.read(name).decode()
            if name == "xl/drawings/drawing1.xml":
                anchor = "<oneCellAnchor><from><col>{}</col><row>{}</row></from>{}</oneCellAnchor>"
                shapes = (
                    anchor.format(4, 9, SHAPE.format("", "Closed for works"))
                    + anchor.format(4, 1, SHAPE.format("", "Figures are provisional."))
                    + anchor.format(5, 1, SHAPE.format(' hidden="1"', "secret"))
                )
                words = words.replace("</wsDr>", f"{shapes}</wsDr>")
            package.writestr(name, words)
    return out.getvalue()


def test_shapes_over_a_sheet_and_the_titles_of_its_charts_are_below_its_rows() -> None:
    text = document_from_bytes("a.xlsx", with_shapes(sheet_with_chart()), "").text
    assert text == (
        "Sheet\n\nBerth = North; Ships = 14.\n\nBerth = South; Ships = 9.\n\nFigures are provisional.\n\n"
        "Ships per berth\n\nShips a day\n\nClosed for works"
    )


def chart_text(series: str, axes: str = "") -> str:
    """Return what is read of a chart with this plot."""
    draft = Draft()
    plot = f"<plotArea><x>{series}</x>{axes}</plotArea>"
    write_chart(draft, etree.fromstring(f"<chartSpace><chart>{plot}</chart></chartSpace>"))
    return draft.text


def series(name: str, **values: str) -> str:
    """Return a series with values by kind, divided by spaces; each kind may begin with a format and a colon."""
    parts = [f'<tx><pt idx="0"><v>{name}</v></pt></tx>']
    for kind, words in values.items():
        code, _, words = words.rpartition(":")
        form = f"<formatCode>{code}</formatCode>" if code else ""
        points = "".join(f'<pt idx="{at}"><v>{word}</v></pt>' for at, word in enumerate(words.split()))
        parts.append(f"<{kind}><numRef><numCache>{form}{points}</numCache></numRef></{kind}>")
    return f"<ser>{''.join(parts)}</ser>"


def axis(kind: str, title: str) -> str:
    return f"<{kind}><title><tx><rich><p><r><t>{title}</t></r></p></rich></tx></title></{kind}>"


def test_values_of_a_chart_are_in_their_formats_and_axes_give_names() -> None:
    wind = series("Wind", cat="2021 2022", val="0%:0.145 0.4000000000000001")
    text = chart_text(wind, axis("catAx", "Year") + axis("valAx", "Share of power"))
    assert text == "Share of power\n\nYear = 2021; Wind = 15%.\n\nYear = 2022; Wind = 40%."
    days = series("Ships", cat="dd/mm/yyyy:45413 45414", val="General:2.4000000000000004 3")
    assert chart_text(days) == "2024-05-01; Ships = 2.4.\n\n2024-05-02; Ships = 3."
    assert chart_text(series("Ships", val="3 5")) == "1; Ships = 3.\n\n2; Ships = 5."


def test_categories_in_levels() -> None:
    inner = "".join(f'<pt idx="{at}"><v>{town}</v></pt>' for at, town in enumerate(("Vigo", "Cadiz", "Leith")))
    outer = '<pt idx="0"><v>Spain</v></pt><pt idx="2"><v>Scotland</v></pt>'
    levels = f"<cat><multiLvlStrRef><cache><lvl>{inner}</lvl><lvl>{outer}</lvl></cache></multiLvlStrRef></cat>"
    text = chart_text(series("Ships", val="3 5 8").replace("<val>", f"{levels}<val>"))
    assert text == "Spain Vigo; Ships = 3.\n\nSpain Cadiz; Ships = 5.\n\nScotland Leith; Ships = 8."


def test_points_of_a_chart_have_both_values() -> None:
    tests = series("Tests", xVal="0.7 1.8", yVal="2.7 3.2")
    assert chart_text(tests) == "Tests | 0.7 | 2.7\nTests | 1.8 | 3.2"
    text = chart_text(tests, axis("valAx", "Depth") + axis("valAx", "Salt"))
    assert text == "Tests; Depth = 0.7; Salt = 2.7.\n\nTests; Depth = 1.8; Salt = 3.2."
    assert chart_text(series("Tests", xVal="0.7", yVal="2.7", bubbleSize="10")) == "Tests | 0.7 | 2.7 | 10"


CHART = (
    '<office:document xmlns:office="o" xmlns:text="t" xmlns:table="tb" xmlns:chart="c" xmlns:style="s">'
    '<office:automatic-styles><style:style style:name="x" style:family="chart" style:data-style-name="N1"/>'
    '<date-style style:name="N1"/></office:automatic-styles><office:body><office:chart><chart:chart><chart:title>'
    "<text:p>Ships per day</text:p></chart:title><chart:axis chart:dimension='x' chart:style-name='x'/><table:table>"
    "{}</table:table></chart:chart></office:chart></office:body></office:document>"
)
FRAME = '<draw:frame><draw:object xlink:href="./Object 1"><p/></draw:object></draw:frame>'


def rows_of(rows: list[list[str]]) -> str:
    return "".join(
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in row)
        + "</table:table-row>"
        for row in rows
    )


@pytest.mark.parametrize(
    ("kind", "suffix", "body", "text"),
    [
        (
            "presentation",
            ".odp",
            f"<draw:page>{FRAME}</draw:page>",
            "Ships per day\n\n2024-05-01; North = 14.\n\n2024-05-02; North = 9.",
        ),
        (
            "text",
            ".odt",
            f"<text:p>See here.{FRAME}</text:p>",
            "See here.\n\nShips per day\n\n2024-05-01; North = 14.\n\n2024-05-02; North = 9.",
        ),
        (
            "spreadsheet",
            ".ods",
            f'<table:table table:name="S"><table:shapes>{FRAME}</table:shapes>{rows_of([["Port"], ["Leith"]])}'
            "</table:table>",
            "S\n\nPort\nLeith\n\nShips per day",
        ),
    ],
)
def test_charts_of_opendocument_files(kind: str, suffix: str, body: str, text: str) -> None:
    chart = CHART.format(rows_of([["", "North"], ["45413", "14"], ["45414", "9"]]))
    data = odf(kind, body, **{"Object 1/content": chart})
    assert document_from_bytes(f"a{suffix}", data, "").text == text


def test_a_sheet_in_a_slide_is_a_table() -> None:
    sheet = (
        '<office:document xmlns:office="o" xmlns:text="t" xmlns:table="tb"><office:body><office:spreadsheet>'
        f"<table:table>{rows_of([['Port', 'Ships'], ['Leith', '14']])}</table:table>"
        "</office:spreadsheet></office:body></office:document>"
    )
    data = odf("presentation", f"<draw:page>{FRAME}</draw:page>", **{"Object 1/content": sheet})
    assert document_from_bytes("a.odp", data, "").text == "Port = Leith; Ships = 14."


def test_shapes_of_opendocument_files_are_apart_from_the_words_around_them() -> None:
    shape = "<draw:custom-shape><text:p>Crane zone.</text:p></draw:custom-shape>"
    data = odf("text", f"<text:p>{shape}Final words here.</text:p>")
    assert document_from_bytes("a.odt", data, "").text == "Final words here.\n\nCrane zone."
    cells = rows_of([["Port", "Ships"], ["Leith", "14"]]).replace("<text:p>Leith", f"{shape}<text:p>Leith")
    data = odf("spreadsheet", f'<table:table table:name="S">{cells}</table:table>')
    assert document_from_bytes("a.ods", data, "").text == "S\n\nPort = Leith; Ships = 14.\n\nCrane zone."


def test_a_shape_of_rich_text_whose_words_are_a_property() -> None:
    shape = (
        r"{\shp{\*\shpinst\shpleft0{\sp{\sn shapeType}{\sv 1}}{\sp{\sn wzName}{\sv Shape1}}"
        r"{\sp{\sn gtextUNICODE}{\sv Crane zone.}}{\sp{\sn gtextFont}{\sv Serif}}}}"
    )
    text = document_from_bytes("a.rtf", (r"{\rtf1\ansi " + shape + r"Final words here.\par}").encode(), "").text
    assert text == "Final words here.\n\nCrane zone."
