"""What else comes near a fact: ranked at any granularity by the fact's own words, judged, told from what is cited."""

from __future__ import annotations

import pytest
from word_encoder import WordEncoder

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.citing.alternatives import Alternative
from propcite.attribution.errors import NotInAnswerError
from propcite.attribution.formats.json.hits import alternative_json
from propcite.attribution.judges import Case
from propcite.attribution.propcite import PropCite
from propcite.attribution.propositions.rules import RuleSplitter
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Document, Granularity, Span

TEXTS = {
    "quay": "The quay is 300 metres long. It carries two cranes and a shed.",
    "report": "Engineers measured it. The quay is 280 metres long and was painted green.",
    "birds": "Herons stand in the reeds. Terns dive for sprats.",
}


class Numbers:
    """Accepts evidence that states the claim's numbers, and refuses other numbers."""

    name = "numbers"

    def judge(self, cases: list[Case]) -> list[Verdict]:
        return [self._one(case) for case in cases]

    def _one(self, case: Case) -> Verdict:
        said, shown = ({w for w in text.split() if w.isdigit()} for text in (case.claim, " ".join(case.evidence)))
        if said and said <= shown:
            return Verdict(Label.SUPPORTED, 0.9)
        return Verdict(Label.CONTRADICTED, 0.1, "other numbers") if shown else Verdict(Label.UNSUPPORTED, 0.2)


@pytest.fixture
def collection() -> Retriever:
    passages = [
        passage for name, text in TEXTS.items() for passage in PassageSplitter().split(Document(name, text, title=name))
    ]
    return Retriever.over(WordEncoder(), passages, split=halves)


def halves(sentences: list[str]) -> list[list[tuple[Span, ...]]]:
    """Each sentence in two, at its `and`."""
    found = []
    for text in sentences:
        place = text.find(" and ")
        cut = [Span(0, len(text))] if place < 0 else [Span(0, place), Span(place + 5, len(text))]
        found.append([(span,) for span in cut])
    return found


@pytest.fixture
def propcite() -> PropCite:
    return PropCite(WordEncoder(), splitter=RuleSplitter(), judge=Numbers())


def told(found: list[Alternative]) -> list[tuple[str, Label, int]]:
    return [(one.hit.text, one.label, one.number) for one in found]


def test_each_granularity_ranks_its_own_units_and_the_cited_one_is_told(
    propcite: PropCite, collection: Retriever
) -> None:
    answer = propcite.cite("The quay is 300 metres long.", collection)
    assert [c.quote for c in answer.citations] == ["The quay is 300 metres long."]
    sentences = told(propcite.alternatives(answer, 1, collection, k=2))
    assert sentences == [
        ("The quay is 300 metres long.", Label.SUPPORTED, 1),
        ("The quay is 280 metres long and was painted green.", Label.CONTRADICTED, 0),
    ]
    propositions = told(propcite.alternatives(answer, 1, collection, Granularity.PROPOSITION, 2))
    assert propositions == [
        ("The quay is 300 metres long.", Label.SUPPORTED, 1),
        ("The quay is 280 metres long", Label.CONTRADICTED, 0),
    ]
    passages = propcite.alternatives(answer, 1, collection, Granularity.PASSAGE, 3)
    assert [(one.hit.passage.title, one.number) for one in passages][:2] == [("quay", 1), ("report", 0)]
    assert all(one.hit.granularity is Granularity.PASSAGE for one in passages)


def test_a_fact_asks_by_its_own_words_alone(propcite: PropCite, collection: Retriever) -> None:
    answer = propcite.cite("The quay is 300 metres long and carries two cranes.", collection)
    assert len(answer.facts) == 2
    firsts = [propcite.alternatives(answer, n, collection, k=1)[0].hit.text for n in (1, 2)]
    assert firsts == ["The quay is 300 metres long.", "It carries two cranes and a shed."]


def test_over_given_passages_and_over_nothing(propcite: PropCite, collection: Retriever) -> None:
    answer = propcite.cite("The quay is 300 metres long.", collection)
    assert [one.hit.text for one in propcite.alternatives(answer, 1, ["The quay is long."], k=5)] == [
        "The quay is long."
    ]
    assert propcite.alternatives(answer, 1, []) == []
    with pytest.raises(NotInAnswerError, match="no fact '7'"):
        propcite.alternatives(answer, 7, collection)


def test_as_plain_values(propcite: PropCite, collection: Retriever) -> None:
    answer = propcite.cite("The quay is 300 metres long.", collection)
    first, second = [alternative_json(one) for one in propcite.alternatives(answer, 1, collection, k=2)]
    assert (first["citation"], second["citation"]) == (1, None)
    assert second["verdict"] == {"label": "contradicted", "probability": 0.1, "reason": "other numbers"}
    assert first["granularity"] == "sentence"
