"""PDFs printed by Chromium and LibreOffice: every sentence is read whole, in order, and seen in its boxes."""

from __future__ import annotations

import pypdfium2
import pytest
from paths import REAL_FILES
from real_article import ABSTRACT, HEADINGS, SENTENCES, TITLE
from seen_words import letters, seen_in

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


def test_every_sentence_is_there_whole_and_in_order(document: Document) -> None:
    read = " ".join(document.text.split())
    places = [read.find(sentence) for sentence in (ABSTRACT, *SENTENCES)]
    lost = [words for words, place in zip((ABSTRACT, *SENTENCES), places, strict=True) if place < 0]
    assert lost == []
    assert places == sorted(places)
    assert document.title == TITLE


def test_the_headings_are_headings_of_what_stands_below_them(document: Document) -> None:
    told = [heading.span.of(document.text) for heading in document.headings]
    assert list(dict.fromkeys(told)) == [TITLE, *HEADINGS]  # pandoc writes a title twice
    each = len(SENTENCES) // len(HEADINGS)
    for passage in PassageSplitter().split(document):
        for number, sentence in enumerate(SENTENCES):
            if sentence in " ".join(passage.text.split()):
                assert passage.title == f"{TITLE} › {HEADINGS[number // each]}"


def test_every_sentence_is_seen_in_its_boxes_and_little_else_is(name: str, document: Document) -> None:
    pdf = pypdfium2.PdfDocument(FILES / name)
    checked = 0
    for passage in PassageSplitter().split(document):
        for sentence in passage.sentences:
            words, boxes = letters(sentence.span.of(passage.text)), passage.boxes_of(sentence.span)
            seen = letters("".join(seen_in(pdf, box) for box in boxes))
            assert words in seen
            assert len(seen) <= len(words) + 2 * longest_line(passage, boxes)  # of the lines where it begins and ends
            checked += 1
    assert checked > len(SENTENCES)


def test_a_word_that_a_line_parts_is_whole(document: Document) -> None:
    assert "consider-" not in document.text
    assert document.text.count("administration") == len(SENTENCES)


def longest_line(passage: Passage, boxes: tuple[Box, ...]) -> int:
    return max(len(letters(box.span.of(passage.text))) for box in boxes)
