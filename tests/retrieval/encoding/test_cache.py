"""The cache of vectors: no text is encoded twice, and it never holds more tokens than its limit."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from propcite.attribution.judges import Case
from propcite.attribution.judges.embedded import EmbeddedJudge
from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.encoding.cache import VectorCache
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.text import Passage


def vectors_of(word: str) -> TokenVectors:
    return TokenVectors(np.full((len(word), 2), ord(word[0]), np.float32), np.zeros((len(word), 2), np.int32))


class RecordingEncoder:
    """Encodes words and records them."""

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def __call__(self, words: Sequence[str]) -> list[TokenVectors]:
        self.encoded += words
        return [vectors_of(word) for word in words]


def test_a_text_is_encoded_once() -> None:
    cache, encode = VectorCache(), RecordingEncoder()
    cache.recall(["a", "bb", "a"], ["a", "bb", "a"], encode)
    vectors = cache.recall(["bb", "ccc"], ["bb", "ccc"], encode)
    assert encode.encoded == ["a", "bb", "ccc"]
    assert [len(tokens.vectors) for tokens in vectors] == [2, 3]


def test_the_least_recently_requested_text_is_dropped_first() -> None:
    cache, encode = VectorCache(max_tokens=5), RecordingEncoder()
    for word in ("aa", "bb", "aa", "cc"):
        cache.recall([word], [word], encode)
    cache.recall(["aa", "bb"], ["aa", "bb"], encode)
    assert encode.encoded == ["aa", "bb", "cc", "bb"]


@given(st.lists(st.lists(st.text("abc", min_size=1, max_size=4), max_size=5)), st.integers(1, 9))
def test_each_text_gets_its_own_vectors_whatever_is_dropped(requests: list[list[str]], max_tokens: int) -> None:
    cache, encode = VectorCache(max_tokens), RecordingEncoder()
    for words in requests:
        vectors = cache.recall(words, words, encode)
        assert [(len(v.vectors), v.vectors[0, 0]) for v in vectors] == [(len(w), ord(w[0])) for w in words]


def test_threads_share_a_cache() -> None:
    cache = VectorCache(max_tokens=40)
    words = [letter * (1 + i % 5) for i, letter in enumerate("abcdefghijklmnop" * 40)]

    def check(word: str) -> bool:
        tokens = cache.recall([word], [word], RecordingEncoder())[0]
        return len(tokens.vectors) == len(word) and tokens.vectors[0, 0] == ord(word[0])

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(check, words))


def test_the_embedded_judge_encodes_evidence_once_for_all_answers(encoder: Encoder) -> None:
    encoded: list[str] = []

    class Recording:
        name = "recording"

        def encode_queries(self, texts: Sequence[str]) -> list[TokenVectors]:
            return encoder.encode_queries(texts)

        def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
            encoded.extend(p.text for p in passages)
            return encoder.encode_passages(passages)

    judge = EmbeddedJudge(Recording())  # type: ignore[arg-type]
    cases = [Case("The gate is high.", ("The gate is 6 metres high.",)), Case("It opened.", ("It opened in May.",))]
    first = judge.judge(cases)
    again = judge.judge([*cases, Case("It closed.", ("It opened in May.",))])
    assert encoded == ["The gate is 6 metres high.", "It opened in May."]
    assert again[:2] == first
