"""Describe the documents that an answer cites, and what happened to them since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from propcite.attribution.citations import Citation, CitedAnswer, CitedProposition, CitedSentence, Evidence
from propcite.attribution.formats.text import is_address

REPLACED = "replaced since"  # by another version of the same source
REMOVED = "source removed"
UNKNOWN = "no longer in the library"


@dataclass(frozen=True, slots=True)
class CitedDocument:
    """A document.  `status` says that it was replaced or removed, and is empty while the library has it.

    `doubt` says why its words may differ from those of the source.
    """

    id: str
    title: str
    source: str = ""
    status: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    doubt: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of a quote must know of the document."""
        return tuple(filter(None, (self.status, self.doubt)))


Documents = Mapping[str, CitedDocument]  # by id


def all_evidence(answer: CitedAnswer) -> Iterator[Evidence]:
    """Yield the evidence of all citations, and the nearest evidence of uncited propositions, each before its copies."""
    for proposition in answer.propositions:
        nearest = [proposition.nearest] if proposition.nearest else []
        for evidence in [*(citation.evidence for citation in proposition.citations), *nearest]:
            yield evidence
            yield from evidence.copies


def with_documents(answer: CitedAnswer, documents: Documents) -> CitedAnswer:
    """Return the same answer whose evidence has the status, the doubt and the web address of its document."""
    if not any(document.notes or is_address(document.source) for document in documents.values()):
        return answer

    def evidence(one: Evidence) -> Evidence:
        one = replace(one, copies=tuple(map(evidence, one.copies)))
        document = documents.get(one.passage.document_id)
        if document is None:
            return one
        address = document.source if is_address(document.source) else ""
        return replace(one, document_status=document.status, doubt=document.doubt, address=address)

    def citation(cited: Citation) -> Citation:
        return replace(cited, evidence=evidence(cited.evidence))

    def proposition(cited: CitedProposition) -> CitedProposition:
        nearest = evidence(cited.nearest) if cited.nearest else None
        return replace(cited, citations=tuple(map(citation, cited.citations)), nearest=nearest)

    def sentence(cited: CitedSentence) -> CitedSentence:
        return replace(cited, propositions=tuple(map(proposition, cited.propositions)))

    return replace(answer, sentences=tuple(map(sentence, answer.sentences)))
