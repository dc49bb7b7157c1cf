"""Baselines that cite whole passages: BM25, and ALCE's POSTCITE."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from propcite.attribution.citations import Proposition
from propcite.attribution.citing.method import HitsByClaim
from propcite.attribution.citing.splitting import SplitSentence
from propcite.attribution.errors import AttributionError
from propcite.retrieval.encoding.base import Floats
from propcite.retrieval.encoding.cache import VectorCache
from propcite.retrieval.extras import install_command
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Hit, Passage, Span

Scores = Callable[[Sequence[str], Sequence[Passage]], Floats]  # (t), (p) -> (t, p)

MAX_CACHED = 4096  # texts whose vectors are kept
K1, B = 0.9, 0.4  # as the field's BM25 baselines have them


class Bm25:
    """Rank passages by BM25 alone."""

    name = "bm25"
    num_cited = 1

    def __init__(self) -> None:
        _bm25s()  # report a missing package before any text is read

    def claims(self, sentence: SplitSentence) -> tuple[Proposition, ...]:
        return sentence.as_one_claim

    def find(self, sentences: Sequence[SplitSentence], retriever: Retriever, k: int) -> HitsByClaim:
        return _rank(self.scores, sentences, retriever, k)

    def scores(self, texts: Sequence[str], passages: Sequence[Passage]) -> Floats:
        """Return scores (texts, passages); 0 where a text and a passage share no indexed word."""
        counted = Bm25Index([f"{p.title} {p.text}" for p in passages])
        return np.array([counted.scores(text) for text in texts], np.float32).reshape(len(texts), len(passages))


class Bm25Index:
    """A BM25 index over texts."""

    def __init__(self, texts: Sequence[str], k1: float = K1, b: float = B) -> None:
        self._num_texts = len(texts)
        words = _words(texts)
        self._index = _bm25s().BM25(k1=k1, b=b) if any(words) else None
        if self._index:
            self._index.index(words, show_progress=False)

    def scores(self, text: str) -> Floats:
        """Return the score of each indexed text (t,); 0 where no word is shared."""
        words = [word for word in _words([text])[0] if self._index and word in self._index.vocab_dict]
        if not self._index or not words:
            return np.zeros(self._num_texts, dtype=np.float32)
        scores: Floats = self._index.get_scores(words)
        return scores


class PostCite:
    """ALCE's POSTCITE: one vector per text; each sentence cites the nearest passage.

    `model` is a folder or hub name that sentence-transformers loads; empty for the bundled MiniLM.
    """

    name = "postcite"
    num_cited = 1

    def __init__(self, model: str = "") -> None:
        self.model = model
        self._cache: VectorCache[Floats] = VectorCache(MAX_CACHED)

    @cached_property
    def _encoder(self) -> Any:
        from sentence_transformers import SentenceTransformer

        from propcite.retrieval.encoding.bundled import bundled_model
        from propcite.retrieval.encoding.loading import model_folder

        return SentenceTransformer(str(model_folder(self.model or bundled_model())))

    def claims(self, sentence: SplitSentence) -> tuple[Proposition, ...]:
        return sentence.as_one_claim

    def find(self, sentences: Sequence[SplitSentence], retriever: Retriever, k: int) -> HitsByClaim:
        return _rank(self.scores, sentences, retriever, k)

    def scores(self, texts: Sequence[str], passages: Sequence[Passage]) -> Floats:
        if not texts or not passages:
            return np.zeros((len(texts), len(passages)), dtype=np.float32)
        scores: Floats = self._vectors(texts) @ self._vectors(_titled(passages)).T
        return scores

    def read(self, texts: Sequence[str], passages: Sequence[Passage]) -> None:
        """Encode texts and passages in one batch, for later calls of `scores`."""
        self._vectors([*texts, *_titled(passages)])

    def _vectors(self, texts: Sequence[str]) -> Floats:
        """Return unit vectors (t, d), from the cache where they are in it."""
        return np.concatenate(self._cache.recall(texts, texts, self._encoded))

    def _encoded(self, texts: list[str]) -> list[Floats]:
        return [v[None] for v in self._encoder.encode(texts, normalize_embeddings=True, show_progress_bar=False)]


def _titled(passages: Sequence[Passage]) -> list[str]:
    return [f"{p.title}. {p.text}" if p.title else p.text for p in passages]


def _rank(scores: Scores, sentences: Sequence[SplitSentence], retriever: Retriever, k: int) -> HitsByClaim:
    """Rank all passages for each whole sentence."""
    passages = retriever.passages()
    return [[_best(row, passages, k)] for row in scores([sentence.text for sentence in sentences], passages)]


def _bm25s() -> Any:
    try:
        import bm25s
    except ImportError as error:
        raise AttributionError(f"BM25 needs the package bm25s: {install_command('eval')}") from error
    return bm25s


def _words(texts: Sequence[str]) -> list[list[str]]:
    """Return the words of each text that BM25 indexes: no stop words, no single letters."""
    words: list[list[str]] = _bm25s().tokenize(list(texts), return_ids=False, show_progress=False) if texts else []
    return words


def _best(scores: Floats, passages: Sequence[Passage], k: int) -> list[Hit]:
    places = np.argsort(-scores, kind="stable")[:k]
    return [_hit(passages[place], float(scores[place])) for place in places]


def _hit(passage: Passage, score: float) -> Hit:
    return Hit(passage, Granularity.PASSAGE, (Span(0, len(passage.text)).trimmed(passage.text),), score, score)
