"""A collection's own alignment: it is chosen by examples, stored, and used wherever the collection is ranked."""

from __future__ import annotations

import doctest
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from commanded import Propcite, Said, commanded
from hypothesis import given
from hypothesis import strategies as st
from word_encoder import WordEncoder

from propcite.app import parts as bootstrap
from propcite.app.commands import rank_lines
from propcite.app.errors import AppError
from propcite.app.ingest.sources import Upload
from propcite.app.lab.adaptation import adapt, choice, strategies
from propcite.app.lab.adaptation.choice import NOISE, best_column, choose
from propcite.app.lab.adaptation.examples import Example, feedback_examples, merge_examples, read_examples
from propcite.app.lab.adaptation.strategies import NAMES, ndcg, strategies_of
from propcite.app.lab.ranking.relevance import ranking_figures
from propcite.app.lab.runs import significance
from propcite.app.library.feedback import make_feedback
from propcite.app.library.store import CollectionInfo, Opinion, QuotedSpan
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.attribution.propcite import PropCite
from propcite.retrieval.alignment import NEAREST, alignment_of
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.text import Passage

THINGS = ("gate", "bridge", "ferry", "quay", "crane", "tower", "canal", "market")
# Both texts of a pair have the word; only the second repeats it, which the nearest token alone does not show.
TEXTS = {
    f"{i}-{end}.txt": text
    for i, t in enumerate(THINGS)
    for end, text in (("a", f"{t} x{i} y{i} z{i}"), ("b", " ".join([t] * 4)))
}


@pytest.fixture
def propcite(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Propcite:
    """The command inside this process, with an encoder of words."""
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    call = commanded(monkeypatch, capsys)
    return lambda *words: call(*map(str, words))


@pytest.fixture
def parts(open_parts: Callable[..., Parts]) -> Parts:
    return open_parts()


@pytest.fixture
def town(parts: Parts) -> CollectionInfo:
    collection = parts.library.create_collection("town")
    list(parts.ingester(collection).ingest([Upload(name, text.encode()) for name, text in TEXTS.items()]))
    return parts.library.collection("town")


def passage(parts: Parts, town: CollectionInfo, name: str) -> str:
    return parts.library.passage_ids(town, parts.library.find_document(town, name).id)[0]


def examples(path: Path, rows: Sequence[object]) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), "utf-8")
    return path


def eight(folder: Path) -> Path:
    """Write an example for each thing: the text that repeats its word; the other has both words of the question."""
    rows = [
        {"question": f"{t} {t} {t} {t} x{i}", "document": f"{i}-b.txt", "quote": f"{t}  {t}"}
        for i, t in enumerate(THINGS)
    ]
    return examples(folder / "examples.jsonl", rows)


def refused(said: Said) -> str:
    assert (said.code, said.out) == (2, ""), said
    assert said.err.count("\n") == 1, said.err
    return said.err


def test_doctests() -> None:
    for module in (adapt, choice, strategies, significance):
        assert doctest.testmod(module).failed == 0


# Choice


def slow_choice(scores: np.ndarray) -> tuple[float, float]:
    """Return the gain on left-out examples, and the share of all sign changes with at least this gain."""
    gains = []
    for i in range(len(scores)):
        others = [row for j, row in enumerate(scores.tolist()) if j != i]
        means = [sum(column) / len(others) for column in zip(*others, strict=True)]
        chosen = next(j for j, mean in enumerate(means) if mean >= max(means) - 1e-12)
        gains.append(scores[i, chosen] - scores[i, 0])
    drawn = [sum(s * g for s, g in zip(signs, gains, strict=True)) for signs in product((1, -1), repeat=len(gains))]
    return sum(gains) / len(gains), sum(one >= sum(gains) - 1e-9 for one in drawn) / len(drawn)


@given(st.integers(2, 7), st.integers(1, 4), st.randoms(use_true_random=False))
def test_a_choice_equals_that_of_a_slow_loop(num_examples: int, num_strategies: int, random: Any) -> None:
    scores = np.array(
        [[random.choice([0.0, 0.25, 0.5, 1.0]) for _ in range(num_strategies)] for _ in range(num_examples)]
    )
    found, (gain, p) = choose(scores), slow_choice(scores)
    assert (found.gain, found.p) == pytest.approx((gain, p), abs=1e-6)
    assert scores[:, found.best].mean() == pytest.approx(scores.mean(axis=0).max())
    assert found.kept == (found.best if found.p <= NOISE else 0)


def test_the_default_wins_ties() -> None:
    assert best_column(np.array([[0.3, 0.3, 0.1]])) == 0
    assert choose(np.full((8, 3), 0.4)).kept == 0


def test_two_or_three_examples_are_never_more_than_noise() -> None:
    for number in (2, 3):
        found = choose(np.array([[0.0, 1.0]] * number))
        assert (found.best, found.kept, found.gain) == (1, 0, 1.0)
    assert choose(np.array([[0.0, 1.0]] * 4)).kept == 1


def test_one_lucky_example_is_noise() -> None:
    scores = np.full((8, 2), 0.5)
    scores[3, 1] = 1.0
    assert (choose(scores).best, choose(scores).kept) == (1, 0)


@given(st.permutations("abcdefghijklmno"), st.sets(st.sampled_from("abcdefghijklmnoxyz"), min_size=1))
def test_ndcg_equals_that_of_the_measures_library(ranking: list[str], right: set[str]) -> None:
    expected = ranking_figures(ranking, dict.fromkeys(right, 1), ["nDCG@10"])["nDCG@10"]
    assert ndcg(ranking, right) == pytest.approx(expected, abs=1e-9)


def test_the_usual_strategies_differ_and_start_with_the_default() -> None:
    found = strategies_of(NAMES)
    assert found[0] == NEAREST
    assert [str(one) for one in found] == list(NAMES)


# Examples


def test_examples_have_passage_ids_or_quotes(parts: Parts, town: CollectionInfo, tmp_path: Path) -> None:
    ferry, gate = passage(parts, town, "2-b.txt"), passage(parts, town, "0-a.txt")
    rows = [
        {"question": "A ferry? ", "passages": [ferry]},
        {"question": "A gate?", "document": "0-a.txt", "quote": "x0\n y0"},
        {"question": "A  ferry?", "document": "2-a.txt", "quote": "ferry"},
    ]
    found = read_examples(examples(tmp_path / "e.jsonl", rows), parts.library, town)
    other = passage(parts, town, "2-a.txt")
    assert found == [Example("A ferry?", frozenset({ferry, other})), Example("A gate?", frozenset({gate}))]
    assert merge_examples(found, [Example("A gate?", frozenset({other}))])[1].passages == {gate, other}


def test_a_quote_over_several_passages_is_answered_by_all(open_parts: Callable[..., Parts], tmp_path: Path) -> None:
    parts = open_parts(passage_words=10)
    collection = parts.library.create_collection("long")
    text = " ".join(f"This is sentence number {n} of them." for n in range(9))
    list(parts.ingester(collection).ingest([Upload("long.txt", text.encode())]))
    ids = parts.library.passage_ids(collection)
    row = {"question": "Which?", "document": "long.txt", "quote": text}
    assert read_examples(examples(tmp_path / "e.jsonl", [row]), parts.library, collection) == [
        Example("Which?", frozenset(ids))
    ]
    assert len(ids) > 2


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("no JSON", 'an example must be {"question"'),
        ({"passages": ["x"]}, "an example must be"),
        ({"question": " ", "passages": ["x"]}, "an example must be"),
        ({"question": "A?"}, "an example must be"),
        ({"question": "A?", "passages": []}, "an example must be"),
        ({"question": "A?", "quote": "gate"}, "an example must be"),
        ({"question": "A?", "document": "0-a.txt"}, "an example must be"),
        ({"question": "A?", "passages": ["x"], "more": 1}, "an example must be"),
        ({"question": "A?", "passages": ["nothing"]}, "no passage 'nothing' in 'town'"),
        ({"question": "A?", "document": "none.txt", "quote": "gate"}, "no document 'none.txt'"),
        ({"question": "A?", "document": "0-a.txt", "quote": "not there"}, "0-a.txt does not contain 'not there'"),
    ],
)
def test_an_error_names_the_line_of_a_bad_example(
    parts: Parts, town: CollectionInfo, tmp_path: Path, row: object, words: str
) -> None:
    good = {"question": "A gate?", "passages": [passage(parts, town, "0-a.txt")]}
    with pytest.raises(AppError) as caught:
        read_examples(examples(tmp_path / "e.jsonl", [good, "", row]), parts.library, town)
    assert str(caught.value).startswith(f"{tmp_path / 'e.jsonl'}, line 3: {words}")
    assert "\n" not in str(caught.value)


def mark(parts: Parts, town: CollectionInfo, question: str, opinion: Opinion, better: QuotedSpan | None = None) -> None:
    """Store an answer and an opinion on its first fact."""
    propcite = PropCite(parts.encoder, splitter=bootstrap.build_splitter(load_settings(splitter="rules")), judge=None)
    found = parts.library.passages([passage(parts, town, "2-b.txt")])
    answer = replace(propcite.cite("The ferry ferry ferry ferry.", list(found.values())), question=question)
    parts.library.save_answer(town, answer)
    parts.feedback.save(make_feedback(answer, "1", opinion, better=better))


def test_right_citations_and_better_quotes_become_examples(parts: Parts, town: CollectionInfo) -> None:
    ferry, gate = passage(parts, town, "2-b.txt"), passage(parts, town, "0-b.txt")
    mark(parts, town, "Which ferry?", Opinion.RIGHT)
    mark(parts, town, "Which one?", Opinion.WRONG)
    mark(parts, town, "", Opinion.RIGHT)
    mark(parts, town, "Which gate?", Opinion.BETTER, QuotedSpan(gate, 0, 4, "gate"))
    mark(parts, town, "What is gone?", Opinion.BETTER, QuotedSpan("gone", 0, 4, "gate"))
    assert feedback_examples(parts, town) == [
        Example("Which ferry?", frozenset({ferry})),
        Example("Which gate?", frozenset({gate})),
    ]
    assert feedback_examples(parts, parts.library.create_collection("other")) == []


# The command


def test_the_best_alignment_is_stored_and_used(
    propcite: Propcite, parts: Parts, town: CollectionInfo, tmp_path: Path
) -> None:
    before = propcite("search", "ferry", "-c", "town", "--json").json
    tried = propcite("adapt", "-c", "town", "--examples", eight(tmp_path), "--dry-run")
    assert "top-k=2 is better" in tried.out
    assert parts.library.alignment(town) == ""
    said = propcite("adapt", "-c", "town", "--examples", eight(tmp_path))
    assert said.code == 0, said.err
    rows = {
        line.split()[0]: line.split()[1:]
        for line in said.out.splitlines()
        if line.startswith("top-") and len(line.split()) < 6
    }
    assert rows["top-k=1"] == ["63.1", "0", "0"]
    assert rows["top-k=2"][:3] == ["100.0", "+36.9", "8"]
    assert "less than once in 100" in said.out
    assert "exact is left out: the index stores no vocabulary ids of its tokens: run propcite reindex" in said.err
    assert "town has top-k=2: propcite adapt --reset --collection town" in said.err
    assert parts.library.alignment(town) == "top-k=2"
    after = propcite("search", "ferry", "-c", "town", "--json").json
    assert [hit["text"] for hit in (before[0], after[0])] == [TEXTS["2-a.txt"], TEXTS["2-b.txt"]]
    assert propcite("search", "ferry", "-c", "town", "--json", "--alignment", "top-k=1").json == before
    assert "top-k=2" in propcite("list").out
    assert "ranked by top-k=2" in propcite("list", "-c", "town").err


def test_json_has_the_table_and_the_stored_alignment(propcite: Propcite, town: CollectionInfo, tmp_path: Path) -> None:
    del town
    words = [
        "adapt",
        "-c",
        "town",
        "--examples",
        eight(tmp_path),
        "--strategy",
        "top-p=50%",
        "--strategy",
        "max",
        "--json",
    ]
    result = propcite(*words).json
    assert [one["strategy"] for one in result["tried"]] == ["top-k=1", "top-p=50%"]
    assert (result["collection"], result["examples"], result["kept"], result["changed"]) == (
        "town",
        8,
        "top-p=50%",
        True,
    )
    assert result["p"] == pytest.approx(1 / 256, abs=1e-6)
    assert propcite("list", "--json").json[0]["alignment"] == "top-p=50%"


def test_few_examples_leave_the_default_and_the_reason_is_shown(
    propcite: Propcite, parts: Parts, town: CollectionInfo, tmp_path: Path
) -> None:
    parts.library.set_alignment(town, "top-k=8")
    rows = eight(tmp_path).read_text().splitlines()[:2]
    said = propcite("adapt", "-c", "town", "--examples", examples(tmp_path / "two.jsonl", rows))
    assert "top-k=1 stays: top-k=2 ranks the 2 examples best" in said.out
    assert "within noise" in said.out
    assert "2 examples are few: give 8 or more" in said.err
    assert parts.library.alignment(town) == ""


def test_an_alignment_is_set_and_removed_by_hand(propcite: Propcite, parts: Parts, town: CollectionInfo) -> None:
    assert propcite("adapt", "-c", "town", "--keep", "TOP-K=3", "--json").json["alignment"] == "top-k=3"
    assert parts.library.alignment(town) == "top-k=3"
    said = propcite("adapt", "-c", "town", "--reset")
    assert "no alignment of its own" in said.err
    assert parts.library.alignment(town) == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give --examples FILE, --from-feedback or both"),
        (["--keep", "top-k=2", "--reset"], "give --examples FILE"),
        (["--keep", "top-k=0"], "the alignment 'top-k=0' needs a whole number from 1"),
        (["--keep", "nearest"], "there is no alignment 'nearest': give one like top-k=2, top-p=1.5%"),
        (["--reset", "--dry-run"], "--dry-run and --strategy need"),
        (["--examples", "{eight}", "--strategy", "top-k"], "the alignment 'top-k' needs a whole number"),
        (
            ["--examples", "{eight}", "--strategy", "exact"],
            "stores no vocabulary ids of its tokens: run propcite reindex",
        ),
        (
            ["--examples", "{one}"],
            'at least 2 examples are needed, 8 are better, and there is one: give lines like {"question"',
        ),
        (["--examples", "{none}"], "there is none"),
        (["--from-feedback"], "at least 2 examples are needed"),
        (["--examples", "nowhere.jsonl"], "nowhere.jsonl cannot be read"),
        (["--examples", "{eight}", "-c", "bare"], "the collection 'bare' is empty: propcite ingest PATH"),
    ],
)
def test_errors_are_one_line_and_change_nothing(
    propcite: Propcite, parts: Parts, town: CollectionInfo, tmp_path: Path, words: list[str], message: str
) -> None:
    parts.library.create_collection("bare")
    parts.library.set_alignment(town, "top-k=8")
    first = eight(tmp_path).read_text().splitlines()[:1]
    files = {
        "{eight}": str(eight(tmp_path)),
        "{one}": str(examples(tmp_path / "one.jsonl", first)),
        "{none}": str(examples(tmp_path / "none.jsonl", [])),
    }
    assert message in refused(propcite("adapt", "-c", "town", *(files.get(word, word) for word in words)))
    assert parts.library.alignment(town) == "top-k=8"


def test_the_command_adapts_by_feedback(propcite: Propcite, parts: Parts, town: CollectionInfo) -> None:
    for i, thing in enumerate(THINGS):
        words = QuotedSpan(passage(parts, town, f"{i}-b.txt"), 0, len(thing), thing)
        mark(parts, town, thing, Opinion.BETTER, words)
    said = propcite("adapt", "-c", "town", "--from-feedback", "--json")
    assert (said.json["examples"], said.json["kept"]) == (8, "top-k=2")


# The alignment in use


def test_the_setting_overrules_the_collections_own_alignment_which_overrules_the_default(
    open_parts: Callable[..., Parts],
    parts: Parts,
    town: CollectionInfo,
    propcite: Propcite,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert parts.alignment(town) == NEAREST
    parts.library.set_alignment(town, "top-k=2")
    assert str(parts.alignment(town)) == "top-k=2"
    assert parts.alignment() == NEAREST
    assert str(open_parts(alignment="top-p=50%").alignment(town)) == "top-p=50%"
    assert open_parts(alignment="max").alignment(town) == NEAREST
    monkeypatch.setenv("PROPCITE_ALIGNMENT", "top-k=3")
    assert "the setting alignment, top-k=3, overrules it" in propcite("adapt", "-c", "town", "--reset").err


@pytest.mark.parametrize(("name", "value"), [("alignment", "top-q=1"), ("asking_share", 0), ("asking_share", 1.5)])
def test_an_invalid_setting_is_an_error_of_one_line(name: str, value: object) -> None:
    with pytest.raises(AppError, match=f"the setting {name} .PROPCITE_{name.upper()}. cannot be") as caught:
        load_settings(**{name: value})
    assert "\n" not in str(caught.value)


def test_an_open_pipeline_uses_the_collections_current_alignment(parts: Parts, town: CollectionInfo) -> None:
    pipeline = parts.pipeline(town)
    assert pipeline.search("ferry")[0].text == TEXTS["2-a.txt"]
    parts.library.set_alignment(town, "top-k=2")
    assert pipeline.search("ferry")[0].text == TEXTS["2-b.txt"]
    assert pipeline.search("ferry", alignment=NEAREST)[0].text == TEXTS["2-a.txt"]


def test_the_setting_limits_the_asking_tokens(open_parts: Callable[..., Parts], town: CollectionInfo) -> None:
    parts = open_parts(asking_share=0.5)
    assert parts.pipeline(town).retriever().asking_share == 0.5


def test_answers_name_an_alignment_other_than_the_default(
    open_parts: Callable[..., Parts], parts: Parts, town: CollectionInfo
) -> None:
    assert "alignment" not in parts.pipeline(town).cite("The ferry.").models
    parts.library.set_alignment(town, "top-k=2")
    pipeline = parts.pipeline(town)
    assert pipeline.cite("The ferry.").models["alignment"] == "top-k=2"
    assert pipeline.answer("ferry?").models["alignment"] == "top-k=2"
    passages = [Passage("p", "The ferry."), Passage("q", "Ferry ferry ferry.")]
    assert pipeline.cite("The ferry.", passages).models["alignment"] == "top-k=2"
    with_setting = open_parts(alignment="top-p=50%")
    assert with_setting.propcite.cite("The ferry.", passages).models["alignment"] == "top-p=50%"


def test_passages_of_a_library_call_are_ranked_by_its_alignment(encoder: Encoder) -> None:
    passages = ["The ferry leaves at seven.", "The bridge is closed."]
    usual, other = (
        PropCite(encoder, alignment=name).cite("The ferry leaves at seven.", passages) for name in ("max", "top-k=4")
    )
    assert usual.citations[0].passage.text == other.citations[0].passage.text == passages[0]
    assert usual.citations[0].score > other.citations[0].score
    assert (usual.models.get("alignment"), other.models["alignment"]) == (None, "top-k=4")
    with pytest.raises(RetrievalError, match="there is no alignment 'top'"):
        PropCite(encoder, alignment="top")


def test_the_rank_filter_uses_the_setting(encoder: Encoder) -> None:
    line: Any = {"query": "When does the ferry leave?", "sentences": ["The ferry leaves at seven.", "It is green."]}
    usual, same, other = (
        rank_lines.rank(encoder, [line], *alignments)[0]["scores"]
        for alignments in ((), (NEAREST,), (alignment_of("top-k=3"),))
    )
    assert usual == same
    assert usual[0] > other[0] > other[1]


def test_a_search_over_http_takes_an_alignment(serve: Callable[..., str]) -> None:
    address = serve({"default": {"a.txt": "The ferry leaves at seven.", "b.txt": "The bridge is closed."}})

    def search(**more: object) -> Any:
        return httpx.post(f"{address}/v1/search", json={"query": "When does the ferry leave?", **more})

    usual, same, other = (
        search(**more).json()["hits"] for more in ({}, {"alignment": "colbert"}, {"alignment": "exact"})
    )
    assert usual == same
    assert other[0]["text"].startswith("The ferry")
    assert other[0]["score"] != usual[0]["score"]
    refused = search(alignment="top-k=none")
    assert refused.status_code == 422
    assert "give one like top-k=2" in refused.json()["detail"]
    parts = Parts(load_settings())
    parts.library.set_alignment(parts.library.collection("default"), "exact")
    parts.library.close()
    assert search().json()["hits"] == other
    assert httpx.get(f"{address}/v1/collections").json()["collections"][0]["alignment"] == "exact"
