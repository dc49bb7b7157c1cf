"""Lists of documents by words, kind, state and order, page by page, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from propcite.app.library.store import (
    CollectionInfo,
    DetailsChange,
    DocumentQuery,
    DocumentState,
    Library,
    SortKey,
    document_id,
)
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
from propcite.retrieval.text import Document, Passage, Span


@pytest.fixture
def library(database_url: str) -> Iterator[Library]:
    opened = Library(database_url)
    yield opened
    opened.close()


@pytest.fixture
def town(library: Library) -> CollectionInfo:
    return library.create_collection("town")


def put(
    library: Library, town: CollectionInfo, source: str, title: str, passages: int = 1, **details: Any
) -> list[Passage]:
    """Store a document with this number of passages."""
    texts = [f"Passage {n}. " for n in range(passages)]
    id_ = document_id(town.name, source, f"{title}{passages}")
    document = Document(id=id_, text="".join(texts), title=title, source=source, metadata={"kind": "text", **details})
    several = [Passage(f"{id_}:{n}", text, title, id_, 12 * n) for n, text in enumerate(texts)]
    library.put_document(town, document, id_.ljust(64, "0"), several)
    return several


def cite(library: Library, town: CollectionInfo, passage: Passage, question: str) -> CitedAnswer:
    verdict = Verdict(Label.SUPPORTED, 0.9)
    citation = Citation(1, Evidence(passage, Span(0, 7), 0.9, 0.9), verdict)
    claim = CitedProposition(Proposition((Span(0, 3),), "Yes"), verdict, (citation,))
    answer = CitedAnswer("Yes.", (CitedSentence(Span(0, 4), (claim,)),), question=question, collection=town.name)
    library.save_answer(town, answer)
    return answer


def titles(library: Library, town: CollectionInfo, **query: Any) -> list[str]:
    return [info.title for info in library.find_documents(town, DocumentQuery(**query)).items]


@pytest.fixture
def several(library: Library, town: CollectionInfo) -> dict[str, list[Passage]]:
    return {
        "a": put(library, town, "/srv/Über die Brücke.md", "Die Brücke", 3, kind="markdown"),
        "b": put(library, town, "/srv/b.pdf", "the Ferry 100%", 2, kind="pdf", pages_without_text="1"),
        "c": put(library, town, "/srv/c.pdf", "A quay_side", 1, kind="pdf"),
    }


def test_documents_are_found_by_words_of_title_and_source(
    library: Library, town: CollectionInfo, several: dict[str, list[Passage]]
) -> None:
    assert titles(library, town) == ["A quay_side", "Die Brücke", "the Ferry 100%"]
    assert titles(library, town, words="FERRY") == ["the Ferry 100%"]
    assert titles(library, town, words="über brücke") == ["Die Brücke"]
    assert titles(library, town, words="100% pdf") == ["the Ferry 100%"]
    assert titles(library, town, words="quay_side") == ["A quay_side"]
    assert titles(library, town, words="quayxside") == titles(library, town, words="1%0") == []
    library.describe([several["c"][0].document_id], DetailsChange({"title": "The Old Basin"}))
    assert titles(library, town, words="basin") == ["The Old Basin"]
    assert titles(library, town, words="quay_side") == []


@pytest.mark.usefixtures("several")
def test_documents_are_sorted_by_any_key_and_listed_page_by_page(library: Library, town: CollectionInfo) -> None:
    by_source = titles(library, town, order=SortKey.SOURCE, words="srv pdf", descending=True)
    assert by_source == ["A quay_side", "the Ferry 100%"]
    assert titles(library, town, order=SortKey.PASSAGES, descending=True) == [
        "Die Brücke",
        "the Ferry 100%",
        "A quay_side",
    ]
    assert titles(library, town, order=SortKey.ADDED) == ["Die Brücke", "the Ferry 100%", "A quay_side"]
    pages = [library.find_documents(town, DocumentQuery(first=first, limit=2)) for first in (0, 2, 4)]
    assert [([i.title for i in page.items], page.total) for page in pages] == [
        (["A quay_side", "Die Brücke"], 3),
        (["the Ferry 100%"], 3),
        ([], 3),
    ]
    assert [info.num_passages for info in pages[0].items] == [1, 3]


def test_documents_are_found_by_kind_and_state(
    library: Library, town: CollectionInfo, several: dict[str, list[Passage]]
) -> None:
    assert library.kinds(town) == {"pdf": 2, "markdown": 1}
    assert titles(library, town, kind="markdown") == ["Die Brücke"]
    assert titles(library, town, state=DocumentState.PARTLY) == ["the Ferry 100%"]
    assert [titles(library, town, state=state) for state in DocumentState if state is not DocumentState.PARTLY] == [
        []
    ] * 3
    cite(library, town, several["a"][0], "Is it?")
    library.describe([several["b"][0].document_id], DetailsChange(tags=["boats"]))
    put(library, town, "/srv/c.pdf", "A new quay", 2, kind="pdf")
    assert titles(library, town, state=DocumentState.CITED) == ["Die Brücke"]
    assert titles(library, town, state=DocumentState.DESCRIBED) == ["the Ferry 100%"]
    assert titles(library, town, state=DocumentState.CHANGED, kind="pdf") == ["A new quay"]


def test_any_number_of_ids_can_be_given(
    library: Library, town: CollectionInfo, several: dict[str, list[Passage]]
) -> None:
    many = [f"{n:012x}" for n in range(100_000)]
    assert titles(library, town, ids=[*many, several["b"][0].document_id]) == ["the Ferry 100%"]
    assert titles(library, town, ids=[]) == []


def test_answers_that_cite_a_document_are_listed_newest_first(
    library: Library, town: CollectionInfo, several: dict[str, list[Passage]]
) -> None:
    ids = [cite(library, town, several["a"][0], f"Question {n}?").id for n in range(3)][::-1]
    cite(library, town, several["b"][0], "Other?")
    page = library.find_answers_citing(town, several["a"][0].document_id, limit=2)
    assert ([info.id for info in page.items], page.total) == (ids[:2], 3)
    assert library.find_answers_citing(town, "nobody").items == []
