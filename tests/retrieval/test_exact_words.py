"""Exact words beside vectors: terms, postings, rarity, phrases and candidates, against counting by hand."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from propcite import Encoder
from propcite.retrieval.alignment import alignment_of
from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.index.integrity import check_index, repair_index
from propcite.retrieval.index.segment import build_segment
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity, Passage, Sentence, Span
from propcite.retrieval.words import postings as postings_module
from propcite.retrieval.words.postings import build_postings, read_postings, write_postings
from propcite.retrieval.words.query import WordQuery, valid_way
from propcite.retrieval.words.shares import quoted_phrases
from propcite.retrieval.words.terms import text_terms

TEXTS = {
    "bridge": "The bridge is 96 metres long. Vennmouth built it for 6.4 million euros.",
    "ferry": "A ferry crosses the water. It costs 4.6 million euros and was built in 1996.",
    "barrier": "Ships pass the barrier of Zorblatz-12. It is written “no entry at night” there.",
    "copy": "The river is wide. Ships pass it at night, and no entry is free.",
}


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder()


@pytest.fixture(scope="module")
def passages() -> list[Passage]:
    return [passage_from_text(name, text) for name, text in TEXTS.items()]


@pytest.fixture(scope="module")
def retriever(encoder: Encoder, passages: list[Passage]) -> Retriever:
    return Retriever.over(encoder, passages)


def ids_of(hits: list) -> list[str]:
    return [hit.passage.id for hit in hits]


# Terms and postings


def spelled(text: str) -> TokenVectors:
    """Return a token for each letter; a space is none."""
    places = [place for place, letter in enumerate(text) if letter != " "]
    offsets = np.array([(place, place + 1) for place in places], np.int32).reshape(-1, 2)
    ids = np.array([ord(text[place]) for place in places], np.int64)
    return TokenVectors(np.ones((len(places), 2), np.float32), offsets, None, ids)


def terms_by_hand(text: str) -> Counter[str]:
    words = text.split()
    return Counter(letter for word in words for letter in word) + Counter(
        word[at : at + 2] for word in words for at in range(len(word) - 1)
    )


WORDS = st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=6).map(" ".join)


def key(term: str) -> int:
    return ord(term[0]) << 32 | (ord(term[1]) + 1 if len(term) > 1 else 0)


@given(WORDS)
def test_terms_are_pieces_and_pairs_that_touch(text: str) -> None:
    tokens = spelled(text)
    assert tokens.ids is not None
    keys, first, last = text_terms(tokens.ids, tokens.offsets)
    assert Counter(keys.tolist()) == Counter({key(term): n for term, n in terms_by_hand(text).items()})
    assert ((last - first) == (keys.astype(np.int64) & 0xFFFFFFFF > 0)).all()


@settings(deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=5), st.integers(1, 9), st.integers(1, 9))
def test_postings_list_the_passages_of_each_term(texts: list[str], part: int, scan: int) -> None:
    from propcite.retrieval.index.codec import Codec

    samples = [Passage(str(n), text, sentences=(Sentence(Span(0, len(text))),)) for n, text in enumerate(texts)]
    segment = build_segment(samples, [spelled(text) for text in texts], Codec(2, 16))
    wanted: dict[int, list[int]] = defaultdict(list)
    for number, text in enumerate(texts):
        for term in terms_by_hand(text):
            wanted[key(term)].append(number)
    with pytest.MonkeyPatch.context() as patch:  # so that a few tokens are many parts
        patch.setattr(postings_module, "PART", part)
        patch.setattr(postings_module, "SCAN", scan)
        postings = build_postings(segment)
    assert postings.keys.tolist() == sorted(wanted)
    first, last = postings.places(np.array([*sorted(wanted), 1 << 40], np.uint64))
    listed = [postings.passages[a:b].tolist() for a, b in zip(first, last, strict=True)]
    assert listed == [*(wanted[term] for term in sorted(wanted)), []]


def test_written_postings_are_those_in_memory(passages: list[Passage], encoder: Encoder, tmp_path: Path) -> None:
    from propcite.retrieval.index.codec import Codec

    segment = build_segment(passages, encoder.encode_passages(passages), Codec(encoder.dimension, 8))
    done: list[int] = []
    write_postings(segment, tmp_path / "words", done.append)
    written, built = read_postings(tmp_path / "words", segment), build_postings(segment)
    for name in ("keys", "starts", "passages"):
        assert np.array_equal(getattr(written, name), getattr(built, name))
    assert done[-1] == segment.num_tokens


# Searching


@pytest.mark.parametrize("granularity", Granularity)
def test_what_shares_no_word_is_not_found_by_words(retriever: Retriever, granularity: Granularity) -> None:
    by_words = retriever.by("words")
    assert set(ids_of(by_words.search("Zorblatz-12", granularity, 9))) == {"barrier"}
    assert by_words.search("xylophone", granularity, 9) == []
    assert by_words.search("?!", granularity, 9) == []


def test_a_number_is_one_word(retriever: Retriever) -> None:
    hits = retriever.by("words").search("6.4 million", Granularity.SENTENCE, 2)
    assert ids_of(hits) == ["bridge", "ferry"]  # 4.6 has the same pieces, but not the same pairs
    assert hits[0].score > 1.2 * hits[1].score


def test_both_is_vectors_and_a_share_of_words(retriever: Retriever) -> None:
    question = "What did Vennmouth build?"
    for granularity in Granularity:
        near = {(h.passage.id, h.spans): h for h in retriever.by("vectors").search(question, granularity, 99)}
        both = retriever.search(question, granularity, 99)
        assert len(both) == len(near)
        for hit in both:
            assert hit.words is not None
            assert hit.similarity == pytest.approx(near[hit.passage.id, hit.spans].score, abs=1e-5)
        assert any(hit.words for hit in both)
        assert near[both[0].passage.id, both[0].spans].words is None


def test_a_claim_is_searched_by_the_words_of_its_piece_alone(retriever: Retriever) -> None:
    text = "Zorblatz-12 is closed and Vennmouth paid."
    pieces = [(Span(0, 21),), (Span(26, 40),)]
    first, second = retriever.by("words").search_spans([text], [pieces], 1)[0]
    assert (ids_of(first), ids_of(second)) == (["barrier"], ["bridge"])


def test_the_rarest_words_count_most(encoder: Encoder) -> None:
    common = [passage_from_text(f"p{n}", "The report of the council says that the water is clean.") for n in range(20)]
    rare = passage_from_text("rare", "Kittiwakes nest there.")
    hits = Retriever.over(encoder, [*common, rare], way="words").search("Does the council report on kittiwakes?", k=3)
    assert ids_of(hits)[0] == "rare"


@pytest.mark.parametrize("way", ["both", "vectors", "words"])
def test_every_hit_has_the_quoted_words_in_their_order(retriever: Retriever, way: str) -> None:
    quoted = retriever.by(valid_way(way))
    hits = quoted.search('Where is "no entry at night" written?', Granularity.PASSAGE, 9, phrases=True)
    assert ids_of(hits) == ["barrier"]
    hits = quoted.search('"million euros"', Granularity.SENTENCE, 9, phrases=True)
    assert sorted(ids_of(hits)) == ["bridge", "ferry"]
    assert all("million euros" in hit.text for hit in hits)
    assert quoted.search('"euros million"', Granularity.PASSAGE, 9, phrases=True) == []
    assert len(quoted.by("vectors").search('"euros million"', Granularity.PASSAGE, 9)) == len(TEXTS)


def test_phrases_are_what_stands_in_double_quotes() -> None:
    text = 'is “net zero” the "end"? "" „zu Ende“ «fin» an open "quote'
    assert [span.of(text) for span in quoted_phrases(text)] == ["net zero", "end", "zu Ende", "fin"]


def test_an_unknown_way_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="both, vectors, words"):
        valid_way("bm25")


def test_a_planted_word_becomes_a_candidate_in_any_regime(tmp_path: Path) -> None:
    """Vectors are drawn at random here, so that words alone lead to the planted passage."""
    random = np.random.default_rng(3)
    pytest.importorskip("faiss")
    texts = ["".join(random.choice(list("abcd "), 40)).strip() + " a" for _ in range(3000)]
    texts[1234] = "abc zq dd"
    samples = [Passage(str(n), text, sentences=(Sentence(Span(0, len(text))),)) for n, text in enumerate(texts)]

    def encoded(text: str) -> TokenVectors:
        tokens = spelled(text)
        vectors = random.standard_normal((len(tokens), 8))
        return replace(tokens, vectors=(vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32))

    index = TokenIndex(8, "made-up", exact_up_to=0, regime="faiss")
    index.add(samples, [encoded(text) for text in texts])
    index.save(tmp_path)
    query = encoded("zq bb")
    weights = query.weights()[None]
    for regime in ("exact", "tokens", "faiss"):
        words = WordQuery.of("zq bb", query, weights, 2.0)
        opened = TokenIndex.load(tmp_path, exact_up_to=0, regime=regime)
        hit = opened.search(query.vectors, weights, k=1, word_query=words, refine=8)[0][0]
        assert (regime, hit.passage_id) == (regime, "1234")


def test_words_alone_rank_under_any_alignment(retriever: Retriever) -> None:
    aligned = replace(retriever, alignment=alignment_of("xtr:k=10"), way="words")
    assert ids_of(aligned.search("Zorblatz-12", k=9)) == ["barrier"]


def test_words_of_deleted_passages_take_nothing_from_scores(passages: list[Passage], encoder: Encoder) -> None:
    """Postings hold deleted passages until the next merge: a word is never in more passages than are counted."""
    index = TokenIndex(encoder.dimension, encoder.name)
    index.add(passages, encoder.encode_passages(passages))
    index.delete(["bridge", "ferry", "copy"])
    by_id = {passage.id: passage for passage in passages}
    left = Retriever(encoder, index, lambda ids: {i: by_id[i] for i in ids})
    hits = left.search("the barrier is at night", k=9)
    assert ids_of(hits) == ["barrier"]
    assert hits[0].words is not None
    assert hits[0].words >= 0


# On disk


def test_an_older_index_lists_its_words_when_it_is_searched_or_repaired(
    passages: list[Passage], encoder: Encoder, tmp_path: Path
) -> None:
    index = TokenIndex(encoder.dimension, encoder.name)
    index.add(passages, encoder.encode_passages(passages))
    index.save(tmp_path)
    (words,) = tmp_path.glob("segment-*.words")
    content = words.read_bytes()
    assert index.stats().bytes == sum(path.stat().st_size for path in tmp_path.glob("segment-*"))
    words.unlink()
    by_id = {passage.id: passage for passage in passages}
    opened = Retriever(encoder, TokenIndex.load(tmp_path), lambda ids: {i: by_id[i] for i in ids}, way="words")
    assert ids_of(opened.search("Zorblatz", k=1)) == ["barrier"]
    (fault,) = check_index(tmp_path)
    assert fault.derived
    assert "older" in fault.problem
    repair_index(tmp_path, [fault])
    assert check_index(tmp_path) == []
    assert words.read_bytes() == content


def test_an_index_without_pieces_is_searched_by_vectors(passages: list[Passage], encoder: Encoder) -> None:
    index = TokenIndex(encoder.dimension, encoder.name)
    index.add(passages, [replace(tokens, ids=None) for tokens in encoder.encode_passages(passages)])
    by_id = {passage.id: passage for passage in passages}
    plain = Retriever(encoder, index, lambda ids: {i: by_id[i] for i in ids})
    assert len(plain.search("Zorblatz", k=9)) == len(passages)
    with pytest.raises(RetrievalError, match="propcite reindex"):
        plain.by("words").search("Zorblatz")
