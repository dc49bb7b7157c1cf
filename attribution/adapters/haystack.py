"""Cite the replies of a Haystack pipeline; needs the package `haystack-ai`."""

from __future__ import annotations

from typing import Any

from haystack import Document, GeneratedAnswer, component, default_to_dict
from haystack.dataclasses import ChatMessage

from propcite.attribution.adapters.citations import all_citations, summary
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.propcite import PropCite
from propcite.attribution.prose.marker_stripper import remove_markers


@component
class CiteAnswers:
    """A component in the place of AnswerBuilder: replies of a generator and the documents that it had go in, answers
    with their citations come out.

    `meta` of an answer has `citations` and `propcite` as plain values, `cited` are the CitedAnswers.  Without a
    PropCite of your own, as in a pipeline that was loaded from a file, `PropCite.default()` cites.
    """

    def __init__(self, propcite: PropCite | None = None, *, strip_markers: bool = False) -> None:
        self.propcite = propcite
        self.strip_markers = strip_markers
        component.set_output_types(self, answers=list[GeneratedAnswer], cited=list[CitedAnswer])

    def to_dict(self) -> dict[str, Any]:
        fields: dict[str, Any] = default_to_dict(self, strip_markers=self.strip_markers)
        return fields

    def warm_up(self) -> None:
        self.propcite = self.propcite or PropCite.default()

    def run(self, replies: list[str] | list[ChatMessage], documents: list[Document], query: str = "") -> dict[str, Any]:
        """Cite each reply over the documents that have a text."""
        self.warm_up()
        assert self.propcite
        texts = [reply if isinstance(reply, str) else reply.text or "" for reply in replies]
        given = [document for document in documents if document.content]
        entries = [(remove_markers(text) if self.strip_markers else text, given, query) for text in texts]
        cited = self.propcite.cite_many(entries)
        answers = []
        for reply, answer in zip(replies, cited, strict=True):
            if not isinstance(answer, CitedAnswer):
                raise answer
            meta = {} if isinstance(reply, str) else dict(reply.meta)
            meta |= {"citations": all_citations(answer), "propcite": summary(answer)}
            answers.append(GeneratedAnswer(data=answer.text, query=query, documents=documents, meta=meta))
        return {"answers": answers, "cited": cited}
