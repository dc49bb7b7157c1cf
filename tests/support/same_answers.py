"""Passages for citing an answer in several ways, and what must be the same in all results."""

from __future__ import annotations

from typing import Any

from propcite.attribution.citations import CitedAnswer, CitedProposition
from propcite.retrieval.splitter import passage_from_text

TEXTS = {
    "gates": "The tidal barrier protects the old town. It has fourteen steel gates, each of 300 tonnes.",
    "cost": "The barrier cost 410 million euros. The state paid two thirds of it.",
    "museum": "The maritime museum opened in 1987. It stands in an old rope factory.",
    "fish": "Herring spawn in the bay in April. Fishing with trawls is forbidden there until June.",
}
PASSAGES = [passage_from_text(name, text) for name, text in TEXTS.items()]


def shape(answer: object) -> Any:
    """Return all of an answer except its times and scores."""
    assert isinstance(answer, CitedAnswer)
    return answer.text, [(s.span, [_claim(p) for p in s.propositions]) for s in answer.sentences]


def _claim(cited: CitedProposition) -> Any:
    return cited.id, cited.verdict and cited.verdict.label, [(c.id, c.number) for c in cited.citations]
