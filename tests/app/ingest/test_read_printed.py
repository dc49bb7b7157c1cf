"""PDFs printed by Chromium and LibreOffice: all sentences are read whole and in order, with correct boxes."""

from __future__ import annotations

import pypdfium2
import pytest
from paths import REAL_FILES
from pdf_words import letters, text_in_box
from real_article import ABSTRACT, HEADINGS, SENTENCES, TITLE

from propcite.app.ingest.readers import read_document
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Box, Document, Passage

FILES = REAL_FILES
PRINTED = ("article-1-chromium.pdf", "article-2-chromium.pdf", "article-libreoffice.pdf")


@pytest.fixture(params=PRINTED)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def document(name: str) -> Document:
    return read_document(FILES / name)


def test_every_sentence_is_read_whole_and_in_order(document: Document) -> None:
    text = " ".join(document.text.split())
    places = [text.find(sentence) for sentence in (ABSTRACT, *SENTENCES)]
    missing = [words for words, place in zip((ABSTRACT, *SENTENCES), places, strict=True) if place < 0]
    assert missing == []
    assert places == sorted(places)
    assert document.title == TITLE


def test_passages_have_the_headings_above_them_as_titles(document: Document) -> None:
    titles = [heading.span.of(document.text) for heading in document.headings]
    assert list(dict.fromkeys(titles)) == [TITLE, *HEADINGS]  # pandoc writes a title twice
    each = len(SENTENCES) // len(HEADINGS)
    for passage in PassageSplitter().split(document):
        for number, sentence in enumerate(SENTENCES):
            if sentence in " ".join(passage.text.split()):
                assert passage.title == f"{TITLE} › {HEADINGS[number // each]}"


def test_every_sentence_is_in_its_boxes_and_little_else_is(name: str, document: Document) -> None:
    pdf = pypdfium2.PdfDocument(FILES / name)
    checked = 0
    for passage in PassageSplitter().split(document):
        for sentence in passage.sentences:
            words, boxes = letters(sentence.span.of(passage.text)), passage.boxes_of(sentence.span)
            inside = letters("".join(text_in_box(pdf, box) for box in boxes))
            assert words in inside
            # A box is of a whole line: that where the sentence begins, and that where it ends, have other words too.
            assert len(inside) <= len(words) + 2 * longest_line(passage, boxes)
            checked += 1
    assert checked > len(SENTENCES)


def test_words_hyphenated_at_line_ends_are_whole(document: Document) -> None:
    assert "consider-" not in document.text
    assert document.text.count("administration") == len(SENTENCES)


def longest_line(passage: Passage, boxes: tuple[Box, ...]) -> int:
    return max(len(letters(box.span.of(passage.text))) for box in boxes)
