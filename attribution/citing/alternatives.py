"""Find what else in the sources is near a fact, ranked at any granularity and judged."""

from __future__ import annotations

from dataclasses import dataclass, replace

from propcite.attribution.citations import CitedAnswer, CitedProposition, Label, Verdict
from propcite.attribution.citing.deciding import Claim
from propcite.attribution.citing.explaining import check_comparable, encoded_as
from propcite.attribution.citing.lookup import fact_of
from propcite.attribution.citing.tools import Source, Tools
from propcite.retrieval.text import Granularity, Hit


@dataclass(frozen=True, slots=True)
class Alternative:
    """A unit near a fact, with its verdict; `number` is the marker of the citation that it belongs to, else 0.

    >>> from propcite import PropCite
    >>> passages = ["The barrier is 6.4 metres high.", "The museum opened in 1987."]
    >>> propcite = PropCite.default()
    >>> answer = propcite.cite("The barrier is 6.4 metres high.", passages)
    >>> [(one.hit.text, one.label.value, one.number) for one in propcite.alternatives(answer, 1, passages, k=1)]
    [('The barrier is 6.4 metres high.', 'supported', 1)]
    """

    hit: Hit
    verdict: Verdict
    number: int = 0

    @property
    def label(self) -> Label:
        return self.verdict.label


def alternatives(
    tools: Tools, answer: CitedAnswer, fact: str | int, source: Source, granularity: Granularity, k: int
) -> list[Alternative]:
    """Return the k units nearest to a fact, best first, ranked by the fact's own tokens in its sentence."""
    check_comparable(answer, tools.encoder)
    about, retriever = fact_of(answer, fact), tools.retriever(source)
    if retriever is None:
        return []
    text, _, spans = encoded_as(answer, about)
    hits = tuple(retriever.search_spans([text], [[spans]], k, granularity)[0][0])
    verdicts = tools.decider.verdicts(Claim(replace(about.proposition, spans=spans), text, hits))
    return [Alternative(hit, verdict, _number(about, hit)) for hit, verdict in zip(hits, verdicts, strict=True)]


def _number(fact: CitedProposition, hit: Hit) -> int:
    for citation in fact.citations:
        own = [one for one in hit.everywhere if one.passage.id == citation.passage.id]
        if any(span.overlaps(citation.span) for one in own for span in one.spans):
            return citation.number
    return 0
