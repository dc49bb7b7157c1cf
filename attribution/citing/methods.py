"""Ways to find evidence for an answer's claims: PropCite's own, the paper's ablations, and baselines by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from propcite.attribution.citations import Proposition
from propcite.attribution.citing.method import HitsByClaim, Method
from propcite.attribution.citing.splitting import SplitSentence
from propcite.attribution.citing.words import WORD_SHARE, ordered_by_words
from propcite.attribution.errors import AttributionError
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Hit, Span


@dataclass(frozen=True, slots=True)
class InContext:
    """Encode each sentence once and whole; search for each proposition with its own tokens only.

    With sentences as evidence and a share of words this is PropCite's method, with passages and none it is AGRaME's.
    """

    name: str = "propositions"
    granularity: Granularity = Granularity.SENTENCE
    num_cited: int = 1
    word_share: float = WORD_SHARE

    def claims(self, sentence: SplitSentence) -> tuple[Proposition, ...]:
        return sentence.propositions

    def find(self, sentences: Sequence[SplitSentence], retriever: Retriever, k: int) -> HitsByClaim:
        needing = [_needing(sentence.propositions) for sentence in sentences]
        spans = [[claim.spans for claim in claims] for claims in needing]
        searched = retriever if self.word_share else retriever.by("vectors")
        hits = searched.search_spans([sentence.text for sentence in sentences], spans, k, self.granularity)
        share = self.word_share if searched.way == "both" else 0.0
        ordered = [
            [ordered_by_words(claim.text, own, share, sentence.text) for claim, own in zip(claims, found, strict=True)]
            for sentence, claims, found in zip(sentences, needing, hits, strict=True)
        ]
        return _spread(sentences, ordered)


@dataclass(frozen=True, slots=True)
class Alone:
    """AGRaME's ablation (i): encode each proposition's text by itself, without its sentence."""

    name: str = "alone"
    granularity: Granularity = Granularity.SENTENCE
    num_cited: int = 1

    def claims(self, sentence: SplitSentence) -> tuple[Proposition, ...]:
        return sentence.propositions

    def find(self, sentences: Sequence[SplitSentence], retriever: Retriever, k: int) -> HitsByClaim:
        texts = [p.text for sentence in sentences for p in _needing(sentence.propositions)]
        whole = [[(Span(0, len(text)),)] for text in texts]
        hits = retriever.by("vectors").search_spans(texts, whole, k, self.granularity)
        each = iter(row for rows in hits for row in rows)
        return _spread(sentences, [list(islice(each, len(_needing(sentence.propositions)))) for sentence in sentences])


@dataclass(frozen=True, slots=True)
class WholeSentences:
    """AGRaME's ablations (ii) and (iii): search with the whole sentence, and cite its best one or two passages."""

    name: str = "sentence"
    granularity: Granularity = Granularity.SENTENCE
    num_cited: int = 1

    def claims(self, sentence: SplitSentence) -> tuple[Proposition, ...]:
        return sentence.as_one_claim

    def find(self, sentences: Sequence[SplitSentence], retriever: Retriever, k: int) -> HitsByClaim:
        texts = [sentence.text for sentence in sentences]
        whole = [[(Span(0, len(text)),)] for text in texts]
        return retriever.by("vectors").search_spans(texts, whole, k, self.granularity)


def _needing(claims: Sequence[Proposition]) -> list[Proposition]:
    return [claim for claim in claims if claim.check_worthy]


def _spread(sentences: Sequence[SplitSentence], hits_by_sentence: Sequence[Sequence[list[Hit]]]) -> HitsByClaim:
    """Put the hits at the places of the propositions that need support; the others get none."""
    rows = []
    for sentence, hits in zip(sentences, hits_by_sentence, strict=True):
        each = iter(hits)
        rows.append([next(each) if p.check_worthy else [] for p in sentence.propositions])
    return rows


METHODS = ("propositions", "vectors", "paper", "alone", "sentence", "sentence-2", "postcite", "bm25")


def method_of(name: str) -> Method:
    """Return a method by its name, one of `METHODS`."""
    from propcite.attribution.citing.baselines import Bm25, PostCite

    factories: dict[str, Callable[[], Method]] = {
        "propositions": InContext,
        "vectors": lambda: InContext("vectors", word_share=0.0),
        "paper": lambda: InContext("paper", Granularity.PASSAGE, word_share=0.0),
        "alone": Alone,
        "sentence": WholeSentences,
        "sentence-2": lambda: WholeSentences("sentence-2", num_cited=2),
        "postcite": PostCite,
        "bm25": Bm25,
    }
    if name not in factories:
        raise AttributionError(f"no citing method is named {name!r}: use one of {', '.join(factories)}")
    return factories[name]()
