"""Citing as others do, over whole passages: BM25, and ALCE's POSTCITE.  To be measured against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from propcite.attribution.citations import Proposition
from propcite.attribution.citing.answer_parts import Part, whole
from propcite.attribution.citing.memory import Memory
from propcite.attribution.citing.methods import Found
from propcite.attribution.errors import AttributionError
from propcite.retrieval.encoding.encoder import Floats
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Hit, Passage, Span

Scores = Callable[[Sequence[str], Sequence[Passage]], Floats]  # (t), (p) -> (t, p)

MOST_READ = 4096  # texts with a vector
K1, B = 0.9, 0.4  # as the field's BM25 baselines have them


class Bm25:
    """Words alone."""

    name = "bm25"
    num_cited = 1

    def __init__(self) -> None:
        _bm25s()  # what is missing is told before any text is read

    def claims(self, part: Part) -> tuple[Proposition, ...]:
        return whole(part)

    def find(self, parts: Sequence[Part], retriever: Retriever, k: int) -> Found:
        return _found(self.scores, parts, retriever, k)

    def scores(self, texts: Sequence[str], passages: Sequence[Passage]) -> Floats:
        """Texts x passages; 0 where no word is shared, also where one side has none that counts."""
        counted = CountedWords([f"{p.title} {p.text}" for p in passages])
        return np.array([counted.scores(text) for text in texts], np.float32).reshape(len(texts), len(passages))


class CountedWords:
    """Texts whose words BM25 has counted, to be asked again and again."""

    def __init__(self, texts: Sequence[str], k1: float = K1, b: float = B) -> None:
        self._num_texts = len(texts)
        given = _words(texts)
        self._index = _bm25s().BM25(k1=k1, b=b) if any(given) else None
        if self._index:
            self._index.index(given, show_progress=False)

    def scores(self, text: str) -> Floats:
        """0 where no word is shared.  -> (t,)"""
        words = [word for word in _words([text])[0] if self._index and word in self._index.vocab_dict]
        if not self._index or not words:
            return np.zeros(self._num_texts, dtype=np.float32)
        scores: Floats = self._index.get_scores(words)
        return scores


class PostCite:
    """ALCE's POSTCITE: one vector a text, the nearest passage; `model` is a folder or name of sentence-transformers."""

    name = "postcite"
    num_cited = 1

    def __init__(self, model: str = "") -> None:
        self.model = model
        self._memory: Memory[Floats] = Memory(MOST_READ)

    @cached_property
    def _encoder(self) -> Any:
        from sentence_transformers import SentenceTransformer

        from propcite.retrieval.encoding.checkpoints import bundled_model

        return SentenceTransformer(self.model or bundled_model())

    def claims(self, part: Part) -> tuple[Proposition, ...]:
        return whole(part)

    def find(self, parts: Sequence[Part], retriever: Retriever, k: int) -> Found:
        return _found(self.scores, parts, retriever, k)

    def scores(self, texts: Sequence[str], passages: Sequence[Passage]) -> Floats:
        if not texts or not passages:
            return np.zeros((len(texts), len(passages)), dtype=np.float32)
        asked, given = (self._vectors(some) for some in (texts, _as_read(passages)))
        scores: Floats = asked @ given.T
        return scores

    def read(self, texts: Sequence[str], passages: Sequence[Passage]) -> None:
        """Read what will be asked for, and what for, in one batch."""
        self._vectors([*texts, *_as_read(passages)])

    def _vectors(self, texts: Sequence[str]) -> Floats:
        """(t, d); what was read last is known."""
        return np.concatenate(self._memory.recall(texts, texts, self._encoded))

    def _encoded(self, texts: list[str]) -> list[Floats]:
        return [v[None] for v in self._encoder.encode(texts, normalize_embeddings=True, show_progress_bar=False)]


def _as_read(passages: Sequence[Passage]) -> list[str]:
    return [f"{p.title}. {p.text}" if p.title else p.text for p in passages]


def _found(scores: Scores, parts: Sequence[Part], retriever: Retriever, k: int) -> Found:
    """The whole sentence asks, and passages answer."""
    passages = retriever.passages()
    return [[_best(row, passages, k)] for row in scores([part.text for part in parts], passages)]


def _bm25s() -> Any:
    try:
        import bm25s
    except ImportError as error:
        raise AttributionError("BM25 needs a package more: pip install 'propcite[eval]'") from error
    return bm25s


def _words(texts: Sequence[str]) -> list[list[str]]:
    """The words of each text that BM25 counts: neither function words nor single letters."""
    found: list[list[str]] = _bm25s().tokenize(list(texts), return_ids=False, show_progress=False) if texts else []
    return found


def _best(scores: Floats, passages: Sequence[Passage], k: int) -> list[Hit]:
    places = np.argsort(-scores, kind="stable")[:k]
    return [_hit(passages[place], float(scores[place])) for place in places]


def _hit(passage: Passage, score: float) -> Hit:
    return Hit(passage, Granularity.PASSAGE, (Span(0, len(passage.text)).trimmed(passage.text),), score, score)
