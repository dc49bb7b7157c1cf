"""Citations as the Messages API has them: places in documents, in search results and on web pages.

A passage that the request gave is cited as what it was there.  One that this server found is a search result, numbered
on from those of the request, because only that kind of citation names its source; the AI SDK gets web pages instead,
since it fails at results.
"""

from __future__ import annotations

from typing import Any

from propcite.app.server.proxy.client import Client
from propcite.app.server.proxy.messages.documents import GivenSources, ResultPlace
from propcite.app.server.proxy.proxy_request import EXTENSION
from propcite.attribution.citations import Citation
from propcite.attribution.formats.offsets import Offsets
from propcite.attribution.formats.openai import url_of
from propcite.attribution.formats.wording import title_of

CITATION_TYPES = ("char_location", "page_location", "search_result_location", "web_search_result_location")


class Locator:
    """Locates the citations of one answer; passages are numbered as they are first cited."""

    def __init__(self, given: GivenSources, client: Client, citation_type: str | None) -> None:
        self._given, self._client, self._type = given, client, citation_type
        self._documents: dict[str, int] = {}
        self._results: dict[str, int] = {}

    def locate(self, citation: Citation) -> dict[str, Any]:
        """Return a citation; its field `propcite` is the id by which the cited answer knows it."""
        fields = {"cited_text": citation.quote, EXTENSION: citation.id}
        match self._kind(citation):
            case "char_location" | "page_location" as kind:
                return {"type": kind, **fields, **self._in_document(citation, kind)}
            case "content_block_location" as kind:
                return {"type": kind, **fields, **self._in_blocks(citation)}
            case "web_search_result_location" as kind:
                page = {"url": self._source(citation), "title": title_of(citation.passage)}
                return {"type": kind, **fields, **page, "encrypted_index": EXTENSION}
            case kind:
                return {"type": kind, **fields, **self._in_result(citation)}

    def _kind(self, citation: Citation) -> str:
        id_ = citation.passage.id
        if id_ in self._given.documents:
            return "char_location"
        if id_ in self._given.pages:
            return "page_location"
        if id_ in self._given.blocks and not self._client.reads_web_results:
            return "content_block_location"
        if self._type in ("char_location", "page_location"):
            return self._type if citation.pages or self._type == "char_location" else "char_location"
        if self._client.reads_web_results or self._type == "web_search_result_location":
            return "web_search_result_location"
        return "search_result_location"

    def _in_document(self, citation: Citation, kind: str) -> dict[str, Any]:
        id_ = citation.passage.id
        index = self._given.documents.get(id_, self._given.pages.get(id_))
        if index is None:
            index = self._documents.setdefault(id_, self._given.num_documents + len(self._documents))
        fields = {"document_index": index, "document_title": citation.passage.title or None, "file_id": None}
        if kind == "page_location":
            pages = citation.pages
            return {**fields, "start_page_number": pages[0], "end_page_number": pages[-1] + 1}
        start, end = Offsets(citation.passage.text, self._client.unit).pair(citation.span)
        return {**fields, "start_char_index": start, "end_char_index": end}

    def _in_blocks(self, citation: Citation) -> dict[str, Any]:
        """Return the place of a block, of which Anthropic's clients expect all words."""
        place, passage = self._given.blocks[citation.passage.id], citation.passage
        return {
            "cited_text": passage.text,
            "document_index": place.document,
            "document_title": passage.title or None,
            "file_id": None,
            "start_block_index": place.block,
            "end_block_index": place.block + 1,
        }

    def _in_result(self, citation: Citation) -> dict[str, Any]:
        id_ = citation.passage.id
        place = self._given.results.get(id_)
        if place is None:
            index = self._results.setdefault(id_, self._given.num_results + len(self._results))
            place = ResultPlace(index, 0, self._source(citation))
        return {
            "search_result_index": place.result,
            "source": place.source,
            "title": title_of(citation.passage),
            "start_block_index": place.block,
            "end_block_index": place.block + 1,
        }

    def _source(self, citation: Citation) -> str:
        given = self._given.results.get(citation.passage.id)
        return given.source if given else url_of(citation.passage, citation.span)


def is_ours(citation: Any) -> bool:
    """Return whether this server made a citation, also if the client kept only the fields that it knows."""
    return isinstance(citation, dict) and (EXTENSION in citation or citation.get("encrypted_index") == EXTENSION)
