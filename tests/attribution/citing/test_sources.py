"""Whatever a chatbot holds becomes passages with its ids, titles, documents, places and pages; the rest is one line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from propcite.attribution.citing.sources import as_passages
from propcite.attribution.errors import AttributionError
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Page, Passage, Span


@dataclass
class Document:
    """What LangChain's and Haystack's documents have in common with a user's own."""

    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


def told(sources: object) -> list[tuple[str, str]]:
    return [(p.id, p.text) for p in as_passages(sources)]


@pytest.mark.parametrize(
    ("sources", "passages"),
    [
        ([], []),
        ("It rained. It stopped.", [("1", "It rained. It stopped.")]),
        (["It rained.", "It stopped."], [("1", "It rained."), ("2", "It stopped.")]),
        (iter(["It rained."]), [("1", "It rained.")]),
        ({"id": 7, "text": "It rained."}, [("7", "It rained.")]),
        ([{"id": "", "text": "It rained."}, {"text": ""}], [("1", "It rained."), ("2", "")]),
        (["It rained.", {"id": "1", "text": "It stopped."}], [("1-1", "It rained."), ("1", "It stopped.")]),
        ({"content": "It rained.", "meta": {}}, [("1", "It rained.")]),
        (Document("It rained."), [("1", "It rained.")]),
        ([Document("It rained.", id="a")] * 2, [("a", "It rained.")]),
        (["It rained."] * 2, [("1", "It rained."), ("2", "It rained.")]),
        (["<b>It</b> rained \ud83d."], [("1", "<b>It</b> rained \ud83d.")]),
    ],
)
def test_sources(sources: object, passages: list[tuple[str, str]]) -> None:
    assert told(sources) == passages


def test_a_passage_is_taken_as_it_is() -> None:
    passages = [passage_from_text("a", "It rained."), Passage("b", "It stopped.", "Title")]
    assert as_passages(passages) == passages
    assert as_passages(passages[0]) == passages[:1]


def test_what_is_known_of_a_source_is_kept() -> None:
    metadata = {"source": "report.pdf", "page_label": "12", "page": 11, "start_index": 40}
    (passage,) = as_passages([Document("It rained. It stopped.", metadata, id="a")])
    assert (passage.title, passage.document_id, passage.start) == ("report.pdf", "report.pdf", 40)
    assert passage.pages == (Page(12, Span(0, 22)),)
    assert [s.span.of(passage.text) for s in passage.sentences] == ["It rained. ", "It stopped."]
    (passage,) = as_passages([{"text": "It rained.", "title": "Weather", "metadata": {"title": "no", "page": 3}}])
    assert (passage.title, passage.pages) == ("Weather", ())


@pytest.mark.parametrize(
    "source", [3, None, b"It rained.", {"txt": "x"}, {"text": 3}, {"text": None}, object(), [["x"]]]
)
def test_what_cannot_be_read_is_one_clear_line(source: object) -> None:
    with pytest.raises(AttributionError, match=r"^source 2 \(\w+\) has no text to cite: give a text, a dict") as error:
        as_passages(["It rained.", source])
    assert "\n" not in str(error.value)
