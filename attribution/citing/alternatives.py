"""What else comes near a fact: ranked anew at any granularity, judged, and told apart from what is cited."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from propcite.attribution.citations import CitedAnswer, CitedProposition, Label, Verdict
from propcite.attribution.citing.deciding import Claim
from propcite.attribution.citing.explaining import as_asked, check_comparable
from propcite.attribution.citing.lookup import fact_of
from propcite.retrieval.text import Granularity, Hit

if TYPE_CHECKING:
    from propcite.attribution.propcite import PropCite, Source


@dataclass(frozen=True, slots=True)
class Alternative:
    """A unit near a fact with its verdict; `number` is the marker of the citation that it is, or is part of, else 0."""

    hit: Hit
    verdict: Verdict
    number: int = 0

    @property
    def label(self) -> Label:
        return self.verdict.label


def alternatives(
    propcite: PropCite, answer: CitedAnswer, fact: str | int, source: Source, granularity: Granularity, k: int
) -> list[Alternative]:
    """The k nearest of a collection or of given passages, best first, by the fact's own tokens in their sentence."""
    check_comparable(answer, propcite.encoder)
    about, retriever = fact_of(answer, fact), propcite.over(source)
    if retriever is None:
        return []
    text, _, spans = as_asked(answer, about)
    hits = tuple(retriever.search_spans([text], [[spans]], k, granularity)[0][0])
    verdicts = propcite.decider.verdicts(Claim(replace(about.proposition, spans=spans), text, hits))
    return [Alternative(hit, verdict, _number(about, hit)) for hit, verdict in zip(hits, verdicts, strict=True)]


def _number(fact: CitedProposition, hit: Hit) -> int:
    for citation in fact.citations:
        if citation.passage.id == hit.passage.id and any(span.overlaps(citation.span) for span in hit.spans):
            return citation.number
    return 0
