"""A cited draft in its own file: Word gets comments, Markdown gets footnotes, and the words stay as they are."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime
from typing import Any

import docx
import pytest

from propcite.app.ingest.readers import document_from_bytes
from propcite.app.reviewing.citing import without_headings
from propcite.attribution.citations import CitedAnswer, Label
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats.reviewed.commented import to_commented_docx
from propcite.attribution.formats.reviewed.decisions import Choice, Decision
from propcite.attribution.formats.reviewed.footnoted import to_footnoted_markdown
from propcite.attribution.formats.reviewed.places import WordPlaces
from propcite.attribution.formats.wording import label_of
from propcite.attribution.propcite import PropCite
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.text import Heading, Span

SOURCES = [
    {"title": "Minutes", "text": "Heron Bridge opens to the public on 14 May 2025. It is 96 metres long."},
    {"title": "Timetable", "text": "The ferry crosses the estuary every 20 minutes."},
]
MARKDOWN = """---
title: Works
---
# The works

Heron Bridge **opens** to the [public](https://example.org/a_(b)) on 28 May 2025. It is *96 metres long*.[^1]

| What | How often |
|---|---|
| ferry | The ferry crosses the estuary every 20 minutes |

```
The ferry crosses the estuary every 20 minutes.
```

[^1]: A note of its own.
"""


@pytest.fixture(scope="module")
def propcite(encoder: Encoder) -> PropCite:
    return PropCite(encoder)


def word_file() -> bytes:
    """A draft as people write them: parts of words in bold, a link, a tab, a table, an older comment."""
    draft: Any = docx.Document()
    draft.add_heading("The works", 1)
    paragraph = draft.add_paragraph("Heron Bri")
    paragraph.add_run("dge opens").bold = True
    paragraph.add_run(" to the public on 28 May 2025.\tIt is 96 metres long.").italic = True
    draft.add_comment(paragraph.runs[1], "Which bridge?", "Zoe", "Z")
    table = draft.add_table(rows=1, cols=2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Ferry", "The ferry crosses the estuary every 20 minutes."
    draft.add_paragraph("The end <& all> of it was painted green.")
    saved = io.BytesIO()
    draft.save(saved)
    return saved.getvalue()


def looks(data: bytes) -> list[tuple[str, str, Any, Any]]:
    """Each character of a Word file's text with its look, for comparison."""
    document: Any = docx.Document(io.BytesIO(data))
    cells = [p for t in document.tables for row in t.rows for cell in row.cells for p in cell.paragraphs]
    return [
        (paragraph.style.name, letter, run.bold, run.italic)
        for paragraph in [*document.paragraphs, *cells]
        for run in paragraph.runs
        for letter in run.text
    ]


def commented(data: bytes) -> dict[str, str]:
    """What each comment is about, by its first line and text."""
    document: Any = docx.Document(io.BytesIO(data))
    xml = document.element.body.xml
    found = {}
    for comment in document.comments:
        number = comment.comment_id
        (inside,) = re.findall(
            rf'commentRangeStart w:id="{number}"/>(.*?)<w:commentRangeEnd w:id="{number}"', xml, re.S
        )
        found[comment.text] = "".join(re.findall(r"<w:t(?: [^>]*)?>([^<]*)<", inside))
    return found


def test_a_word_draft_keeps_its_words_and_gets_comments_at_the_facts(propcite: PropCite) -> None:
    data = word_file()
    answer = propcite.cite(document_from_bytes("draft.docx", data, "draft.docx").text, SOURCES)
    wrong = next(fact for fact in answer.facts if label_of(fact) is Label.CONTRADICTED)
    said = Decision(wrong.id, Choice.CHANGED, "It opens on 14 May.", "see the\nminutes", "ada", datetime.now(UTC))
    written = to_commented_docx(answer, {wrong.id: said}, data)
    assert looks(written) == looks(data)
    comments = commented(written)
    assert len(comments) == len(answer.facts) + 1
    assert comments.pop("Which bridge?") == "dge opens"
    by_words = {words: text for text, words in comments.items()}
    about = by_words["Heron Bridge opens to the public on 28 May 2025"]
    assert about.startswith("✗ Contradicted")
    assert "“Heron Bridge opens to the public on 14 May 2025.” (Minutes)" in about
    assert about.endswith("to: “It opens on 14 May.” Note: see the minutes")
    assert by_words["It is 96 metres long"].startswith("✓ Supported")
    (ferry,) = (text for words, text in by_words.items() if words.endswith("crosses the estuary every 20 minutes"))
    assert "(Timetable)" in ferry
    (newest,) = [c for c in docx.Document(io.BytesIO(written)).comments if c.text == about]
    assert newest.timestamp is not None
    assert said.at is not None
    assert newest.timestamp.date() == said.at.date()
    assert to_commented_docx(answer, {}, data, chosen=lambda fact: label_of(fact) is Label.CONTRADICTED)


def test_a_comment_names_its_statement_where_its_words_hold_another_one(propcite: PropCite) -> None:
    answer = propcite.cite("Heron Bridge opens on 14 May 2025 and is 69 metres long. The ferry crosses it.", SOURCES)
    assert [cited.proposition.text for cited in answer.facts][:2] == [
        "Heron Bridge opens on 14 May 2025.",
        "Heron Bridge is 69 metres long.",
    ]
    document: Any = docx.Document(io.BytesIO(to_commented_docx(answer, {})))
    opens, long, ferry = [comment.text.split("\n")[0] for comment in document.comments]
    assert long == "About “Heron Bridge is 69 metres long.”"
    assert opens.startswith("✓ Supported")
    assert not ferry.startswith("About")


def test_only_chosen_facts_get_comments(propcite: PropCite) -> None:
    answer = propcite.cite("The ferry crosses the estuary every 20 minutes. It is made of gold.", SOURCES)
    written = to_commented_docx(answer, {}, chosen=lambda fact: not fact.citations)
    assert list(commented(written).values()) == ["It is made of gold"]


def test_a_text_without_a_word_file_becomes_one_with_its_headings(propcite: PropCite) -> None:
    text = "The works\n\nThe ferry crosses the estuary every 20 minutes.\x00"
    answer = propcite.cite(text, SOURCES)
    document: Any = docx.Document(io.BytesIO(to_commented_docx(answer, {}, headings=(Heading(Span(0, 9), 1),))))
    assert [paragraph.style.name for paragraph in document.paragraphs] == ["Heading 1", "Normal"]
    assert len(document.comments) == len(answer.facts)


def test_the_words_of_an_overlined_heading_get_its_style() -> None:
    text = "=========\nThe works\n=========\n\nIt rained."
    document: Any = docx.Document(
        io.BytesIO(to_commented_docx(CitedAnswer(text), {}, headings=(Heading(Span(0, 29), 1),)))
    )
    assert [p.text for p in document.paragraphs if p.style.name == "Heading 1"] == ["The works"]


def test_a_file_that_is_no_word_document_gets_one_line() -> None:
    with pytest.raises(AttributionError, match="take Markdown"):
        to_commented_docx(CitedAnswer("It rained."), {}, b"PK no")


def test_a_markdown_draft_keeps_its_source_and_gets_footnotes(propcite: PropCite) -> None:
    answer = propcite.cite(document_from_bytes("draft.md", MARKDOWN.encode(), "draft.md").text, SOURCES)
    written = to_footnoted_markdown(answer, {}, MARKDOWN)
    without = re.sub(r"\n\n(?:\[\^fact-\d+\]: .*\n?)+\Z", "\n", re.sub(r"\[\^fact-\d+\](?!:)", "", written))
    assert without.replace("```\n\n\n", "```\n\n").strip() == MARKDOWN.strip()
    assert re.search(r"on 28 May 2025\.\[\^fact-\d+\] It is \*96 metres long\*\.\[\^fact-\d+\]\[\^1\]", written)
    assert re.search(r"^\[\^1\]: A note of its own\.\[\^fact-\d+\]$", written, re.M)
    assert "\n```\nThe ferry crosses the estuary every 20 minutes.\n```\n" in written
    notes = re.findall(r"^\[\^fact-(\d+)\]: (.*)$", written, re.M)
    assert len(notes) == len(answer.facts)
    assert any("✗ Contradicted" in note and "14 May 2025" in note for _, note in notes)


def test_a_text_is_written_as_markdown_that_shows_as_it_is(propcite: PropCite) -> None:
    answer = propcite.cite("# no heading <b> \n\nThe ferry crosses the estuary every 20 minutes.", SOURCES)
    written = to_footnoted_markdown(answer, {})
    assert written.startswith("\\# no heading \\<b\\>")
    assert "every 20 minutes.[^fact-" in written


def test_the_headings_of_a_text_are_headings_in_markdown(propcite: PropCite) -> None:
    text = "The *works*\n\nThe ferry crosses the estuary every 20 minutes.\nIt is # red.\n\nCosts\nIt cost much."
    costs = text.index("Costs")
    headings = (Heading(Span(costs, costs + 5), 9), Heading(Span(0, 11), 1))
    written = to_footnoted_markdown(without_headings(propcite.cite(text, SOURCES), headings), {}, headings=headings)
    blocks = re.sub(r"\[\^fact-\d+\](?!:)", "", written).split("\n\n")
    assert blocks[:4] == [
        "# The \\*works\\*",
        "The ferry crosses the estuary every 20 minutes.\\\nIt is \\# red.",
        "###### Costs",
        "It cost much.",
    ]
    assert "every 20 minutes.[^fact-1]" in written


def test_words_are_where_they_come_next() -> None:
    places = WordPlaces("It is high. It is wide. It is high.")
    assert places.find("It is high", after=5) == Span(24, 34)
    assert places.find("It is wide", after=30) == Span(12, 22)
    assert places.find("It is deep and dark and cold") is None
    assert places.find("…") is None
