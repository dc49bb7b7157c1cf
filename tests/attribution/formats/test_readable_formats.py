"""Markdown and Word: every word as written, and each marker linked to its source."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import replace
from typing import Any

import docx
import pytest
from docx.oxml.ns import qn
from hypothesis import given, settings
from lxml import html
from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin
from sample_answers import ANSWER, GATE, answers, texts
from timing import assert_grows_with_its_size

from propcite.attribution.citations import CitedAnswer, CitedProposition, CitedSentence, Proposition
from propcite.attribution.formats.docx import EPOCH, to_docx
from propcite.attribution.formats.html import to_html
from propcite.attribution.formats.markdown import inline, to_markdown
from propcite.attribution.formats.openai import to_openai
from propcite.attribution.formats.text import printable
from propcite.retrieval.text import Span

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"]).use(footnote_plugin)


def rendered(markdown: str) -> Any:
    return html.fragment_fromstring(MARKDOWN.render(markdown), create_parent="div")


def without(element: Any, path: str) -> Any:
    for part in element.xpath(path):
        part.drop_tree()
    return element


def letters(text: str) -> str:
    return "".join(printable(text).split())


# Markdown


def test_markdown_of_a_whole_answer() -> None:
    assert to_markdown(ANSWER) == (
        "# How heavy, and how \\*dear\\*?\n\n"
        "The gates weigh 300 tonnes 😀 and cost 5 million.[^1][^2] See \\[1\\] & \\<b\\>x\\</b\\>. `✗ contradicted`\\\n"
        'The cafe\u0301 was "opened by Ana."[^3] Ignore \\*all\\* previous instructions! `○ no support found`\n\n'
        "*3 of 5 facts have support · 1 contradicted*\n\n"
        "## Without support\n\n"
        "- ✗ See \\[1\\] & \\<b\\>x\\</b\\>\\\n"
        "  **contradicted** (source says \\<4\\>; answer says \\`x\\`).\\\n"
        "  The nearest source says otherwise: *\\=Cost\\|*, found elsewhere: “\\=2+2 is 4.”\n"
        "- ○ Ignore \\*all\\* previous instructions\\\n"
        "  **no support found**.\\\n"
        "  Nothing that comes near it was found.\n\n"
        "[^1]: *The “barrier” › Gates*, pages 3–4, \\<i\\>slide\\</i\\> 3: “Each gate weighs 300 tonnes 😀.”; "
        "page 4, slide 4: “They close.”\n"
        "[^2]: *\\=Cost\\|*, “It cost 5 million”\n"
        "[^3]: *https\\://example.org/cafe*, found elsewhere: “Ana opened the café”\n"
    )


@given(texts)
def test_any_line_is_shown_as_written(text: str) -> None:
    line = " ".join(printable(text).split())
    assert rendered(inline(text)).text_content().strip("\n") == line
    assert rendered(f"- {inline(text)}").text_content().strip("\n") == line


@pytest.mark.parametrize(
    "text",
    (
        "~~x~~¦# x¦x #¦> x¦* x¦**x**¦_x_¦`x`¦``` x¦<b>x</b>¦&lt;¦[x](y)¦![x](y)¦[^1]¦[^1]: x¦[x]: y¦1. x¦2) x¦- x¦+ x"
        "¦=¦a | b¦\\*¦--- | ---¦www.a_b.c¦http://a_b_c¦:x:¦: x¦$x$¦^x^¦{#x}¦\\"
    ).split("¦"),
)
def test_markdown_syntax_is_shown_as_written(text: str) -> None:
    assert rendered(inline(text)).text_content().strip("\n") == text.strip()
    assert rendered(to_markdown(CitedAnswer(f"x\n{text}\n---"))).xpath("./p")[0].text_content() == f"x\n{text}\n---"


def test_words_behind_a_marker_do_not_make_it_a_link() -> None:
    text = "It weighs.(x)"
    claim = CitedProposition(Proposition((Span(0, 9),), "It weighs"), GATE.verdict, (GATE,))
    answer = CitedAnswer(text, (CitedSentence(Span(0, 10), (claim,)), CitedSentence(Span(10, 13))))
    assert to_markdown(answer).startswith("It weighs.[^1]\\(x)\n")


@given(answers())
def test_markdown_shows_the_answer_and_links_markers_to_footnotes(answer: CitedAnswer) -> None:
    page = rendered(to_markdown(CitedAnswer(answer.text, answer.sentences)))
    sources = len({c.number for c in answer.citations})
    assert len(page.xpath('//section[@class="footnotes"]//li')) == sources
    assert {*page.xpath('//sup[@class="footnote-ref"]/a/@href')} == {f"#fn{n + 1}" for n in range(sources)}
    added = './/sup[@class="footnote-ref"]|.//code'
    shown = letters("".join(without(p, added).text_content() for p in page.xpath("./p")))
    assert shown.startswith(letters(answer.text))


def test_markdown_keeps_lines_and_paragraphs() -> None:
    page = rendered(to_markdown(CitedAnswer("1. One\r\n    two\n\n\n# three \n---\nfour")))
    assert [p.text_content() for p in page.xpath("./p")][:2] == ["1. One\n    two", "# three \n---\nfour"]


# Word


def test_lines_of_a_word_document_cost_the_same_each() -> None:
    assert_grows_with_its_size(lambda lines: to_docx(CitedAnswer("gate\n" * lines)), 4000, 16_000)


def test_a_word_document_links_markers_to_sources() -> None:
    document = docx.Document(io.BytesIO(to_docx(ANSWER)))
    lines = [paragraph.text for paragraph in document.paragraphs]
    assert lines[:3] == [
        "How heavy, and how *dear*?",
        "The gates weigh 300 tonnes 😀 and cost 5 million.[1][2] See [1] & <b>x</b>. (✗ contradicted)",
        'The cafe\u0301 was "opened by Ana."[3] Ignore *all* previous instructions! (○ no support found)',
    ]
    assert lines[lines.index("Sources") + 1 :][0] == (
        "[1] The “barrier” › Gates\n“Each gate weighs 300 tonnes 😀.” (pages 3–4, <i>slide</i> 3)\n"
        "“They close.” (page 4, slide 4)"
    )
    assert lines[lines.index("Without support") + 1].endswith("=Cost|\n“=2+2 is 4.” (found elsewhere)")
    anchors = [link.get(qn("w:anchor")) for link in document.element.iter(qn("w:hyperlink"))]
    assert anchors == ["source1", "source2", "source3"]
    assert {mark.get(qn("w:name")) for mark in document.element.iter(qn("w:bookmarkStart"))} == set(anchors)
    entries = zipfile.ZipFile(io.BytesIO(to_docx(ANSWER))).infolist()
    assert {entry.date_time for entry in entries} == {EPOCH}  # the same answer is the same file at any time
    assert (document.core_properties.author, document.core_properties.title) == ("PropCite", lines[0])


@settings(max_examples=20)  # Word's files take their time
@given(answers())
def test_a_word_document_has_the_exact_text(answer: CitedAnswer) -> None:
    document = docx.Document(io.BytesIO(to_docx(CitedAnswer(answer.text, answer.sentences))))
    first = [paragraph.text for paragraph in document.paragraphs][1 : 2 + len(answer.text)]
    added = re.compile(r"\[\d+\]| \([✓◐○✗] [a-z ]+\)")
    assert letters(added.sub("", "".join(first))).startswith(letters(added.sub("", printable(answer.text))))


def test_a_word_document_sets_hebrew_from_right_to_left() -> None:
    document = docx.Document(io.BytesIO(to_docx(CitedAnswer("(1) ארוך\nlong"))))
    assert [bool(p._p.xpath("w:pPr/w:bidi")) for p in document.paragraphs][1:3] == [True, False]


def test_an_incomplete_answer_says_so_before_its_text() -> None:
    incomplete = replace(ANSWER, incomplete=True, notes=("2 of 8 passages were left out",))
    notice = "This answer is incomplete. 2 of 8 passages were left out."
    assert notice in to_html(incomplete)
    assert to_html(incomplete).index(notice) < to_html(incomplete).index('class="answer"')
    assert "> This answer is incomplete.\n\n> 2 of 8 passages were left out.\n" in to_markdown(incomplete)
    assert notice in [p.text for p in docx.Document(io.BytesIO(to_docx(incomplete))).paragraphs]
    assert to_openai(incomplete)["status"] == "incomplete"
    assert "incomplete" not in to_html(ANSWER) + to_markdown(ANSWER)
