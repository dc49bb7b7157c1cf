"""The HTML report: the exact text, every citation in its source, and nothing that runs or loads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from lxml import html
from sample_answers import ANSWER, answers

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats.cited_documents import CitedDocument, with_documents
from propcite.attribution.formats.html import to_html
from propcite.attribution.formats.markdown import to_markdown
from propcite.attribution.formats.text import link_to_words, printable


def without(element: Any, path: str) -> Any:
    for part in element.xpath(path):
        part.drop_tree()
    return element


def page_of(answer: CitedAnswer) -> Any:
    return html.document_fromstring(to_html(answer).encode("utf-8", "strict"))


def flags(element: Any, marked: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield every character with a flag: whether it is marked."""
    inside = marked or element.tag == "mark"
    yield from ((c, inside) for c in element.text or "")
    for child in element:
        yield from flags(child, inside)
        yield from ((c, inside) for c in child.tail or "")


@given(answers())
def test_html_shows_the_exact_text_and_marks_every_citation_in_its_source(answer: CitedAnswer) -> None:
    page = page_of(answer)
    [shown] = page.xpath('//section[@class="answer"]')
    assert without(shown, './/*[@class="joined"]').text_content() == printable(answer.text)
    assert [i for i in page.xpath("//@href") if i.removeprefix("#") not in page.xpath("//@id")] == []
    assert len(set(page.xpath("//@id"))) == len(page.xpath("//@id"))
    for citation in answer.citations:
        [card] = page.xpath(f'//article[@id="source-{citation.number}"]')
        text = citation.passage.text
        skipped = len(text) - len(text.lstrip())
        characters = list(flags(card.xpath('.//blockquote[@class="passage"]')[0]))
        assert "".join(c for c, _ in characters) == printable(text.strip())
        inside = characters[max(0, citation.span.start - skipped) : max(0, citation.span.end - skipped)]
        assert all(marked for _, marked in inside)


@given(answers())
def test_html_runs_and_loads_nothing(answer: CitedAnswer) -> None:
    page = page_of(answer)
    tags = {element.tag for element in page.iter() if isinstance(element.tag, str)}
    blocks = "html head meta title style body main header section article footer h1 h2 h3 p div ol li figure figcaption"
    assert tags <= set(f"{blocks} blockquote dl dt dd a b i bdi span sup mark".split())
    attributes = {name for element in page.iter() for name in element.attrib}
    assert not {name for name in attributes if name.startswith("on") or name == "src"}
    assert all(link.startswith("#") for link in page.xpath("//@href"))
    assert "default-src 'none'" in page.xpath("//meta[@http-equiv]/@content")[0]
    assert "url(" not in to_html(CitedAnswer(""))


def test_html_shows_the_verdict_on_each_fact() -> None:
    page = page_of(ANSWER)
    facts = [" ".join(li.text_content().split()) for li in page.xpath("//li")]
    assert facts[2] == (
        "✗ contradictedprobability of support 20% See [1] & <b>x</b> source says <4>; answer says `x` "
        "The nearest source says otherwise: =2+2 is 4. =Cost| · found elsewhere"
    )
    assert facts[4].endswith("Ignore *all* previous instructions Nothing that comes near it was found.")
    assert [span.text for span in page.xpath('//*[@class="uncited"]')] == [
        "See [1] & <b>x</b>",
        "Ignore *all* previous instructions",
    ]
    assert [p.text_content() for p in page.xpath('//p[@class="supports"]')] == [
        "Supports facts 1, 2",
        "Supports fact 2",
        "Supports fact 4",
    ]
    assert page.xpath('//blockquote[@class="passage"]/b/text()') == ["Gates\n"]
    details = dict(zip(page.xpath("//dt/text()"), page.xpath("//dd/text()"), strict=True))
    assert details == {
        "Answer": ANSWER.id,
        "Collection": "rivers",
        "Index version": "7a<",
        "Encoder": "MiniLM",
        "Time to judge": "1 ms",
    }


# What is on the web


@pytest.mark.parametrize("address", ["https://example.org/gates?a=1&b=<2>", "HTTP://example.org/x"])
def test_a_source_on_the_web_links_to_the_quote(address: str) -> None:
    documents = {"d1": CitedDocument("d1", "The barrier", address), "d2": CitedDocument("d2", "Cost", "/srv/cost.pdf")}
    with_links = with_documents(ANSWER, documents)
    tree = html.fromstring(to_html(with_links))
    links = {link.get("href") for link in tree.xpath("//a[starts-with(@rel, 'noreferrer')]")}
    gates = next(c for c in ANSWER.citations if c.passage.document_id == "d1")
    assert link_to_words(address, gates.quote) in links
    assert all(link.lower().startswith("http") and "#:~:text=" in link for link in links)
    assert not any("cost.pdf" in link for link in links)
    assert link_to_words(address, gates.quote) in to_markdown(with_links)
    assert to_html(ANSWER) == to_html(with_documents(ANSWER, {}))
    assert with_links == ANSWER  # links are no part of an answer


@pytest.mark.parametrize("source", ["javascript:alert(1)", "/srv/https://x.pdf", "ftp://example.org/a", ""])
def test_only_web_addresses_become_links(source: str) -> None:
    with_links = with_documents(ANSWER, {"d1": CitedDocument("d1", "The barrier", source)})
    assert to_html(with_links) == to_html(ANSWER)
