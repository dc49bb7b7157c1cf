"""Ways of citing: PropCite's own beside the paper's ablations and the baselines, over the same passages."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from propcite.attribution.citations import CitedAnswer, Label, Verdict
from propcite.attribution.citing.baselines import Bm25, PostCite
from propcite.attribution.citing.methods import METHODS, method_of
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import Case
from propcite.attribution.propcite import PropCite
from propcite.attribution.propositions.rules import RuleSplitter
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Passage

PASSAGES = [
    passage_from_text("gates", "The tidal barrier has fourteen steel gates. It was opened in 2004.", "The barrier"),
    passage_from_text("cost", "The barrier cost 410 million euros.", "The barrier"),
    passage_from_text("terns", "Terns breed on the gravel roof of the warehouse."),
    passage_from_text("museum", "The maritime museum opened in 1987. It stands in a rope factory."),
]
TWO_FACTS = "The barrier cost 410 million euros, and the maritime museum opened in 1987."


def citing(encoder: Encoder, method: str, **options: Any) -> PropCite:
    return PropCite(encoder, splitter=RuleSplitter(), judge=None, min_score=-1e9, method=method, **options)


def cited(answer: CitedAnswer) -> set[str]:
    return {c.passage.id for c in answer.citations}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_cites_a_fact_to_the_passage_that_states_it(encoder: Encoder, method: str) -> None:
    answer = citing(encoder, method).cite("The barrier cost 410 million euros.", PASSAGES)
    assert next(c.passage.id for c in answer.citations) == "cost"
    assert answer.models.get("method", "propositions") == method


@pytest.mark.parametrize(
    ("method", "passages"),
    [
        ("propositions", {"cost", "museum"}),
        ("paper", {"cost", "museum"}),
        ("alone", {"cost", "museum"}),
        ("sentence-2", {"cost", "museum"}),
    ],
)
def test_two_facts_need_two_passages(encoder: Encoder, method: str, passages: set[str]) -> None:
    assert cited(citing(encoder, method).cite(TWO_FACTS, PASSAGES)) == passages


@pytest.mark.parametrize("method", ["sentence", "postcite", "bm25"])
def test_one_passage_for_a_whole_sentence_leaves_a_fact_without_its_own(encoder: Encoder, method: str) -> None:
    answer = citing(encoder, method).cite(TWO_FACTS, PASSAGES)
    assert len(cited(answer)) == 1
    assert [p.proposition.text for p in answer.propositions] == [TWO_FACTS]


@pytest.mark.parametrize(("method", "quote"), [("propositions", "It was opened in 2004."), ("paper", PASSAGES[0].text)])
def test_evidence_is_a_sentence_or_the_paper_s_passage(encoder: Encoder, method: str, quote: str) -> None:
    answer = citing(encoder, method).cite("It was opened in 2004.", PASSAGES[:1])
    assert [c.quote for c in answer.citations] == [quote]


def test_a_collection_serves_every_method(encoder: Encoder) -> None:
    retriever = Retriever.over(encoder, PASSAGES)
    for method in METHODS:
        assert cited(citing(encoder, method).cite("Terns breed on a roof.", retriever)) >= {"terns"}
        only = citing(encoder, method).cite("Terns breed on a roof.", retriever.only(["cost"]))
        assert cited(only) == {"cost"}


@pytest.mark.parametrize("baseline", [Bm25(), PostCite()])
def test_a_baseline_scores_every_text_against_every_passage(baseline: Bm25 | PostCite) -> None:
    scores = baseline.scores(["steel gates", "terns on a roof"], PASSAGES)
    assert scores.shape == (2, 4)
    assert scores.argmax(axis=1).tolist() == [0, 2]
    assert baseline.scores([], PASSAGES).shape[0] == 0


@pytest.mark.parametrize("baseline", [Bm25(), PostCite()])
@pytest.mark.parametrize("texts", [["of the", "", "x", "屏"], ["steel gates"]])
@pytest.mark.parametrize("passages", [[], ["the of a"], ["x", "", "屏障"], ["", "Steel gates."]])
def test_texts_without_a_word_that_counts_are_scored_too(
    baseline: Bm25 | PostCite, texts: list[str], passages: list[str]
) -> None:
    scores = baseline.scores(texts, [passage_from_text(str(n), text) for n, text in enumerate(passages)])
    assert scores.shape == (len(texts), len(passages))
    assert np.isfinite(scores).all()


class Counting:
    """Stands in for a network, and notes what it reads: unit vectors that say how long a text is."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def encode(self, texts: list[str], **_: Any) -> np.ndarray:
        self.read += texts
        return np.array([[np.cos(len(text)), np.sin(len(text))] for text in texts], np.float32)


def test_postcite_forgets_what_was_read_longest_ago_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("propcite.attribution.citing.baselines.MAX_CACHED", 3)
    baseline, network = PostCite(), Counting()
    vars(baseline)["_encoder"] = network
    for text in ("a", "bb", "ccc", "a", "dddd", "a", "bb"):
        baseline.read([text], [])
    assert network.read == ["a", "bb", "ccc", "dddd", "bb"]
    with ThreadPoolExecutor(8) as threads:
        for scores in threads.map(lambda n: baseline.scores(["é" * n], [Passage("p", "é" * n)]), range(1, 40)):
            assert scores[0, 0] == pytest.approx(1)


def test_an_unknown_method_is_one_clear_line() -> None:
    with pytest.raises(AttributionError, match="no citing method is named 'guess': use one of propositions, vectors"):
        method_of("guess")


# What one passage does not say alone, and what was not shown


class Literal:
    """A judge that supports what the evidence holds word by word: which pieces are read together is what is tested."""

    name = "literal"

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        return [self._verdict(case) for case in cases]

    def _verdict(self, case: Case) -> Verdict:
        words = case.claim.lower().strip(".").split()
        share = sum(word in case.text.lower() for word in words) / len(words)
        return Verdict(Label.SUPPORTED if share == 1 else Label.UNSUPPORTED, share)


def literal(encoder: Encoder, **options: Any) -> PropCite:
    return PropCite(encoder, splitter=RuleSplitter(), judge=Literal(), **options)


HALVES = [passage_from_text("p", "The lock is broken. It was built by Ada Brand. Grass is green."), PASSAGES[2]]
BOTH = "The lock built by Ada Brand is broken."


def test_two_sentences_may_support_together_what_neither_does_alone(encoder: Encoder) -> None:
    (proposition,) = literal(encoder).cite(BOTH, HALVES).propositions
    assert [c.quote for c in proposition.citations] == ["The lock is broken.", "It was built by Ada Brand."]
    assert len({c.verdict for c in proposition.citations}) == 1
    (alone,) = literal(encoder, joint=False).cite(BOTH, HALVES).propositions
    assert alone.citations == ()
    assert alone.nearest is not None


def test_one_sentence_that_suffices_is_cited_alone(encoder: Encoder) -> None:
    (proposition,) = literal(encoder).cite("The lock is broken.", HALVES).propositions
    assert [c.quote for c in proposition.citations] == ["The lock is broken."]


class Generous(Literal):
    """Supports all, some more than others."""

    name = "generous"

    def _verdict(self, case: Case) -> Verdict:
        return Verdict(Label.SUPPORTED, super()._verdict(case).probability)


def test_of_what_the_judge_accepts_the_likeliest_is_cited(encoder: Encoder) -> None:
    near, right = (
        passage_from_text("near", "The steel lock is broken, broken."),
        passage_from_text("right", "The lock of steel is broken."),
    )
    propcite = PropCite(encoder, splitter=RuleSplitter(), judge=Generous())
    text = "The lock of steel is broken."
    assert [c.passage.id for c in propcite.cite(text, [near, right]).citations] == ["right"]
    twins = [passage_from_text(name, right.text) for name in ("one", "other")]
    assert [c.passage.id for c in propcite.cite(text, twins).citations] == ["one"]


def test_what_was_not_shown_is_found_in_the_collection_and_told_apart(encoder: Encoder) -> None:
    collection = Retriever.over(encoder, PASSAGES)
    text = "The barrier cost 410 million euros. Terns breed on the gravel roof. Napoleon was crowned in Paris."
    answer = PropCite(encoder).cite(text, collection.only(["cost"]), collection=collection)
    assert [(c.passage.id, c.shown) for c in answer.citations] == [("cost", True), ("terns", False)]
    assert len(answer.uncited) == 1
    assert answer.uncited[0].nearest is not None
    over_all = PropCite(encoder).cite(text, collection)
    assert [c.passage.id for c in over_all.citations] == ["cost", "terns"]
    assert answer.index_version == over_all.index_version != ""


def test_given_passages_may_be_none_when_there_is_a_collection(encoder: Encoder) -> None:
    collection = Retriever.over(encoder, PASSAGES)
    given: list[Passage] = []
    answer = PropCite(encoder).cite("The barrier cost 410 million euros.", given, collection=collection)
    assert [(c.passage.id, c.shown) for c in answer.citations] == [("cost", False)]
