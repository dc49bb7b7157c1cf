"""ALCE's measures: a table of cases, and a plainer reference implementation."""

from __future__ import annotations

import doctest
import zlib
from collections.abc import Callable, Sequence

import pytest
from alce_reference import reference_score
from hypothesis import given
from hypothesis import strategies as st

from propcite.app.lab.alce import scores
from propcite.app.lab.alce.scores import (
    CitationScore,
    Phi,
    Premise,
    Statement,
    citation_score,
    claim_recall,
    first_line,
    list_score,
    list_statements,
    qa_scores,
    statements,
    str_em,
)
from propcite.app.lab.alce.sentences import own_tokenizer, sentences_of, tokenizer

DOCS = ["A", "B", "C", "D"]


def entailed_by(*premises: str) -> Phi:
    """Return a judge that accepts exactly these sets of documents for any claim."""
    return lambda premise, _: "".join(premise) in premises


def score(output: str, phi: Phi, docs: Sequence[str] = DOCS) -> CitationScore:
    result = citation_score(statements(sentences_of(output)), docs, phi)
    assert result is not None
    return result


def test_doctests() -> None:
    assert doctest.testmod(scores).failed == 0


TABLE: dict[str, tuple[str, Phi, float, float, int]] = {
    "no citation": ("It rained.", entailed_by("A"), 0.0, 0.0, 0),
    "one that entails": ("It rained [1].", entailed_by("A"), 1.0, 1.0, 1),
    "one that does not": ("It rained [2].", entailed_by("A"), 0.0, 0.0, 1),
    "out of range": ("It rained [5].", entailed_by("A"), 0.0, 0.0, 0),
    "one of two out of range": ("It rained [1][5].", entailed_by("A"), 0.0, 0.0, 0),
    "out of range behind the third": ("It rained [1][2][3][9].", entailed_by("ABC"), 0.0, 0.0, 0),
    "zero is the last document": ("It rained [0].", entailed_by("D"), 1.0, 1.0, 1),
    "more than three": ("It rained [1][2][3][4].", entailed_by("ABC", "A", "B", "C"), 1.0, 1.0, 3),
    "the fourth alone would do": ("It rained [1][2][3][4].", entailed_by("D", "ABCD"), 0.0, 0.0, 3),
    "joint, not single": ("It rained [1][2].", entailed_by("AB"), 1.0, 1.0, 2),
    "one alone, one in excess": ("It rained [1][2].", entailed_by("AB", "A"), 1.0, 0.5, 2),
    "each alone": ("It rained [1][2].", entailed_by("AB", "A", "B"), 1.0, 1.0, 2),
    "each in excess": ("It rained [1][2][3].", entailed_by("ABC", "BC", "AC", "AB"), 1.0, 0.0, 3),
    "two needed, one in excess": ("It rained [1][2][3].", entailed_by("ABC", "AB"), 1.0, 2 / 3, 3),
    "single, not joint": ("It rained [1][2].", entailed_by("A", "B"), 0.0, 0.0, 2),
    "order counts": ("It rained [2][1].", entailed_by("AB"), 0.0, 0.0, 2),
    "a duplicate that entails": ("It rained [1][1].", entailed_by("AA", "A"), 1.0, 1.0, 2),
    "a duplicate that entails only twice": ("It rained [1][1].", entailed_by("AA"), 1.0, 1.0, 2),
    "duplicates fill the three": ("It rained [1][1][1][2].", entailed_by("AAA", "B"), 1.0, 1.0, 3),
    "a duplicate's first is left out": ("It rained [1][2][1].", entailed_by("ABA", "BA"), 1.0, 1 / 3, 3),
    "two sentences": ("It rained [1]. It stopped.", entailed_by("A"), 0.5, 1.0, 1),
    "a wrong one dilutes": ("It rained [1]. It stopped [2].", entailed_by("A"), 0.5, 0.5, 2),
    "out of range does not dilute": ("It rained [1]. It stopped [7].", entailed_by("A"), 0.5, 1.0, 1),
    "in front": ("[1] It rained. [2] It stopped.", entailed_by("A", "B"), 1.0, 1.0, 2),
    "behind the full stop": ("It rained. [1] It stopped.", entailed_by("A"), 0.5, 1.0, 1),
    "behind the last full stop": ("It rained. [1]", entailed_by("A"), 0.5, 1.0, 1),
    "no space": ("It rained[1].It stopped[2].", entailed_by("AB"), 1.0, 1.0, 2),
    "several numbers in one bracket": ("It rained [1, 2].", entailed_by("A"), 1.0, 1.0, 1),
    "an abbreviation": ("Dr. Ada Gill [1] saw the rain at 5 p.m. in Rome [2].", entailed_by("AB"), 1.0, 1.0, 2),
}


@pytest.mark.parametrize("name", TABLE)
def test_what_counts_as_a_citation(name: str) -> None:
    output, phi, recall, precision, citations = TABLE[name]
    result = score(output, phi)
    assert (result.recall, result.precision, result.citations) == (recall, precision, citations)


def test_a_marker_after_the_full_stop_belongs_to_the_next_sentence() -> None:
    assert statements(sentences_of("It rained. [2] It stopped.")) == [
        Statement("It rained.", ()),
        Statement("It stopped.", (1,)),
    ]
    assert statements(sentences_of("It rained. [2]"))[-1] == Statement("", (1,))


def test_an_answer_without_sentences_has_no_score() -> None:
    assert citation_score(statements(sentences_of("")), DOCS, entailed_by("A")) is None


def test_the_premise_is_the_documents_in_the_order_of_their_markers() -> None:
    calls: list[tuple[Premise, str]] = []

    def phi(premise: Premise, hypothesis: str) -> bool:
        calls.append((premise, hypothesis))
        return True

    score("It rained [3] in Rome [1].", phi)
    assert calls[0] == (("C", "A"), "It rained in Rome.")


def test_each_list_entry_is_judged_with_its_question() -> None:
    entries = list_statements("Which rivers end in the Adriatic?", "Po [1], Adige [2][3].")
    assert entries == [
        Statement("Which rivers end in the Adriatic? Po", (0,)),
        Statement("Which rivers end in the Adriatic? Adige", (1, 2)),
    ]
    assert len(list_statements("Which?", "")) == 1  # nothing listed is one wrong answer


words = st.sampled_from(["It rained", "the Po", "a.m.", "6.4 metres", "see |", "[sic]", "and", "U.S. [so]", "a]b"])
markers = st.sampled_from(["[1]", "[2]", "[3]", "[4]", " [1]", " [2][1]", "[3][3]", "[12]", "[0]", "[2, 3]", " [1", ""])
stops = st.sampled_from([". ", ".", "! ", "? ", " ", ', "', ".\n", ".<|im_end|>"])
outputs = st.lists(st.tuples(words, markers, stops, markers), max_size=7).map(
    lambda pieces: "".join(part for piece in pieces for part in piece)
)


def random_judge(seed: int) -> Phi:
    return lambda premise, hypothesis: zlib.crc32(repr((seed, premise, hypothesis)).encode()) % 100 < 55


@given(outputs, st.integers(1, 6), st.integers(0, 10_000))
def test_citation_scores_equal_the_reference_implementation(output: str, num_docs: int, seed: int) -> None:
    docs, phi = [f"Title: {n}\ntext {n}" for n in range(num_docs)], random_judge(seed)
    sentences = sentences_of(first_line(output))
    result = citation_score(statements(sentences), docs, phi)
    expected = reference_score(list(sentences), docs, phi)
    assert (result is None) == (expected is None)
    if result and expected:
        assert (result.recall, result.precision) == pytest.approx(expected)


@given(outputs, st.integers(1, 6), st.integers(0, 10_000))
def test_list_citation_scores_equal_the_reference_implementation(output: str, num_docs: int, seed: int) -> None:
    docs, phi = [str(n) for n in range(num_docs)], random_judge(seed)
    result = citation_score(list_statements("Which?", output), docs, phi)
    expected = reference_score([f"Which? {one.strip()}" for one in _without_end(output).split(",")], docs, phi)
    assert result is not None
    assert expected is not None
    assert (result.recall, result.precision) == pytest.approx(expected)


def _without_end(output: str) -> str:
    output = output.rstrip()
    while output.endswith("."):
        output = output[:-1]
    while output.endswith(","):
        output = output[:-1]
    return output


def test_claims_are_judged_by_the_answer_without_its_markers() -> None:
    premises: list[Premise] = []

    def phi(premise: Premise, hypothesis: str) -> bool:
        premises.append(premise)
        return hypothesis != "It snowed."

    assert claim_recall("It rained [1]. It stopped [2].", ["It rained.", "It snowed."], phi) == 0.5
    assert premises == [("It rained. It stopped.",)] * 2
    assert claim_recall("It rained.", [], phi) is None


@pytest.mark.parametrize(
    ("output", "pairs", "expected"),
    [
        ("The Po is 652 km long.", [["652 km"], ["405 miles", "the PO"]], (1.0, 1.0)),
        ("The Po is long.", [["652 km"], ["Po"]], (0.5, 0.0)),
        ("A Polar bear.", [["Pol"]], (1.0, 1.0)),  # part of a word counts
        ("Nothing.", [["The"]], (1.0, 1.0)),  # an answer that is empty after normalization matches everywhere
        ("", [["Po"]], (0.0, 0.0)),
        ("Po", [[]], (0.0, 0.0)),
    ],
)
def test_short_answers_match_as_substrings(output: str, pairs: list[list[str]], expected: tuple[float, float]) -> None:
    assert str_em(output, pairs) == expected
    assert str_em(output, []) is None


def test_qa_scores_take_the_best_correct_answer() -> None:
    assert qa_scores(["river Po", ""], [["Po", "the Po river"], ["Adige"]]) == (0.0, 0.5, 0.0)
    assert qa_scores(["the Po."], [["Po"]]) == (1.0, 1.0, 1.0)
    assert qa_scores([], []) is None


def test_list_scores_accept_every_name_of_an_answer() -> None:
    answers = [["Po", "Eridanus"], ["Adige"], ["Piave"], ["Brenta"], ["Reno"], ["Tagliamento"]]
    result = list_score("Eridanus, the Adige, Rhine.", answers)
    assert result is not None
    assert (result.precision, result.recall, result.recall_5, result.answers) == pytest.approx((2 / 3, 2 / 6, 2 / 5, 3))
    assert result.f1 == pytest.approx(4 / 9)
    assert result.f1_5 == pytest.approx(0.5)
    nothing = list_score(" ,.", answers)
    assert nothing is not None
    assert (nothing.precision, nothing.recall, nothing.f1, nothing.answers) == (0.0, 0.0, 0.0, 0)
    assert list_score("Po", []) is None


SPLIT: list[tuple[str, list[str]]] = [
    ("It rained. It stopped.", ["It rained.", "It stopped."]),
    ("Is it 6.4 m? Yes!", ["Is it 6.4 m?", "Yes!"]),
    ("Dr. Gill lives in Washington, D.C. and works.", ["Dr. Gill lives in Washington, D.C. and works."]),
    ('He said "It rained." Then he left.', ['He said "It rained."', "Then he left."]),
    ("It rained. [1] It stopped.", ["It rained.", "[1] It stopped."]),
    ("", []),
]


@pytest.mark.parametrize("make", [tokenizer, own_tokenizer])
def test_sentences_are_split_by_punkt(make: Callable[[], Callable[[str], list[str]]]) -> None:
    assert [make()(text) for text, _ in SPLIT] == [sentences for _, sentences in SPLIT]


def test_nltk_s_model_is_used_if_installed() -> None:
    pytest.importorskip("llama_index.core", reason="llama-index-core brings nltk's English model")
    assert tokenizer().model == "punkt_tab"
    assert own_tokenizer().model == "punkt of propcite"
