"""The page's HTML: every text as it was, every mark on the words it means, and nothing that a document could start."""

import html
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.attribution.citations import (
    Citation,
    CitedAnswer,
    CitedProposition,
    CitedSentence,
    Evidence,
    Label,
    Proposition,
    Verdict,
)
from propcite.attribution.citing.unread import with_unread
from propcite.attribution.events import SentenceCited, TextDelta
from propcite.attribution.formats.wording import counts_line, coverage_line
from propcite.attribution.judges import NOT_JUDGED
from propcite.retrieval.text import Box, Granularity, Hit, Page, Passage, Sentence, Span
from propcite.ui import render, words
from propcite.ui.asking.words import covered_line, shares
from propcite.ui.markdown import growing, plain
from propcite.ui.sources import View

ADDED = re.compile(r"<button.*?</button>", re.DOTALL)  # markers and notes: the page's own words
TAG = re.compile(r"<[^>]*>")

SOURCE = "Opening\n\nThe bridge opens on 14 May 2025. It is 96 metres long. Boats pass below.\n"
PASSAGE = Passage(
    "p1",
    SOURCE,
    title="Minutes › Bridge",
    document_id="d1",
    sentences=(
        Sentence(Span(0, 9), is_heading=True),
        Sentence(Span(9, 43)),
        Sentence(Span(43, 66)),
        Sentence(Span(66, 85)),
    ),
    pages=(Page(3, Span(0, 50)), Page(4, Span(51, 85))),
)
ANSWER_TEXT = "The bridge opens on 21 May 2025. It is 96 metres long & safe. Thanks!"


def evidence(quote: str, passage: Passage = PASSAGE) -> Evidence:
    start = passage.text.index(quote)
    return Evidence(passage, Span(start, start + len(quote)), 0.9, 0.8)


def fact(text: str, parts: Sequence[str], **found: Any) -> CitedProposition:
    spans = tuple(Span(text.index(w), text.index(w) + len(w)) for w in parts)
    label = found.pop("label", Label.SUPPORTED)
    verdict = Verdict(label, 0.93, str(found.pop("reason", "")))
    return CitedProposition(Proposition(spans, " ".join(parts)), verdict, **found)


@pytest.fixture
def answer() -> CitedAnswer:
    text = ANSWER_TEXT
    wrong = fact(
        text,
        ["The bridge opens on 21 May 2025."],
        label=Label.CONTRADICTED,
        reason="source says 14 May; answer says 21 May",
        nearest=evidence("The bridge opens on 14 May 2025."),
    )
    support = Citation(1, evidence("It is 96 metres long."), Verdict(Label.SUPPORTED, 0.93))
    long = fact(text, ["It is 96 metres long"], citations=(support,))
    safe = fact(text, ["It is", "safe"], label=Label.UNSUPPORTED)
    thanks = CitedProposition(Proposition((Span(62, 69),), "Thanks!", check_worthy=False), None)
    sentences = (
        CitedSentence(Span(0, 32), (wrong,)),
        CitedSentence(Span(33, 61), (long, safe)),
        CitedSentence(Span(62, 69), (thanks,)),
    )
    return CitedAnswer(text, sentences, question="When?")


def read(markup: str) -> str:
    """The text that a reader of this HTML sees, without what the page adds."""
    return html.unescape(TAG.sub("", ADDED.sub("", markup)))


def elements(markup: str, pattern: str) -> list[str]:
    return [html.unescape(TAG.sub("", found)) for found in re.findall(pattern, markup, re.DOTALL)]


def test_the_answer_reads_as_it_was_written(answer: CitedAnswer) -> None:
    assert read(render.answer_html(answer)) == ANSWER_TEXT


def test_marker_stands_behind_its_sentence_and_names_its_source(answer: CitedAnswer) -> None:
    markup = render.answer_html(answer)
    assert elements(markup, r'<button[^>]*class="marker".*?</button>') == ["[1]"]
    assert 'data-facts="1" aria-label="Citation 1: Minutes › Bridge"' in markup
    assert markup.index("safe") < markup.index("[1]") < markup.index("Thanks!")


def test_what_has_no_support_is_said_behind_it(answer: CitedAnswer) -> None:
    notes = elements(render.answer_html(answer), r'<button[^>]*class="note.*?</button>')
    assert notes == ["✗ contradicted", "○ no support found"]


def test_words_of_several_facts_know_them_all(answer: CitedAnswer) -> None:
    markup = render.answer_html(answer)
    shared = re.search(r'<span class="([^"]*)"[^>]*data-facts="1 2">It is</span>', markup)
    assert shared
    assert shared[1] == "fact"  # one of the two is cited, so it is not dotted
    assert re.search(r'class="fact uncited"[^>]*data-facts="2">safe<', markup)


def test_what_needs_no_support_cannot_be_chosen(answer: CitedAnswer) -> None:
    assert "> Thanks!" in render.answer_html(answer)
    assert [f.number for f in words.facts(answer)] == [0, 1, 2]
    assert set(render.payload(answer, {}, 1)["evidence"]) == {"0", "1", "2"}


def test_coverage_is_said_in_words(answer: CitedAnswer) -> None:
    assert words.support_line(answer) == "1 of 3 statements supported by a source · 1 contradicted"
    assert words.support_line(CitedAnswer("Hello")) == "Nothing here needs a source"


def test_how_often_supported_is_right_is_said_where_something_is(answer: CitedAnswer) -> None:
    trust = {"judge_trust": "“supported” is right in 8 of 10 cases (20 labelled claims of 2 sources)"}
    known = replace(answer, models=trust)
    assert words.support_line(known).endswith(" · “supported” is right in 8 of 10 cases")
    assert coverage_line(known).endswith(trust["judge_trust"])
    without = [replace(fact, citations=()) for fact in answer.propositions if fact.proposition.check_worthy]
    doubtful = CitedAnswer(answer.text, (CitedSentence(Span(0, len(answer.text)), tuple(without)),), models=trust)
    assert "right in" not in words.support_line(doubtful) + coverage_line(doubtful)


def test_the_marked_words_are_the_quote(answer: CitedAnswer) -> None:
    cited = answer.propositions[1]
    markup = render.evidence_html(cited, {"d1": "/papers/minutes.pdf"})
    assert elements(markup, r'<mark class="cited">.*?</mark>') == [cited.citations[0].quote]
    assert "minutes.pdf · pages 3–4" in markup
    assert elements(markup, r'<span class="badge supported">.*?</span> Supported</span>') == ["✓ Supported"]


def test_a_fact_that_no_judge_has_read_says_so_and_nothing_of_how_sure_it_is(answer: CitedAnswer) -> None:
    near = replace(answer.propositions[0], verdict=Verdict(Label.UNCHECKED, 0.0, f"{NOT_JUDGED}the server is silent"))
    markup = render.evidence_html(near, {})
    assert "Not checked" in elements(markup, r'<span class="badge unchecked">.*?</span> Not checked</span>')[0]
    assert "Not checked: the server is silent." in markup
    assert "The nearest source, with which it was not compared" in markup
    assert "sure" not in markup
    unread = with_unread(CitedAnswer("It is 96 metres long. It is safe and"))
    assert counts_line(unread, "statements supported") == "0 of 2 statements supported · 2 not checked"
    assert covered_line(shares(unread)) == "Nothing in it was checked"
    assert "No source was compared with it." in render.evidence_html(unread.facts[0], {})


def test_a_near_miss_gives_the_reason_and_its_words(answer: CitedAnswer) -> None:
    markup = render.evidence_html(answer.propositions[0], {})
    assert "Source says 14 May; answer says 21 May." in markup
    assert elements(markup, r'<mark class="cited">.*?</mark>') == ["The bridge opens on 14 May 2025."]
    assert "no longer in the library · page 3" in markup
    assert "Nothing that comes near it was found." in render.evidence_html(answer.propositions[2], {})


def test_a_passage_reads_as_in_its_source() -> None:
    markup = render.passage_html(PASSAGE, [evidence("96 metres").span, evidence("Boats").span])
    assert read(markup) == SOURCE.strip()
    assert elements(markup, r"<mark.*?</mark>") == ["96 metres", "Boats"]
    assert elements(markup, r'<span class="heading">.*?</span>') == ["Opening"]


def test_in_a_cited_sentence_the_clause_that_states_the_fact_is_underlined() -> None:
    text = "The bridge is 96 metres long, and it carries walkers only."
    passage = Passage("p", text, title="t")
    fact = Proposition((Span(0, 3),), "Heron Bridge carries walkers.")
    evidence_ = Evidence(passage, Span(0, len(text)), 0.9, 0.9)
    cited = CitedProposition(fact, Verdict(Label.SUPPORTED, 1), (Citation(1, evidence_, Verdict(Label.SUPPORTED, 1)),))
    markup = render.evidence_html(cited, {})
    assert elements(markup, r'(?<=<span class="stated">).*?(?=</span>)') == ["it carries walkers only"]
    assert elements(markup, r"<mark.*?</mark>") == [text]


def test_hits_mark_the_unit_and_leave_a_whole_passage_plain() -> None:
    sentence = Hit(PASSAGE, Granularity.SENTENCE, (evidence("It is 96 metres long.").span,), 0.9, 0.8)
    whole = Hit(PASSAGE, Granularity.PASSAGE, (Span(0, len(SOURCE)).trimmed(SOURCE),), 0.9, 0.9)
    assert elements(render.hits_html([sentence], {}), r"<mark.*?</mark>") == ["It is 96 metres long."]
    assert "<mark" not in render.hits_html([whole], {})


TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=80)


@st.composite
def answers(draw: st.DrawFn) -> CitedAnswer:
    """Any text, cut into sentences anywhere, with facts of any spans, overlapping as they like."""
    text = draw(TEXTS)
    places = st.integers(0, len(text))
    cuts = sorted({0, len(text), *draw(st.lists(places, max_size=3))})
    sentences = []
    for start, end in pairwise(cuts):
        inside = st.tuples(st.integers(start, end), st.integers(start, end)).map(lambda ends: Span(*sorted(ends)))
        facts = []
        for spans in draw(st.lists(st.lists(inside, max_size=3), max_size=3)):
            passage = replace(PASSAGE, title=draw(TEXTS))
            citation = Citation(draw(st.integers(1, 3)), evidence("Boats", passage), Verdict(Label.SUPPORTED, 0.9))
            citations = (citation,) if draw(st.booleans()) else ()
            verdict = Verdict(draw(st.sampled_from(Label)), 0.5, draw(TEXTS))
            proposition = Proposition(tuple(spans), draw(TEXTS), draw(st.booleans()))
            facts.append(CitedProposition(proposition, verdict, citations))
        sentences.append(CitedSentence(Span(start, end), tuple(facts)))
    return CitedAnswer(text, tuple(sentences))


@given(answers())
def test_any_answer_reads_as_it_was_written(answer: CitedAnswer) -> None:
    assert read(render.answer_html(answer)) == answer.text


@given(TEXTS, st.data())
def test_any_marked_words_are_the_quote(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    span = Span(start, data.draw(st.integers(start, len(text))))
    markup = render.passage_html(Passage("p", text), [span])
    assert "".join(elements(markup, r'(?<=<mark class="cited">).*?(?=</mark>)')) == span.of(text)


class Outline(HTMLParser):
    """The tags and attributes that a browser would see."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.places: list[str] = []  # that something is fetched from, or leads to
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.places += [value or "" for name, value in attrs if name in ("href", "src", "data-src")]
        if tag == "iframe":
            assert ("sandbox", "") in attrs


ATTACKS = [
    "<script>alert(1)</script>",
    "</span></button><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    '" onfocus="alert(1)" autofocus="',
    '<a href="javascript:alert(1)">click</a>',
    "[click](javascript:alert(1))",
    "![pixel](https://example.org/pixel.png)",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<style>*{display:none}</style>",
    "</blockquote><base href=//example.org>",
    "<!-- --!><script>alert(1)</script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "${alert(1)} {{alert(1)}}",
]
OWN_TAGS = {"span", "button", "header", "nav", "p", "section", "h3", "blockquote", "mark"}
OWN_TAGS |= {"details", "summary", "figure", "div", "img", "iframe", "a"}
OWN_ATTRIBUTES = {
    "class",
    "role",
    "tabindex",
    "aria-pressed",
    "aria-hidden",
    "aria-label",
    "data-facts",
    "data-copy",
    "data-step",
    "data-src",
    "title",
    "type",
    *("alt", "href", "target", "rel", "open", "loading", "sandbox", "style"),
}


@pytest.mark.parametrize("view", [None, View("", True), View("pdf", True), View("html", False)])
@pytest.mark.parametrize("attack", ATTACKS)
def test_what_a_document_or_an_answer_says_starts_nothing(attack: str, view: View | None) -> None:
    text = f"{attack} is what it says."
    box = Box(1, Span(0, len(text)), 0.1, 0.1, 0.9, 0.2)
    passage = Passage("p", text, title=f"{attack} › {attack}", document_id=attack, boxes=(box,))
    near = Evidence(passage, Span(0, len(attack)), 0.5, 0.5)
    proposition = Proposition((Span(0, len(attack)),), attack)
    cited = CitedProposition(
        proposition, Verdict(Label.SUPPORTED, 1, attack), (Citation(1, near, Verdict(Label.SUPPORTED, 1)),)
    )
    uncited = CitedProposition(proposition, Verdict(Label.CONTRADICTED, 0, attack), (), near)
    answer = CitedAnswer(text, (CitedSentence(Span(0, len(text)), (cited, uncited)),), question=attack)
    payload = render.payload(answer, {attack: attack}, 0, {attack: view} if view else {})
    hit = Hit(passage, Granularity.SENTENCE, (near.span,), 1, 1)
    for markup in (payload["answer"], *payload["evidence"].values(), render.hits_html([hit], {attack: attack})):
        outline = Outline(markup)
        assert outline.tags <= OWN_TAGS
        assert outline.attributes <= OWN_ATTRIBUTES
        assert all(re.match(r"source/[\w%.~-]+/(page|reading|file)", place) for place in outline.places)
    assert read(payload["answer"]) == text


@pytest.mark.parametrize(
    "attack", [*ATTACKS, "**bold** `code` :red[x] $x$ # heading", "- list\n1. item", "a_b_c ~~no~~"]
)
def test_plain_markdown_shows_the_text_and_nothing_else(attack: str) -> None:
    from markdown_it import MarkdownIt

    inline = MarkdownIt("commonmark").parseInline(plain(attack))[0].children or []
    assert {token.type for token in inline} <= {"text", "text_special"}
    assert "".join(token.content for token in inline) == " ".join(attack.split())


def test_a_file_is_named_as_its_owner_knows_it() -> None:
    names = [words.file_name(source) for source in ("/a/b c.pdf", "C:\\a\\b.pdf", "b.pdf", "a/b/")]
    assert names == ["b c.pdf", "b.pdf", "b.pdf", "a/b"]


def test_an_answer_grows_with_its_markers_and_shows_just_its_text() -> None:
    sentence = CitedSentence(Span(0, 10))
    events = [
        TextDelta("It *rains."),
        TextDelta(" <b>It"),
        SentenceCited(sentence, "It *rains."),
        TextDelta(" is.\nEnd"),
    ]
    shown = list(growing(events))
    assert shown[0] == "It \\*rains\\."
    assert shown[-1] == "It \\*rains\\. \\<b\\>It is\\.\n\nEnd"
