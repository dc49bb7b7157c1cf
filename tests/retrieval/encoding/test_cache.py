"""A memory of encoded texts: asked for again they are not read again, and no more is kept than allowed."""

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


class Reader:
    """Reads words, and notes which."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, words: Sequence[str]) -> list[TokenVectors]:
        self.read += words
        return [vectors_of(word) for word in words]


def test_what_was_asked_for_is_read_once() -> None:
    memory, reader = VectorCache(), Reader()
    memory.recall(["a", "bb", "a"], ["a", "bb", "a"], reader)
    found = memory.recall(["bb", "ccc"], ["bb", "ccc"], reader)
    assert reader.read == ["a", "bb", "ccc"]
    assert [len(tokens.vectors) for tokens in found] == [2, 3]


def test_what_was_asked_for_longest_ago_is_forgotten_first() -> None:
    memory, reader = VectorCache(max_tokens=5), Reader()
    for word in ("aa", "bb", "aa", "cc"):
        memory.recall([word], [word], reader)
    memory.recall(["aa", "bb"], ["aa", "bb"], reader)
    assert reader.read == ["aa", "bb", "cc", "bb"]


@given(st.lists(st.lists(st.text("abc", min_size=1, max_size=4), max_size=5)), st.integers(1, 9))
def test_every_word_has_its_own_vectors_whatever_is_forgotten(asked: list[list[str]], most: int) -> None:
    memory, reader = VectorCache(most), Reader()
    for words in asked:
        found = memory.recall(words, words, reader)
        assert [(len(f.vectors), f.vectors[0, 0]) for f in found] == [(len(w), ord(w[0])) for w in words]


def test_threads_share_a_memory() -> None:
    memory = VectorCache(max_tokens=40)
    words = [letter * (1 + i % 5) for i, letter in enumerate("abcdefghijklmnop" * 40)]

    def ask(word: str) -> bool:
        tokens = memory.recall([word], [word], Reader())[0]
        return len(tokens.vectors) == len(word) and tokens.vectors[0, 0] == ord(word[0])

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(ask, words))


def test_the_judge_reads_evidence_once_for_all_answers(encoder: Encoder) -> None:
    read: list[str] = []

    class Noting:
        name = "noting"

        def encode_queries(self, texts: Sequence[str]) -> list[TokenVectors]:
            return encoder.encode_queries(texts)

        def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
            read.extend(p.text for p in passages)
            return encoder.encode_passages(passages)

    judge = EmbeddedJudge(Noting())  # type: ignore[arg-type]
    cases = [Case("The gate is high.", ("The gate is 6 metres high.",)), Case("It opened.", ("It opened in May.",))]
    first = judge.judge(cases)
    again = judge.judge([*cases, Case("It closed.", ("It opened in May.",))])
    assert read == ["The gate is 6 metres high.", "It opened in May."]
    assert again[:2] == first
