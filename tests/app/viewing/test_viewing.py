"""Documents shown with the cited words marked, and without active content."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from real_documents import FOLDER
from scanned import Scanner, printed, saved

from propcite.app.demo import DOCUMENTS
from propcite.app.errors import AppError, NotFoundError, ReadError
from propcite.app.ingest.sources import File, Source, Upload, gather
from propcite.app.library.originals import Original
from propcite.app.parts import Parts
from propcite.app.viewing.document_html import Highlight
from propcite.app.viewing.marking import Quote, mark_quote
from propcite.app.viewing.page_images import PageImages
from propcite.app.viewing.sanitized_html import sanitize
from propcite.app.viewing.tables import rows_of, table_html
from propcite.app.viewing.viewer import Viewer, parse_span
from propcite.retrieval.text import Passage, Span

OpenParts = Callable[..., Parts]


@pytest.fixture
def viewer(open_parts: OpenParts) -> Viewer:
    return Viewer(open_parts())


def add(viewer: Viewer, *sources: Source) -> list[str]:
    ingester = viewer.parts.ingester(viewer.parts.library.create_collection("seen"))
    outcomes = list(ingester.ingest(sources))
    assert {outcome.state for outcome in outcomes} == {"added"}
    return [outcome.document_id for outcome in outcomes]


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", "", html).split())


def cited(html: str) -> str:
    """Return the words that are marked as cited."""
    matches = re.findall(r'<(mark|span) class="[^"]*cited"[^>]*>(.*?)</\1>', html)
    return " ".join(words(inside) for _, inside in matches)


def shown(viewer: Viewer, document_id: str, quote: str = "") -> str:
    text = viewer.parts.library.document(document_id).text
    start = text.index(quote)
    content = viewer.html(document_id, Highlight(Span(start, start + len(quote)), Span(0, len(text)))).content
    assert isinstance(content, bytes)
    return content.decode()


# Marks


def test_words_are_marked_across_tags_and_punctuation() -> None:
    html = "<p>The <b>heron</b> stands &amp; waits.</p><p>It eats fish.</p>"
    page = mark_quote(html, Quote("The heron stands & waits.", "The heron stands & waits. It eats fish."))
    assert page
    assert cited(page) == "The heron stands &amp; waits"
    assert words(page) == words(html)
    assert page.count('id="cited"') == 1
    assert '<mark class="passage">It eats fish</mark>' in page


def test_of_two_places_the_one_with_the_same_words_before_it_is_marked() -> None:
    html = "<p>In May it opens at nine.</p><p>In June it opens at nine.</p>"
    page = mark_quote(html, Quote("it opens at nine", "In June it opens at nine.")) or ""
    assert page.index('id="cited"') > page.index("June")


def test_of_equal_places_the_one_nearest_to_the_position_is_marked() -> None:
    html = "<p>Closed on Monday.</p>" * 3
    page = mark_quote(html, Quote("Closed on Monday.", "Closed on Monday.", position=0.5)) or ""
    assert html.index("</p>") < page.index('id="cited"') < len("<p>Closed on Monday.</p>") * 2


@pytest.mark.parametrize("quote", ["Do nothing.", "2. Do nothing.", "b) Do nothing."])
def test_the_number_of_a_list_item_is_ignored(quote: str) -> None:
    page = mark_quote("<ol><li>Sell.</li><li>Do nothing.</li></ol>", Quote(quote, quote)) or ""
    assert cited(page) == "Do nothing"


def test_a_table_row_is_found_without_the_names_of_its_columns() -> None:
    html = "<table><tr><th>Land</th><th>Sales</th></tr><tr><td>Spain</td><td>14%</td></tr></table>"
    page = mark_quote(html, Quote("Land = Spain; Sales = 14%.", "Land = Spain; Sales = 14%.")) or ""
    assert cited(page) == "Spain 14"


def test_a_quote_that_is_not_on_the_page_is_not_marked() -> None:
    html = "<p>The heron stands and waits.</p>"
    assert mark_quote(html, Quote("The kingfisher dives at dawn.", "")) is None
    assert mark_quote(html, Quote("…", "")) is None


# Whole documents


def test_sentences_of_the_demo_are_marked_in_place(viewer: Viewer) -> None:
    """In the rendered Markdown or HTML, not in the extracted text."""
    add(viewer, *(source for source in gather([DOCUMENTS])[0] if source.name.endswith((".md", ".html"))))
    library = viewer.parts.library
    info = library.collection("seen")
    looked_at = 0
    for document in library.documents(info)[::4]:
        for passage in library.passages(library.passage_ids(info, document.id)).values():
            for span in sentences(passage)[::3]:
                page = viewer.html(document.id, Highlight(passage.in_document(span), passage.in_document(span))).content
                assert isinstance(page, bytes)
                assert 'class="text"' not in page.decode(), (document.source, span.of(passage.text))
                found = re.findall(r"\w+", unescape(cited(page.decode())))
                wanted = re.findall(r"\w+", span.of(passage.text))
                assert found  # a table row lacks the names of its columns
                assert set(found) <= set(wanted)
                assert found[-1] == wanted[-1]
                looked_at += 1
    assert looked_at > 20


def sentences(passage: Passage) -> list[Span]:
    return [
        s.span.trimmed(passage.text) for s in passage.sentences if not s.is_heading and s.span.trimmed(passage.text)
    ]


def test_text_is_shown_escaped_and_also_without_its_file(viewer: Viewer, tmp_path: Path) -> None:
    own = tmp_path / "quay.md"
    own.write_text("# The quay\n\nIt is <b>old</b>.\n\nIt carries *two* cranes.\n", encoding="utf-8")
    (sent, there) = add(viewer, Upload("quay.txt", b"The quay is <b>old</b>.\n\nIt carries two cranes."), File(own))
    page = shown(viewer, sent, "It carries two cranes.")
    assert cited(page) == "It carries two cranes."
    assert "&lt;b&gt;old" in page
    assert "<em>" in shown(viewer, there, "It carries two cranes.")
    own.unlink()
    page = shown(viewer, there, "It carries two cranes.")
    assert "<em>" not in page
    assert cited(page) == "It carries two cranes."
    with pytest.raises(NotFoundError):
        viewer.html("nobody", Highlight())


def test_spans_outside_a_document_are_clipped(viewer: Viewer) -> None:
    (sent,) = add(viewer, Upload("quay.txt", b"The quay is old."))
    content = viewer.html(sent, Highlight(Span(12, 10**9), Span(10**8, 10**9))).content
    assert isinstance(content, bytes)
    assert cited(content.decode()) == "old."
    assert [parse_span(text) for text in ("3-5", "5-3", "a-b", "-", "", "1-2-3", "9" * 40 + "-1")] == [
        Span(3, 5),
        *[Span(0, 0)] * 6,
    ]


def test_a_long_text_is_cut_around_the_cited_words(viewer: Viewer) -> None:
    text = "The tide comes and goes. " * 20_000 + "The gate is green. " + "The tide comes and goes. " * 20_000
    (sent,) = add(viewer, Upload("tides.txt", text.encode()))
    page = shown(viewer, sent, "The gate is green.")
    assert len(page) < 300_000
    assert cited(page) == "The gate is green."
    assert page.count('class="more"') == 2


# Tables


def table(number: int = 300) -> bytes:
    return ("Land,Year,Sales\n" + "".join(f"L{i},{1900 + i % 100},{i}%\n" for i in range(number))).encode()


def test_rows_around_a_cited_row_are_shown_with_a_header(viewer: Viewer) -> None:
    (sent,) = add(viewer, Upload("sales.csv", table()))
    page = shown(viewer, sent, "Land = L120; Year = 1920; Sales = 120%.")
    (row,) = re.findall(r'<tr class="cited" id="cited">.*?</tr>', page)
    assert words(row.replace("</t", " </t")) == "122 L120 1920 120%"
    assert re.search(r"<thead><tr><th[^>]*>1</th><th>Land</th>", page)
    assert "90 more rows above" in page
    assert "119 more rows below" in page


def test_the_first_and_the_last_row(viewer: Viewer) -> None:
    (sent,) = add(viewer, Upload("sales.csv", table(5)))
    for number in (0, 4):
        page = shown(viewer, sent, f"Land = L{number}; Year = {1900 + number}; Sales = {number}%.")
        assert "more rows" not in page
        assert page.count("<tr") == 6


def test_a_table_without_column_names_has_no_header() -> None:
    rows = rows_of("csv", "a.csv", b"1,2\n3,4\n5,6\n")
    page = table_html(rows, ["row 2"])
    assert "<thead>" not in page
    assert page.count("<tr") == 3
    assert table_html(rows_of("csv", "a.csv", b"1,2\n"), ["row 9"]) == ""


@pytest.mark.parametrize("name", ["budget-openpyxl.xlsx", "budget-libreoffice.xlsx", "budget-libreoffice.ods"])
def test_a_row_is_found_on_its_sheet(name: str, viewer: Viewer) -> None:
    (there,) = add(viewer, File(FOLDER / name))
    page = shown(viewer, there, "Name = Heron Bridge; Year = 1931.")
    (row,) = re.findall(r'<tr class="cited" id="cited">.*?</tr>', page)
    assert words(row.replace("</t", " </t")) == "2 Heron Bridge 1931"
    assert "Alder Quay" not in page


# Safety


ATTACKS = [
    "<script>top.document.title = 'broken'</script>",
    "<img src=x onerror=alert(1)>",
    '<svg onload="alert(1)"><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>',
    '<a href="javascript:alert(1)">here</a>',
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    "<meta http-equiv=refresh content='0;url=https://example.org'>",
    "<form action=https://example.org><input name=a><button>go</button></form>",
    "<style>@import 'https://example.org/x.css'</style>",
    '<div style="background:url(https://example.org/x.png)">x</div>',
    "<base href=https://example.org/>",
    "<p onclick=alert(1) id=cited>x</p>",
    "<details ontoggle=alert(1) open>x</details>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "</main></body><script>alert(1)</script>",
    "![pixel](https://example.org/pixel.png) [here](javascript:alert(1))",
]


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("suffix", [".md", ".html", ".txt", ".csv"])
def test_no_document_runs_scripts_loads_content_or_has_links(viewer: Viewer, suffix: str, attack: str) -> None:
    text = f"{attack}\n\nThe quay is 300 metres long.\n\n{attack}\n"
    (sent,) = add(viewer, Upload(f"quay{suffix}", text.encode()))
    reply = viewer.html(sent, Highlight(Span(0, 5), Span(0, 9)))
    assert isinstance(reply.content, bytes)
    body = reply.content.decode().partition("<body>")[2]
    for tag, attributes in Tags(body).found:
        assert tag not in ("script", "img", "svg", "a", "iframe", "meta", "form", "input", "style", "base", "math")
        assert set(attributes) <= {"class", "id", "colspan", "rowspan", "start", "value", "scope"}
        assert attributes.get("id", "cited") == "cited"
    assert reply.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert "sandbox" in reply.headers["Content-Security-Policy"]
    assert reply.headers["X-Content-Type-Options"] == "nosniff"


def test_only_pdfs_open_in_the_browser(viewer: Viewer) -> None:
    pdf = next(source for source in gather([DOCUMENTS])[0] if source.name.endswith(".pdf"))
    page, opened = add(viewer, Upload('a "page".html', b"<p>The quay is old. It is long.</p>"), pdf)
    saved = viewer.file(page)
    assert saved.headers["Content-Disposition"] == "attachment; filename*=UTF-8''a%20%22page%22.html"
    assert "sandbox" in saved.headers["Content-Security-Policy"]
    seen = viewer.file(opened)
    assert seen.media_type == "application/pdf"
    assert seen.headers["Content-Disposition"].startswith("inline")


def test_sanitized_html_keeps_words_and_layout() -> None:
    html = "<h2>Tides</h2><ol start='3'><li>High</li></ol><table><tr><td colspan=2>Low</td></tr></table>"
    kept = sanitize(html)
    assert '<ol start="3">' in kept
    assert '<td colspan="2">' in kept
    assert words(kept) == words(html)


# Pages


@pytest.fixture
def pages() -> PageImages:
    return PageImages()


def original(path: Path, kind: str = "pdf") -> Original:
    return Original("d", "Report", path.name, kind, path)


def test_a_page_is_drawn_at_the_requested_width(pages: PageImages) -> None:
    path = next(Path(DOCUMENTS).glob("annual-report-2022.pdf"))
    try:
        pages.start()
        first, second = (pages.jpeg(original(path), number, 400) for number in (1, 2))
        assert first != second
        assert pages.jpeg(original(path), 1, 400) is first
        with Image.open(BytesIO(first)) as picture:
            assert (picture.width, picture.format) == (400, "JPEG")
            dark = sum(picture.convert("L").histogram()[:128])
        assert dark > 500  # it shows letters
        with pytest.raises(NotFoundError, match="has 2 pages, no page 9"):
            pages.jpeg(original(path), 9)
    finally:
        pages.close()


def test_a_page_that_cannot_be_drawn_is_reported_and_the_next_is_drawn(pages: PageImages, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 nothing\n%%EOF")
    good = next(Path(DOCUMENTS).glob("*.pdf"))
    try:
        with pytest.raises(ReadError, match=r"broken\.pdf is damaged and cannot be drawn"):
            pages.jpeg(original(broken), 1)
        with pytest.raises(ReadError, match="not a PDF"):
            pages.jpeg(original(good, "markdown"), 1)
        with pytest.raises(AppError, match="200 to 2000"):
            pages.jpeg(original(good), 1, 20_000)
        pages._process._process.kill()  # type: ignore[union-attr]  # as a hostile file would
        with pytest.raises(ReadError, match="crashed its drawing process"):
            pages.jpeg(original(good), 1)
        assert pages.jpeg(original(good), 1)
    finally:
        pages.close()


def test_a_picture_with_recognised_text_is_shown_with_the_box_of_its_words(viewer: Viewer) -> None:
    words = "The harbour was rebuilt in 1897."
    scan = Scanner(dpi=150).scan(printed([words]))
    (document_id,) = add(viewer, Upload("scan.png", saved(scan, kind="PNG")))
    assert cited(shown(viewer, document_id, words)) == words
    assert viewer.file(document_id).media_type == "image/png"
    image = viewer.page_image(document_id, 1, 600).content
    viewer.page_images.close()
    assert isinstance(image, bytes)
    (box,) = viewer.parts.library.passages([f"{document_id}:0"])[f"{document_id}:0"].boxes
    with Image.open(BytesIO(image)) as picture:
        edges = (
            box.left * picture.width,
            box.top * picture.height,
            box.right * picture.width,
            box.bottom * picture.height,
        )
        inside = picture.convert("L").crop(tuple(map(round, edges)))
        dark = [sum(part.histogram()[:128]) for part in (inside, picture.convert("L"))]
    assert dark[0] > 0.9 * dark[1] > 100
