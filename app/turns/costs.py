"""How many seconds work will take: the shape of a cost is given, how fast this machine is gets learned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from threading import Lock
from typing import Self

from propcite.retrieval.text import Granularity, Passage

MIN_S, MAX_S = 0.001, 3600.0  # of an estimate
MAX_FACTOR = 50.0  # by which a machine may be slower or faster than the one whose costs are given
MEMORY = 0.9  # weight of what was learned before, beside one more observation
STOPS = ".!?\n。！？"


@dataclass(frozen=True, slots=True)
class Size:
    """What costs are estimated from, all counted in one pass over the characters: texts, their sentences, passages."""

    texts: int = 1
    characters: int = 0
    sentences: int = 0
    passages: int = 0  # their characters

    @classmethod
    def of(cls, text: str, passages: Iterable[Passage] = ()) -> Self:
        """Return the size of a text that is cited over passages.

        >>> Size.of("It rained. It snowed.", [Passage("a", "It rained.")])
        Size(texts=1, characters=21, sentences=2, passages=10)
        """
        stops = sum(map(text.count, STOPS))
        sentences = min(max(1, stops), 1 + len(text) // 12)  # a row of stops makes no sentences
        return cls(1, len(text), sentences, sum(len(p.text) + len(p.title) for p in passages))

    def __add__(self, other: Size) -> Size:
        return Size(
            self.texts + other.texts,
            self.characters + other.characters,
            self.sentences + other.sentences,
            self.passages + other.passages,
        )


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of a text, of a sentence, and of a thousand characters of passages."""

    text: float
    sentence: float = 0.0
    passages: float = 0.0

    def of(self, size: Size) -> float:
        return self.text * size.texts + self.sentence * size.sentences + self.passages * size.passages / 1000


class Kind(StrEnum):
    """Kinds of work, whose costs are learned apart."""

    CITE = "cite"
    REPAIR = "repair"
    SEARCH_PASSAGE = "search passage"
    SEARCH_SENTENCE = "search sentence"
    SEARCH_PROPOSITION = "search proposition"
    EXPLAIN = "explain"
    EVIDENCE = "evidence"
    JUDGE = "judge"
    READ = "read"  # a part of an answer while it is written
    ANSWER = "answer"  # all such parts
    COMPARE = "compare"  # whole documents; their passages count as sentences
    ASK = "ask"  # from its first word to its last, the model's time included
    CHAT = "chat"
    SUGGEST = "suggest"  # questions, of which some are searched and read
    MODELS = "models"  # the model server's list
    EXPORT = "export"  # an answer or a draft as a file, or with all its facts
    VIEW = "view"  # a page that is drawn, a document that is rendered
    DOCUMENT = "document"  # a PDF inside a request; its bytes count as characters of passages


COSTS = {
    Kind.CITE: Cost(0.03, sentence=0.05, passages=0.01),
    Kind.REPAIR: Cost(0.05, sentence=0.08, passages=0.01),
    Kind.SEARCH_PASSAGE: Cost(0.02),
    Kind.SEARCH_SENTENCE: Cost(0.03),
    Kind.SEARCH_PROPOSITION: Cost(0.15),
    Kind.EXPLAIN: Cost(0.1),
    Kind.EVIDENCE: Cost(0.3),
    Kind.JUDGE: Cost(0.02, passages=0.01),
    Kind.EXPORT: Cost(0.05, sentence=0.002),
    Kind.VIEW: Cost(0.2),
    Kind.READ: Cost(0.02, sentence=0.05),
    Kind.ANSWER: Cost(0.5),
    Kind.COMPARE: Cost(0.2, sentence=0.1),
    Kind.ASK: Cost(2.0),
    Kind.CHAT: Cost(5.0),
    Kind.SUGGEST: Cost(2.0),
    Kind.MODELS: Cost(0.1),
    Kind.DOCUMENT: Cost(1.0, passages=0.002),
}

SEARCHES = {
    Granularity.PASSAGE: Kind.SEARCH_PASSAGE,
    Granularity.SENTENCE: Kind.SEARCH_SENTENCE,
    Granularity.PROPOSITION: Kind.SEARCH_PROPOSITION,
}


class Costs:
    """Estimates by kind of work; threads share it."""

    def __init__(self, costs: Mapping[Kind, Cost] = COSTS) -> None:
        self._costs = costs
        self._measured = {kind: cost.of(Size(sentences=1, passages=1000)) for kind, cost in costs.items()}
        self._given = dict(self._measured)
        self._lock = Lock()

    def estimate(self, kind: Kind, size: Size) -> float:
        """Return the seconds that work will take: never less than `MIN_S`, never more than `MAX_S`."""
        return max(MIN_S, min(MAX_S, self._costs[kind].of(size) * self.factor(kind)))

    def given(self, kind: Kind, size: Size) -> float:
        """Return the seconds that work takes by the given costs: a measure of its size that is the same everywhere."""
        return self._costs[kind].of(size)

    def factor(self, kind: Kind) -> float:
        """Return how much longer work takes here than the given costs say."""
        with self._lock:
            factor = self._measured[kind] / self._given[kind]
        return max(1 / MAX_FACTOR, min(MAX_FACTOR, factor))

    def learn(self, kind: Kind, size: Size, seconds: float) -> None:
        """Learn from work that took so many seconds."""
        with self._lock:
            self._measured[kind] = MEMORY * self._measured[kind] + min(MAX_S, seconds)
            self._given[kind] = MEMORY * self._given[kind] + min(MAX_S, self._costs[kind].of(size))
