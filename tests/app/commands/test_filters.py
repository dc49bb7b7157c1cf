"""Filters: every line is answered, in order, as soon as it can be, and a bad one harms no other."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from word_encoder import WordEncoder

from propcite.app.bulk import filters
from propcite.app.bulk.filters import MAX_LINES, run, waiting_together
from propcite.app.commands import rank_lines
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges.embedded import EmbeddedJudge
from propcite.attribution.propcite import PropCite
from propcite.attribution.propositions.rules import RuleSplitter
from propcite.retrieval.encoding.encoder import Encoder


def answers(lines: Sequence[object], kind: type[Any], work: filters.Work[Any]) -> tuple[list[dict[str, Any]], int]:
    """What a filter writes for these lines, and how many it calls bad; a str goes in as it is."""
    written: list[str] = []
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    bad = run(io.StringIO(text), written.append, kind, work)
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in written)
    return [json.loads(line) for line in written], bad


def splits(lines: Sequence[object]) -> tuple[list[dict[str, Any]], int]:
    splitter = RuleSplitter()
    return answers(lines, filters.SplitLine, lambda read: filters.split(splitter, read))


@pytest.fixture(scope="module")
def propcite() -> PropCite:
    encoder: Any = WordEncoder()
    return PropCite(encoder, judge=EmbeddedJudge(encoder))


@given(st.lists(st.sampled_from(["a", "b", "", " ", "\n", "c"])), st.integers(1, 5))
def test_groups_hold_every_line_that_is_not_blank_in_order(lines: list[str], most: int) -> None:
    groups = list(waiting_together(lines, most))
    assert [line for group in groups for line in group] == [line for line in lines if line.strip()]
    assert all(0 < len(group) <= most for group in groups)


def test_a_lone_line_does_not_wait_for_the_next() -> None:
    answered = threading.Event()

    def lines() -> Iterator[str]:
        yield "one"
        assert answered.wait(60)
        yield "two"
        yield "three"

    groups = waiting_together(lines(), 10)
    assert next(groups) == ["one"]
    answered.set()
    assert [line for group in groups for line in group] == ["two", "three"]


def test_lines_that_have_arrived_are_answered_together() -> None:
    read_all = threading.Event()

    def lines() -> Iterator[str]:
        yield from "0123456789"
        read_all.set()

    groups = waiting_together(lines(), 4)
    first = next(groups)
    assert read_all.wait(60)
    sizes = [len(group) for group in groups]
    assert len(first) + sum(sizes) == 10
    assert max(sizes) == 4


def test_an_error_while_reading_is_raised_after_the_lines_before_it() -> None:
    def lines() -> Iterator[str]:
        yield "one"
        raise OSError(5, "Input/output error")

    groups = waiting_together(lines(), 10)
    assert next(groups) == ["one"]
    with pytest.raises(OSError, match="Input/output error"):
        next(groups)


def test_every_line_is_answered_in_order_and_a_bad_one_by_its_error() -> None:
    said, bad = splits(
        [
            {"sentence": "The Po is 652 km long."},
            "not JSON at all",
            "",
            {"claim": "a key is missing"},
            {"sentence": 7},
            {"sentence": "x", "context": "no list"},
            "[1, 2]",
            "null",
            '{"sentence": "cut',
            "[" * 5000,
            '{"sentence": "half a pair: \\ud800"}',
            {"sentence": "The Adige is shorter.", "unknown": "keys are passed over"},
        ]
    )
    assert bad == 9
    assert [list(answer) for answer in said] == [["propositions"], *[["error"]] * 9, ["propositions"]]
    assert [said[2]["error"], said[3]["error"]] == [
        "sentence: Field required",
        "sentence: Input should be a valid string",
    ]
    assert said[-1]["propositions"][0]["text"].startswith("The Adige is shorter")


def test_spans_count_code_points() -> None:
    sentence = "🏔 Der Po entspringt am Monviso 🌊, und er ist 652 km lang."
    said, _ = splits([{"sentence": sentence}])
    for proposition in said[0]["propositions"]:
        for start, end in proposition["spans"]:
            assert sentence[start:end] in sentence
            assert sentence[start:end].strip() == sentence[start:end]


@pytest.mark.parametrize("sentence", ["", " ", "\n", "…", "🏔"])
def test_a_sentence_without_a_word_is_answered(sentence: str) -> None:
    said, bad = splits([{"sentence": sentence}])
    assert bad == 0
    assert list(said[0]) == ["propositions"]


def test_a_line_that_cannot_be_worked_harms_no_other_of_its_batch() -> None:
    def work(lines: Sequence[filters.SplitLine]) -> list[filters.Answer]:
        if any(line["sentence"] == "bad" for line in lines):
            raise AttributionError("that one cannot be split")
        return [{"length": len(line["sentence"])} for line in lines]

    sentences = ["x" * n for n in range(MAX_LINES + 3)]
    sentences[5] = sentences[20] = "bad"
    said, bad = answers([{"sentence": s} for s in sentences], filters.SplitLine, work)
    assert bad == 2
    error = {"error": "that one cannot be split"}
    assert said == [error if s == "bad" else {"length": len(s)} for s in sentences]


def test_rank_gives_each_sentence_a_score_and_one_without_words_the_lowest() -> None:
    encoder: Any = WordEncoder()
    said, bad = answers(
        [
            {"query": "heron", "sentences": ["The kingfisher dives.", "A heron.", ""], "title": "Birds"},
            {"query": "heron", "sentences": []},
            {"query": "", "sentences": ["A heron."]},
        ],
        rank_lines.RankLine,
        lambda lines: rank_lines.rank(encoder, lines),
    )
    assert bad == 0
    assert [len(answer["scores"]) for answer in said] == [3, 0, 1]
    other, same, empty = said[0]["scores"]
    assert same > other > empty == rank_lines.NO_SCORE


def test_rank_scores_places_in_a_text_for_places_in_a_query() -> None:
    encoder: Any = WordEncoder()
    text = "A kingfisher dives. A heron waits."
    heron, kingfisher, mark = (2, 12), (20, 27), (18, 19)
    said, bad = answers(
        [
            {"query": "heron or kingfisher", "query_spans": [[[0, 5]], [[9, 19]]], "text": text,
             "spans": [[list(heron)], [list(kingfisher)], [list(mark)], [list(heron), list(kingfisher)]]},
            {"query": "A heron.", "sentences": ["A heron."]},
            {"query": "heron", "text": text, "spans": [[list(heron)]]},
            {"query": "heron", "text": text, "spans": [[[30, 99]]]},
            {"query": "heron", "text": text, "query_spans": [[[3, 3]]], "spans": [[list(heron)]]},
            {"query": "heron"},
        ],
        rank_lines.RankLine,
        lambda lines: rank_lines.rank(encoder, lines),
    )  # fmt: skip
    assert bad == 3
    asks_heron, asks_kingfisher = said[0]["scores"]
    assert asks_heron[1] == asks_heron[3] == asks_kingfisher[0] == asks_kingfisher[3] == pytest.approx(1.0)
    assert asks_heron[0] < 1 > asks_kingfisher[1]
    assert asks_heron[2] == asks_kingfisher[2] == rank_lines.NO_SCORE  # no word stands there
    assert len(said[1]["scores"]) == 1
    assert len(said[2]["scores"]) == len(said[2]["scores"][0]) == 1
    assert "has no characters 30 to 99: it has 34" in said[3]["error"]
    assert "has no characters 3 to 3" in said[4]["error"]
    assert "sentences or spans" in said[5]["error"]


def test_judge_answers_also_where_there_is_no_evidence(propcite: PropCite) -> None:
    said, bad = answers(
        [
            {"claim": "The heron stands.", "evidence": ["The heron stands.", "It waits."]},
            {"claim": "The heron stands.", "evidence": []},
            {"claim": "The heron stands.", "evidence": ["", " "]},
            {"claim": "", "evidence": ["The heron stands."]},
            {"claim": "The heron stands.", "evidence": "no list"},
        ],
        filters.JudgeLine,
        lambda lines: filters.judge(propcite.judge, lines),
    )
    assert bad == 1
    assert [answer.get("verdict") for answer in said[:3]] == ["supported", "unsupported", "unsupported"]
    assert all(0 <= answer["support"] <= 1 for answer in said[:4])


def test_without_a_judge_the_filter_says_which_setting_gives_one() -> None:
    encoder: Any = WordEncoder()
    plain = PropCite(encoder, judge=None)
    said, bad = answers(
        [{"claim": "a", "evidence": ["a"]}], filters.JudgeLine, lambda lines: filters.judge(plain.judge, lines)
    )
    assert (said, bad) == ([{"error": "no judge is set: PROPCITE_JUDGE=embedded sets one"}], 1)


def test_cite_names_passages_by_their_id_or_their_number(propcite: PropCite) -> None:
    heron, empty = "The heron stands in the reeds.", "  "
    said, bad = answers(
        [
            {"answer": heron, "passages": [{"text": heron, "id": "a"}], "question": "Who?"},
            {"answer": heron, "passages": [{"text": "The kingfisher dives."}, {"text": heron}]},
            {"answer": heron, "passages": [{"text": heron, "id": 7}]},
            {"answer": heron, "passages": [{"text": heron, "id": 1}, {"text": heron, "id": "1"}]},
            {"answer": heron, "passages": [{"text": heron}, {"text": "The kingfisher dives.", "id": 1}]},
            {"answer": heron, "passages": []},
            {"answer": empty, "passages": [{"text": heron}]},
            {"answer": heron, "passages": [{"text": empty}, {"text": heron}]},
            {"answer": heron},
            {"answer": heron, "passages": ["text"]},
        ],
        filters.CiteLine,
        lambda lines: filters.cite(propcite, lines),
    )
    assert bad == 3
    assert ["error" in answer for answer in said] == [False, False, False, True, False, False, False, False, True, True]
    cited = [
        [c["passage_id"] for s in answer["sentences"] for c in s["citations"]] if "sentences" in answer else None
        for answer in said
    ]
    assert cited == [["a"], ["2"], ["7"], None, ["1-1"], [], [], ["2"], None, None]
    assert said[0]["question"] == "Who?"
    assert said[1]["question"] == ""
    assert "same id" in said[3]["error"]


def test_the_real_encoder_ranks_the_sentence_that_answers_first(encoder: Encoder) -> None:
    sentences = ["The museum has a cafe.", "The Po is 652 kilometres long 🌊.", "Opening hours are on the door."]
    line = {"query": "How long is the river Po?", "sentences": sentences}
    said, _ = answers([line, line], rank_lines.RankLine, lambda lines: rank_lines.rank(encoder, lines))
    assert said[0]["scores"] == pytest.approx(said[1]["scores"], abs=1e-3)
    assert max(said[0]["scores"]) == said[0]["scores"][1]
