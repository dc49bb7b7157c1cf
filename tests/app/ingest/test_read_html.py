"""HTML pages: the main part with headings, without scripts and menus; small pages, and encodings."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.app.errors import ReadError
from propcite.app.ingest.readers import document_from_bytes
from propcite.app.ingest.readers.html.page import declared_charset
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Document

SENTENCE = "The river rises in the hills and flows north for two hundred kilometres before it meets the wide cold sea. "
LONG = SENTENCE.strip() + " " + SENTENCE.strip()
MENU = "<nav><a href='/'>Home</a> <a href='/a'>About us</a></nav>"


def read(html: str | bytes, name: str = "page.html") -> Document:
    return document_from_bytes(name, html.encode() if isinstance(html, str) else html, "")


def headings_of(document: Document) -> list[tuple[int, str]]:
    return [(heading.level, heading.span.of(document.text)) for heading in document.headings]


def article(inner: str, title: str = "The river | A site") -> str:
    """Return a page large enough for its main part to be extracted."""
    prose = "".join(f"<p>{number}. {SENTENCE * 4}</p>" for number in range(6))
    return (
        f"<!doctype html><html><head><meta charset=utf-8><title>{title}</title><script>var evil=1;</script>"
        f"<style>p{{color:red}}</style></head><body>{MENU}<header>Site header</header>"
        f"<article><h1>The river</h1>{prose}{inner}</article><aside>Related pages</aside>"
        "<footer>Imprint</footer></body></html>"
    )


def test_a_small_page_is_read_block_by_block() -> None:
    document = read(
        f"<html><head><title>Shop hours</title></head><body><header>Shop</header>{MENU}<h2>Opening <i>hours</i></h2>"
        "<p>Open   9&ndash;5.\n<script>x()</script>Come in!<br>Ring twice.</p>loose words"
        "<ul><li>Mon</li><li>Tue<ol start=3><li>a</li><li>b</li></ol></li></ul>"
        "<table><tr><th>Day</th><th>Hour</th></tr><tr><td>Mon</td><td><p>9</p><p>10</p></td></tr></table>"
        "<pre>a  b\n  c</pre><div style='display: none'>secret</div><p hidden>secret</p><!-- secret --></body></html>"
    )
    assert document.text == (
        "Opening hours\n\nOpen 9–5. Come in!\nRing twice.\n\nloose words\n\n- Mon\n- Tue\n  3. a\n  4. b\n\n"
        "Day = Mon; Hour = 9 10.\n\na  b\n  c"
    )
    assert headings_of(document) == [(2, "Opening hours")]
    assert document.title == "Shop hours"
    assert document.metadata["kind"] == "html"


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("<p>Tiny.</p>", "Tiny."),
        ("just words", "just words"),
        ("<aside>All there is.</aside>", "All there is."),
        ("<body style='display:none'><p>Shown by a script.</p></body>", "Shown by a script."),
        ("<article><header><h1>Own title</h1></header><p>Text.</p></article>", "Own title\n\nText."),
        ("<p>1 &lt; 2 &amp;amp; caf&eacute; &#x1F600;&nbsp;x&#13;</p>", "1 < 2 &amp; café 😀 x"),
        ("<table><tr><td><h2>Laid</h2><p>out</p></td><td>by table</td></tr></table>", "Laid\n\nout\n\nby table"),
        ("<p>a<p>b<div>c", "a\n\nb\n\nc"),
        ("<dl><dt>Po</dt><dd>A river.</dd></dl>", "Po\nA river."),
        ("<div>" * 900 + "deep" + "</div>" * 900, "deep"),
        ("<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><body><p>XHTML</p></body></html>", "XHTML"),
    ],
)
def test_small_pages(html: str, words: str) -> None:
    assert read(html).text == words


def test_the_main_part_of_a_page_has_no_menus_scripts_and_styles() -> None:
    text = read(article("")).text
    assert SENTENCE.strip() in text
    for skipped in ("evil", "color", "Home", "About us", "Site header", "Related", "Imprint"):
        assert skipped not in text


def test_the_main_part_keeps_its_structure() -> None:
    document = read(
        article(
            "<h2>History &amp; maps</h2><ul><li>one<ul><li>nested</li></ul></li><li><p>two</p><p>more</p></li></ul>"
            "<ol><li>first</li><li>second</li></ol><table><tr><th>Year</th><th>Level</th></tr>"
            "<tr><td>1820</td><td>3 <b>m</b></td></tr></table><pre>def f():\n\n\n    return 1</pre>"
            "<p>Escapes: *star* _under_ [1] &lt;tag&gt; &amp;amp; <code>a&lt;b</code> H<sub>2</sub>O.</p>"
        )
    )
    assert headings_of(document) == [(1, "The river"), (2, "History & maps")]
    assert "- one\n  - nested\n- two\n  more\n\n1. first\n2. second\n\nYear = 1820; Level = 3 m.\n\n" in document.text
    assert "def f():\n\n\n    return 1" in document.text
    assert document.text.endswith("Escapes: *star* _under_ [1] <tag> &amp; a<b H2O.")


def test_a_numbered_list_never_gets_a_wrong_number() -> None:
    steps = "<li>a step</li><li{}>another</li></ol>"
    assert read("<ol start=4>" + steps.format("")).text == "4. a step\n5. another"
    for list_ in ("<ol reversed>" + steps.format(""), "<ol>" + steps.format(" value=9")):
        assert read(list_).text == "- a step\n- another"


def test_the_title_and_the_author() -> None:
    page = article("", title="A site").replace("<title>", "<meta name=author content='Ann Lee'><title>")
    document = read(page)
    assert (document.title, document.metadata["author"]) == ("The river", "Ann Lee")
    assert read("<p>No title at all.</p>", "my page.htm").title == "my page"


@pytest.mark.parametrize(
    ("charset", "words"),
    [
        ("windows-1252", "“Voilà” – 5 €"),
        ("iso-8859-1", "it’s déjà vu"),
        ("shift_jis", "川は山から海へ"),
        ("windows-1251", "Река"),
        ("utf-8", "Řeka — 川"),
    ],
)
def test_the_declared_charset_is_used(charset: str, words: str) -> None:
    head = f"<html><head><meta charset='{charset}'></head>".encode()
    encoding = "cp1252" if charset == "iso-8859-1" else charset
    assert read(head + f"<body><p>{words}</p></body></html>".encode(encoding)).text == words


def test_the_declared_charset_is_found_in_meta_tags_and_xml_declarations() -> None:
    old = b'<META http-equiv="Content-Type" content="text/html; charset=koi8-r">'
    assert declared_charset(old) == "koi8-r"
    assert declared_charset(b'<?xml version="1.0" encoding="latin1"?>') == "latin1"
    assert declared_charset(b"<p>charset=utf-7</p>") == ""


def test_a_wrong_charset_does_not_break_utf8() -> None:
    assert read("<meta charset=rot13><p>été</p>".encode()).text == "été"
    assert read("<meta charset=no-such><p>Le café était fermé</p>".encode("cp1252")).text == "Le café était fermé"


def test_a_byte_order_mark_shows_utf16() -> None:
    assert read("<p>été</p>".encode("utf-16")).text == "été"


@pytest.mark.parametrize(
    "html", ["<html><body><script>x()</script></body></html>", "<!-- only -->", "<img alt='' src=x>"]
)
def test_a_page_without_words_is_empty(html: str) -> None:
    with pytest.raises(ReadError, match=r"^page.html is empty: nothing to add$"):
        read(html)


def test_a_binary_page_is_refused() -> None:
    with pytest.raises(ReadError, match=r"^page.html is not text"):
        read(b"\x1f\x8b\x08\0\0\0\0\0")


TAGS = (
    "p div ul ol li table tr td th h1 h3 pre br script style nav main article b a dl dt dd header body html x-y".split()
)
PIECES = st.one_of(
    st.sampled_from([f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS]),
    st.sampled_from(["<!--", "-->", "&amp;", "&#0;", "<", "word ", "\n", "<p hidden>", "<ol start=x>", SENTENCE]),
    st.text(max_size=4),
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_the_headings_of_any_page_are_in_its_text(html: str) -> None:
    document = Document("", "")
    with suppress(ReadError):
        document = read(html)
    assert not set(document.text) & set("\r\0")
    document.text.encode()
    for heading in document.headings:
        words = heading.span.of(document.text)
        assert words
        assert "\n" not in words


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("<tr><th>Port<th>Visits<tr><td>Alder<td>9", "Port = Alder; Visits = 9."),
        ("<tr><td>Port<td>Visits<tr><td>Alder<td>9", "Port = Alder; Visits = 9."),
        ("<tr><td>Author<td>Ann<tr><td>Place<td>Alder", "Author | Ann\nPlace | Alder"),
        ("<tr><th>Author<td>Ann<tr><th>Place<td>Alder", "Author | Ann\nPlace | Alder"),
        ("<tr><th>Port<th>Visits", "Port | Visits"),
        (
            "<tr><td>1<td>2<tr><td><p>a<table><tr><td>in<td>side</table>b<tr><td>3<td>4",
            "1 | 2\n\na\n\nin | side\n\nb\n\n3 | 4",
        ),
    ],
)
def test_rows_of_a_table_have_the_names_of_its_columns(table: str, words: str) -> None:
    assert read(f"<p>Before.</p><table>{table}</table><p>After.</p>").text == f"Before.\n\n{words}\n\nAfter."


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("<ul><li><a href=x>One</a><li><a href=y>Two</a></ul>", "- One\n- Two"),
        ("<h1>Rivers<a class=headerlink href='#rivers'>¶</a></h1>", "Rivers"),
        ("<p>See § 3 and <a href='#s4'>§ 4</a>.", "See § 3 and § 4."),
        ("<dl><dt>Po<dd>A river.<dt>Etna<dd>A volcano.</dl>", "Po\nA river.\nEtna\nA volcano."),
        ("<dl><dt>Editor:<dd><p>Ann<dt>Date<b>:</b><dd>May<dt>Lost:</dl>", "Editor: Ann\nDate: May\nLost:"),
        ("<dl><dt>Po<dd><p>A river.<p>It is long.</dl>", "Po\n\nA river.\n\nIt is long."),
        (f"<dl><dt>depth<dd><p>{LONG}<dt>width<dd>Short.</dl>", f"depth\n\n{LONG}\n\nwidth\n\nShort."),
        ("<p>May I have <code>a = 1</code>, <code>b</code>= and <code>c</code>?", "May I have a = 1, b= and c?"),
        ("<p>a<a><b>b<ruby>c<rp>(</rp><rt>d</rt><rp>)</rp></ruby>", "abcd"),
    ],
)
def test_what_a_browser_shows_is_read(html: str, words: str) -> None:
    assert read(html).text == words


def test_the_terms_of_long_definitions_are_headings_above_them_alone() -> None:
    inner = f"<dl><dt>default<dd>{LONG}</dl>"
    terms = f"<dl><dt>depth<dd><p>{LONG}{inner}<p>Deep. {LONG}<dt>width<dd>{LONG}</dl>"
    page = read(f"<h2>Memory</h2>{terms}<p>After. {LONG}</p>")
    assert headings_of(page) == [(2, "Memory"), (7, "depth"), (8, "default"), (7, "width")]
    passages = PassageSplitter().split(page)
    depth = "Memory › depth"
    assert [p.title for p in passages] == [depth, f"{depth} › default", depth, "Memory › width", "Memory"]
    assert [p.text.split()[0] for p in passages] == ["Memory", "default", "Deep.", "width", "After."]


def test_the_pieces_of_definitions_cover_the_page() -> None:
    page = read(f"<dl>{f'<dt>a<dt>b<dd>{LONG}<dd><dl><dt><dd>' * 3}</dl></dl></dl></dl>Then.<dl><dt>{LONG}</dl>")
    for size in (1, 10, 100):
        assert "".join(passage.text for passage in PassageSplitter(size).split(page)) == page.text


@pytest.mark.parametrize(
    "hidden",
    [
        "<p style='color:red; DISPLAY : none'>secret</p>",
        "<span style='visibility:hidden'>secret</span>",
        "<span style='font-size:0'>secret</span>",
        "<span style='opacity: 0.0;'>secret</span>",
        "<div hidden>secret</div>",
        "<span class='icon sr-only'>secret</span>",
        "<dialog>secret</dialog>",
        "<template>secret</template>",
        "<select><option>secret</select>",
    ],
)
def test_hidden_text_is_not_read(hidden: str) -> None:
    assert read(f"<p>Before. {hidden} <p style='opacity:0.5;font-size:0.9em'>After.").text == "Before.\n\nAfter."


@pytest.mark.parametrize(
    "part",
    [
        "<div role=navigation>Home</div>",
        "<div class='navfooter'><a>Next</a></div>",
        "<ul class='docnav top'><li><a>Next</a></li></ul>",
        "<div role=contentinfo>Imprint</div>",
        "<div id=cookie-banner>We use cookies.</div>",
        "<section class='gdpr-consent'>We use cookies.</section>",
    ],
)
def test_the_parts_of_a_site_are_not_read(part: str) -> None:
    assert read(f"{part}<div><p>A river.</div>{part}").text == "A river."
    assert read(f"<p>{SENTENCE}<section id=module-http.cookies><p>Cookies are set.</section>").text.endswith("are set.")


def test_the_parts_of_an_article_are_content() -> None:
    inner = "<aside class=sidebar>A note.</aside><div class=footer>Ends here.</div>"
    assert read(f"<main><p>A river.</p>{inner}</main>").text == "A river.\n\nA note.\n\nEnds here."


def test_prose_beside_the_content_is_counted() -> None:
    beside = f"<aside><p>{SENTENCE}<p>Short.<ul><li><a href=x>{SENTENCE}</a></ul></aside>"
    assert read(f"<p>A river.</p>{beside}").metadata["dropped_blocks"] == "1"
    assert "dropped_blocks" not in read(article("")).metadata


@pytest.mark.parametrize(
    "title", ["<div class=titlepage><p class=title>Tides</p></div>", "<p class='sidebar-title'>Tides</p>"]
)
def test_a_sidebar_with_a_title_of_its_own_is_content(title: str) -> None:
    document = read(f"<body><p>{LONG}</p><div class=sidebar>{title}<p>The tide comes twice a day.</p></div></body>")
    assert document.text == f"{LONG}\n\nTides\n\nThe tide comes twice a day."
    assert "dropped_blocks" not in document.metadata


def test_the_number_of_a_line_of_code_stays_apart_from_its_code() -> None:
    code = "<span class=linenos> 1</span>@ IN SOA ns1.example.com.\n<span class=linenos> 2</span>$TTL 2d"
    document = read(f"<p>{LONG}</p><pre><span></span>{code}</pre>")
    assert document.text.endswith(" 1 @ IN SOA ns1.example.com.\n 2 $TTL 2d")


def test_the_main_element_is_read_alone_if_it_has_most_of_the_words() -> None:
    page = "<div>A list of other pages, which are on many things as well.</div><main><h1>Rivers</h1>{}</main>"
    large, small = read(page.format(SENTENCE)), read(page.format("."))
    assert large.text == f"Rivers\n\n{SENTENCE.strip()}"
    assert large.metadata["dropped_blocks"] == "1"
    assert small.text.startswith("A list of other pages")
    assert "dropped_blocks" not in small.metadata


@pytest.mark.parametrize(
    ("head", "date"),
    [
        ("<meta property='article:published_time' content='2024-05-17T10:00:00Z'>", "2024-05-17"),
        ("<meta name=DC.date content=2023-01-02>", "2023-01-02"),
        ('<script type="application/ld+json">{"datePublished": "2022-11-30"}</script>', "2022-11-30"),
        ("<time itemprop=datePublished datetime=2021-03-04>4 March</time>", "2021-03-04"),
        ("<meta name=date content='17 May'>", ""),
    ],
)
def test_the_date_of_publication(head: str, date: str) -> None:
    assert read(f"<head>{head}</head><p>Written in 2019.").metadata.get("date", "") == date


def test_cells_over_several_rows_and_columns() -> None:
    table = (
        "<table><tr><th>Port<th>Year<th>Visits<tr><td rowspan=2>Alder<td>2023<td>9<tr><td>2024<td>8"
        "<tr><td colspan=2>All<td>17</table>"
    )
    assert read(table).text == (
        "Port = Alder; Year = 2023; Visits = 9.\n\nPort = Alder; Year = 2024; Visits = 8.\n\nPort = All; Visits = 17."
    )


@pytest.mark.parametrize(
    "html",
    [
        "<p " + " ".join(f"a{number}=1" for number in range(60_000)) + ">Words.",
        "<p>" + "".join(f"<b style='x:{number}'>b</b>" for number in range(40_000)),
        "<div>" * 60_000 + "<p>Words." + "</div>" * 60_000,
        "<ul><li>Words." * 40_000,
        "<table><tr><td>Words." * 30_000,
        "<table>" + "<tr><td rowspan=99 colspan=99>Words." * 1000,
        '<a "' * 100_000 + "'>" + "Words.",
    ],
    ids=["attributes", "inline", "deep", "lists", "tables", "spans", "quotes"],
)
def test_hostile_pages_take_a_few_seconds(html: str) -> None:
    start = monotonic()
    with suppress(ReadError):
        assert len(read(html).text) < 4 * len(html)
    assert monotonic() - start < 10


def test_words_nested_too_deep_for_the_parser_are_kept() -> None:
    text = read("<script>x()</script><p>First." + "<span>" * 5000 + "Deep." + "</span>" * 5000 + "<p>Last.").text
    assert text == "First.\nDeep.\nLast." or text.split() == ["First.", "Deep.", "Last."]
