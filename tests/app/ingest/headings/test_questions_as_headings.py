"""A question that is answered below it is a heading of the answer's passages, in documents of every kind."""

from __future__ import annotations

import pytest

from propcite.app.ingest.readers import document_from_bytes
from propcite.app.overview.summary import overview_of
from propcite.retrieval.splitter import PassageSplitter, heading_words
from propcite.retrieval.text import Document

ASKED = ("Who opens the gate?", "When is the gate opened?", "How wide is the old mill?")
ANSWER = (
    "The keeper of the northern gate does so at low tide, and it takes him an hour or two on most days of the year."
)


def read(text: str, name: str = "faq.txt") -> Document:
    return document_from_bytes(name, text.encode(), "")


def questions(document: Document) -> list[str]:
    return [heading_words(h.span.of(document.text)) for h in document.headings if h.until is not None]


def titles(document: Document) -> list[str]:
    return [passage.title for passage in PassageSplitter(30).split(document)]


@pytest.mark.parametrize(
    ("name", "form", "asked"),
    [
        ("faq.txt", "{q}\n\n{a}\n\n", "{q}"),
        ("faq.txt", "({n}) {q}\n\n{a}\n\n", "({n}) {q}"),
        ("faq.txt", "Q: {q}\n\n{a}\n\n", "Q: {q}"),
        ("faq.txt", "**{q}**\n\n{a}\n\n", "{q}"),
        ("faq.md", "**{q}**\n\n{a}\n\n", "{q}"),
        ("faq.md", "  * **2.{n} {q}**\n\n  {a}\n\n", "2.{n} {q}"),
        ("faq.md", "* **{q}**\n\n    {a}\n\n", "{q}"),
        ("faq.html", "<p><b>({n}) {q}</b></p><blockquote>{a}</blockquote>", "({n}) {q}"),
    ],
)
def test_an_answer_knows_its_question(name: str, form: str, asked: str) -> None:
    document = read("".join(form.format(q=q, n=n, a=ANSWER) for n, q in enumerate(ASKED, 1)), name)
    expected = [asked.format(q=q, n=n) for n, q in enumerate(ASKED, 1)]
    assert questions(document) == expected
    assert titles(document) == [f"faq › {question}" for question in expected]
    assert all(heading.level > 6 for heading in document.headings)
    assert overview_of(PassageSplitter().split(document), document.headings).outline == ()


def test_an_answer_ends_at_the_next_heading() -> None:
    text = "".join(f"{question}\n\n{ANSWER}\n\n" for question in ASKED)
    document = read(f"# Gates\n\n{text}# Mills\n\n{ANSWER}\n", "faq.md")
    assert titles(document) == [*(f"Gates › {question}" for question in ASKED), "Gates › Mills"]


def test_numbered_titles_between_questions_are_headings_too() -> None:
    asked = (*ASKED, "The mill does not turn!", "Where is it?")
    document = read("".join(f"{n}. {words}\n\n{ANSWER}\n\n" for n, words in enumerate(asked, 1)), "faq.html")
    assert questions(document) == []  # one paragraph, as a browser shows it
    html = "".join(f"<p>(1.{n}) {words}</p><p>{ANSWER}</p>" for n, words in enumerate(asked, 1))
    assert questions(read(html, "faq.html")) == [f"(1.{n}) {words}" for n, words in enumerate(asked, 1)]


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"{question}\n\n{ANSWER}\n\n" for question in ASKED[:2]),
        "".join(f"{question}\n\n" for question in ASKED * 2),
        "".join(f"- {question}\n" for question in ASKED * 2) + f"\n{ANSWER}\n",
        "".join(f"- {question}\n- Nobody knows.\n" for question in ASKED),
        "".join(f"* {question}\n\n" for question in ASKED) + f"* {ANSWER}\n",
        "".join(f"{question} {ANSWER}\n\n" for question in ASKED),
        "".join(f"“{question}”\n\n“{ANSWER}”\n\n" for question in ASKED),
        "".join(f"The water comes back. {question}\n\n{ANSWER}\n\n" for question in ASKED),
        "".join(f"{question}\n\n" + f"{ANSWER}\n\n" * 50 for question in ASKED),
    ],
    ids="two list bullets items paragraphs prose speech sentences far-apart".split(),
)
@pytest.mark.parametrize("name", ["faq.txt", "faq.md"])
def test_other_questions_are_none(text: str, name: str) -> None:
    assert questions(read(text, name)) == []


def test_a_quoted_question_of_plain_text_is_none() -> None:
    assert questions(read("".join(f"> {question}\n\n{ANSWER}\n\n" for question in ASKED))) == []


def test_contents_before_the_questions_are_none() -> None:
    contents = "".join(f"({n}) {question}\n\n" for n, question in enumerate(ASKED, 1))
    asked = "".join(f"({n}) {question}\n\n{ANSWER}\n\n" for n, question in enumerate(ASKED, 1))
    assert len(questions(read(contents + asked))) == len(ASKED)


def test_mail_keeps_its_questions_in_its_text() -> None:
    text = "".join(f"{question}\n\n{ANSWER}\n\n" for question in ASKED)
    assert questions(read(f"From: ann@x.org\nSubject: Gates\n\n{text}", "gates.eml")) == []
