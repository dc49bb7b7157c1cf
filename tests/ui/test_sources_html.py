"""Where evidence is shown in its document, and what else comes near a fact, as HTML."""

from __future__ import annotations

import re
from dataclasses import replace

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
from propcite.attribution.citing.alternatives import Alternative
from propcite.retrieval.text import Box, Granularity, Hit, Page, Passage, Span
from propcite.ui import render
from propcite.ui.alternatives import near_html
from propcite.ui.sources import View, open_html, original_html
from propcite.ui.words import copied_text, reference

TEXT = "The bridge opens on 14 May. It is 96 metres long. Boats pass below."
FIRST, SECOND, THIRD = Span(0, 27), Span(28, 49), Span(50, 67)
PASSAGE = Passage(
    "d1:0",
    TEXT,
    title="Minutes › Bridge",
    document_id="d1",
    start=100,
    pages=(Page(3, Span(0, 49)), Page(4, Span(50, 67))),
    boxes=(
        Box(3, FIRST, 0.1, 0.2, 0.9, 0.22),
        Box(3, SECOND, 0.1, 0.25, 0.5, 0.27),
        Box(4, THIRD, 0.1, 0.1, 0.5, 0.12),
    ),
)


def boxes(html: str, kind: str) -> list[str]:
    return re.findall(rf'<span class="{kind}" style="left:([\d.]+%);top:([\d.]+%)', html)


def test_a_page_has_its_passages_lines_light_and_the_cited_ones_dark() -> None:
    html = original_html(PASSAGE, [SECOND], {"d1": View("pdf", True)})
    assert re.findall(r'data-src="([^"]+)"', html) == ["source/d1/page/3"]
    assert boxes(html, "cited-line") == [("10.00%", "25.00%")]
    assert boxes(html, "around") == [("10.00%", "20.00%")]
    assert "<summary>In the document: page 3</summary>" in html
    over_two = original_html(PASSAGE, [Span(28, 67)], {"d1": View("pdf", True)})
    assert re.findall(r'data-src="([^"]+)"', over_two) == ["source/d1/page/3", "source/d1/page/4"]


def test_other_kinds_and_pages_without_boxes_are_read_at_their_words() -> None:
    reading = "source/d1/reading?cited=128-149&amp;passage=100-167#cited"
    for view, passage in ((View("markdown", True), PASSAGE), (View("pdf", True), replace(PASSAGE, boxes=()))):
        assert f'data-src="{reading}"' in original_html(passage, [SECOND], {"d1": view})
    assert " open>" in original_html(PASSAGE, [SECOND], {"d1": View("", True)})
    assert " open>" not in original_html(PASSAGE, [SECOND], {"d1": View("", True)}, is_open=False)


def test_of_a_document_that_is_gone_only_its_kept_pages_are_shown() -> None:
    assert original_html(PASSAGE, [SECOND], {}) == ""
    assert original_html(PASSAGE, [SECOND], {"d1": View("markdown", False)}) == ""
    assert 'source/d1/page/3"' in original_html(PASSAGE, [SECOND], {"d1": View("pdf", False)})
    assert open_html(PASSAGE, [SECOND], {"d1": View("markdown", False)}) == open_html(PASSAGE, [SECOND], {}) == ""


def test_a_document_opens_at_the_place() -> None:
    assert 'href="source/d1/file#page=3"' in open_html(PASSAGE, [SECOND], {"d1": View("pdf", True)})
    assert 'href="source/d1/file#page=4"' in open_html(PASSAGE, [THIRD], {"d1": View("pdf", False)})
    assert 'href="source/d1/reading?cited=128-149' in open_html(PASSAGE, [SECOND], {"d1": View("html", True)})


def test_a_quote_is_taken_along_with_its_reference() -> None:
    evidence = Evidence(PASSAGE, SECOND, 0.9, 0.8)
    assert reference(evidence, {"d1": "/srv/minutes.pdf"}) == (
        "“It is 96 metres long.” (Minutes, minutes.pdf · page 3)"
    )
    cited = CitedProposition(
        Proposition((Span(0, 5),), "It is long."),
        Verdict(Label.SUPPORTED, 0.9),
        (Citation(1, evidence, Verdict(Label.SUPPORTED, 0.9)),),
    )
    html = render.evidence_html(cited, {"d1": "/srv/minutes.pdf"}, {"d1": View("pdf", True)})
    assert 'data-copy="“It is 96 metres long.” (Minutes, minutes.pdf · page 3)"' in html
    assert html.count("data-step") == 2


def test_an_answer_is_taken_along_with_its_sources() -> None:
    supported, contradicted = (Verdict(label, 0.9) for label in (Label.SUPPORTED, Label.CONTRADICTED))
    evidence = Evidence(PASSAGE, SECOND, 0.9, 0.8)
    said = Proposition((Span(0, 11),), "It is long.")
    long = CitedProposition(said, supported, (Citation(1, evidence, supported),))
    blue = CitedProposition(Proposition((Span(12, 23),), "It is blue."), contradicted, (), evidence)
    sentences = (CitedSentence(Span(0, 12), (long,)), CitedSentence(Span(12, 23), (blue,)))
    answer = CitedAnswer("It is long. It is blue.", sentences)
    assert copied_text(answer, {"d1": "/srv/minutes.pdf"}) == (
        "It is long.[1] It is blue. [contradicted]\n\n[1] “It is 96 metres long.” (Minutes, minutes.pdf · page 3)"
    )
    html = render.payload(answer, {"d1": "/srv/minutes.pdf"}, 0)["answer"]
    assert 'data-copy="It is long.[1] It is blue.' in html


def near(span: Span, label: Label, level: Granularity = Granularity.SENTENCE, number: int = 0) -> Alternative:
    return Alternative(Hit(PASSAGE, level, (span,), 0.5, 0.5), Verdict(label, 0.42, "<b>14 May"), number)


OTHER = replace(PASSAGE, id="p2")


def test_what_comes_near_is_one_card_a_passage_with_its_sentences_inside() -> None:
    found = [near(FIRST, Label.CONTRADICTED), near(SECOND, Label.SUPPORTED, number=2), near(THIRD, Label.PARTLY)]
    found.append(replace(near(THIRD, Label.PARTLY), hit=replace(near(THIRD, Label.PARTLY).hit, passage=OTHER)))
    html = near_html(found, {"d1": "/srv/minutes.pdf"})
    assert re.findall(r"<h2>(.*?) <", html) == ["Contradicts it", "Comes near it"]
    assert html.count("<details") == 2
    first, second = html.split("<details")[1:]
    assert [len(re.findall("<li>", card)) for card in (first, second)] == [3, 1]
    assert re.findall(r'<mark class="cited">(.*?)</mark>', first) == [TEXT[:27], TEXT[28:49], TEXT[50:67]]
    assert '<span class="number">[2]</span>' in first
    assert "&lt;b&gt;14 May" in first
    assert "58% sure" in first


def test_a_whole_passage_is_not_marked_and_nothing_near_is_said() -> None:
    assert "<mark" not in near_html([near(Span(0, len(TEXT)), Label.SUPPORTED, Granularity.PASSAGE)], {})
    assert near_html([], {}) == "<p>Nothing comes near it.</p>"
