"""The documents that an answer cites, as whoever keeps them knows them: what they are, and what became of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from propcite.attribution.citations import Citation, CitedAnswer, CitedProposition, CitedSentence, Evidence
from propcite.attribution.formats.addresses import is_address

REPLACED = "replaced since"  # another version has its place now
REMOVED = "source removed"
UNKNOWN = "no longer in the library"


@dataclass(frozen=True, slots=True)
class CitedDocument:
    """A document by its id; `gone` says what became of it, empty while it is there."""

    id: str
    title: str
    source: str = ""
    gone: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


Documents = Mapping[str, CitedDocument]  # by their ids


def all_evidence(answer: CitedAnswer) -> Iterator[Evidence]:
    """What is cited, and what came nearest where nothing is."""
    for fact in answer.propositions:
        yield from (citation.evidence for citation in fact.citations)
        if fact.nearest:
            yield fact.nearest


def with_documents(answer: CitedAnswer, documents: Documents) -> CitedAnswer:
    """The same answer, each of its evidence knowing what became of its document, and where on the web it is."""
    if not any(document.gone or is_address(document.source) for document in documents.values()):
        return answer

    def evidence(found: Evidence) -> Evidence:
        known = documents.get(found.passage.document_id)
        if known is None:
            return found
        return replace(found, gone=known.gone, address=known.source if is_address(known.source) else "")

    def citation(cited: Citation) -> Citation:
        return replace(cited, evidence=evidence(cited.evidence))

    def fact(cited: CitedProposition) -> CitedProposition:
        nearest = evidence(cited.nearest) if cited.nearest else None
        return replace(cited, citations=tuple(map(citation, cited.citations)), nearest=nearest)

    def sentence(cited: CitedSentence) -> CitedSentence:
        return replace(cited, propositions=tuple(map(fact, cited.propositions)))

    return replace(answer, sentences=tuple(map(sentence, answer.sentences)))
