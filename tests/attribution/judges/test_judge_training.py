"""The judge's training pairs have the right labels, and its training resumes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from propcite.attribution.errors import AttributionError
from propcite.attribution.judges.training.corpus import is_held_out, read_files, training_pairs
from propcite.attribution.judges.training.corruptions import changed_pairs, names_in
from propcite.attribution.judges.training.labelled_cases import labelled_cases
from propcite.attribution.judges.training.lexicon import Lexicon
from propcite.attribution.judges.training.pairs import NO, YES, Pair, one_and_both_sides, replace_words, window
from propcite.attribution.judges.training.roles import RolePairs
from propcite.attribution.judges.training.trainer import JudgeRecipe, JudgeTrainer
from propcite.attribution.judges.weights import load, save

PAIR = Pair(
    "Anna Berg sold the 14 ships to Carl Dahl in May.",
    "In May 1921, Anna Berg sold the 14 ships to Carl Dahl, who was a merchant.",
    YES,
    "own",
)
PASSAGE = PAIR.evidence + " Later Eva Frost bought 9 of them for 300 crowns in the port of Bergen."
NAMES = ["Oslo", "Anna Berg", "Carl Dahl", "Bergen", "Eva Frost", "Northwind"]
LEXICON = Lexicon({"ship": ["vessel"]}, {"merchant": ["farmer"]})


def test_names_are_swapped() -> None:
    assert replace_words("Ann met Bo.", (("Ann", "Bo"), ("Bo", "Ann"))) == "Bo met Ann."
    assert replace_words("Anna met Bo.", (("Ann", "Cy"),)) is None


@given(st.integers(0, 500))
def test_a_change_on_both_sides_stays_supported(seed: int) -> None:
    made = one_and_both_sides(PAIR, (("14", "15"),), "number", random.Random(seed))
    one, both = made
    assert (one.label, both.label) == (NO, YES)
    assert ("15" in one.claim) != ("15" in one.evidence)
    assert "15" in both.claim
    assert "15" in both.evidence


@settings(max_examples=15)
@given(st.integers(0, 300))
def test_every_change_changes_something(seed: int) -> None:
    ways = changed_pairs(PAIR, PASSAGE, LEXICON, random.Random(seed))
    assert len(ways) >= 6
    for pair in (p for way in ways for p in way):
        assert (pair.claim, pair.evidence) != (PAIR.claim, PAIR.evidence)
        assert 0 <= pair.label <= 1


@given(st.integers(0, 300))
def test_role_pairs_have_one_evidence_and_opposite_claims(seed: int) -> None:
    drawn = RolePairs(NAMES, random.Random(seed)).draw()
    for right, wrong in zip(drawn[::2], drawn[1::2], strict=False):
        assert (right.label, wrong.label) == (YES, NO)
        assert right.evidence == wrong.evidence
        assert right.claim != wrong.claim


def test_names_are_found_inside_a_sentence() -> None:
    assert names_in("Yesterday it rained when Anna Berg met Carl in May.") == ["Anna Berg", "Carl"]


@given(st.integers(0, 9), st.integers(1, 60), st.integers(0, 99))
def test_a_window_has_the_required_sentence(required: int, words: int, seed: int) -> None:
    sentences = [f"Sentence number {i}." for i in range(10)]
    text = window(sentences, [required], words, random.Random(seed))
    assert sentences[required] in text
    assert len(text.split()) <= max(words, 3)


def wordnet(folder: Path) -> Path:
    (folder / "index.sense").write_text("buy%2:40:00:: 00000001 1 9\nsell%2:40:00:: 00000002 1 8\n"
                                        "purchase%2:40:00:: 00000001 1 5\n")  # fmt: skip
    (folder / "data.verb").write_text("  1 A licence\n00000001 40 v 02 buy 0 purchase 0 001 ! 00000002 v 0101 | get\n"
                                      "00000002 40 v 01 sell 0 001 ! 00000001 v 0101 | give\n")  # fmt: skip
    for name in ("noun", "adj"):
        (folder / f"data.{name}").write_text("")
    return folder


def test_synonyms_and_opposites_come_from_wordnets_files(tmp_path: Path) -> None:
    lexicon = Lexicon.read(wordnet(tmp_path))
    assert lexicon.synonyms("buy") == ["purchase"]
    assert lexicon.contrasts("buys") == ["sells"]


def test_a_folder_without_wordnet_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AttributionError, match="WordNet"):
        Lexicon.read(tmp_path)


def rows(folder: Path) -> Path:
    names = [chr(97 + i) * 3 for i in range(26)]
    lines: list[dict[str, object]] = [
        {"source": "fool_me_twice", "kind": "claim", "query": f"The river {name} is long.", "title": f"River {name}",
         "sentences": [f"River {name} is 900 km long.", "It is cold in winter there."], "positive_sentence_ids": [0],
         "label": "SUPPORTS" if i % 2 else "REFUTES"}
        for i, name in enumerate(names)
    ]  # fmt: skip
    lines += [{"source": "factscore", "sentence": "Eva Frost was born in Oslo and sang.", "propositions":
              ["Eva Frost was born in Oslo.", "Eva Frost sang."], "context": []}]  # fmt: skip
    path = folder / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def unsplit(sentences: Iterable[str]) -> list[list[str]]:
    return [[s] for s in sentences]


def test_held_out_rows_are_not_used_for_training(tmp_path: Path) -> None:
    lines = read_files([rows(tmp_path)])
    pairs = training_pairs(lines, LEXICON, unsplit, 0)
    held_out = {str(row["query"]) for row in lines if "query" in row and is_held_out(row)}
    assert 3 < len(held_out) < 23
    assert held_out.isdisjoint(pair.claim for pair in pairs)
    assert pairs == training_pairs(lines, LEXICON, unsplit, 0)


def test_labelled_rows_become_cases_with_their_label(tmp_path: Path) -> None:
    cases = labelled_cases(read_files([rows(tmp_path)]))
    assert len(cases) == 26
    assert sum(case.supported for case in cases) == 13


@pytest.mark.parametrize("line", ["[1]", "{", '{"source": "factscore", "propositions": ["a b c"]}', '{"a": 1}'])
def test_a_bad_row_is_an_error(tmp_path: Path, line: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(line)
    with pytest.raises(AttributionError):
        training_pairs(read_files([path]), LEXICON, unsplit, 0)


PAIRS = [Pair("Dogs bark.", "All dogs bark.", YES, ""), Pair("Dogs sing.", "All dogs bark.", NO, "")] * 4
RECIPE = JudgeRecipe(steps=4, batch_size=4, learning_rate=2e-4, warmup=1)


def test_a_resumed_training_ends_like_an_uninterrupted_one_and_its_file_can_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(JudgeTrainer, "checkpoint_every", 2)
    losses: list[float] = []
    whole = JudgeTrainer(RECIPE, PAIRS, tmp_path / "a")
    whole.run(lambda _, loss: losses.append(loss))

    class StoppedError(Exception):
        pass

    def stop(step: int, _: float) -> None:
        if step == 3:
            raise StoppedError

    with pytest.raises(StoppedError):
        JudgeTrainer(RECIPE, PAIRS, tmp_path / "b").run(stop)
    again = JudgeTrainer(RECIPE, PAIRS, tmp_path / "b")
    assert again.resume()
    assert again.step == 2
    again.run()
    assert losses[-1] < losses[0]
    for name, tensor in whole.network.state_dict().items():
        assert torch.equal(tensor, again.network.state_dict()[name]), name

    path = tmp_path / "judge.safetensors"
    save(path, whole.network, {"made": "today"})
    saved = load(path)
    assert saved.about == {"made": "today"}
    pair = [([101, 7, 8, 102, 9, 102], 4)]
    with torch.inference_mode():
        assert saved.network(pair).item() == pytest.approx(whole.network.eval()(pair).item(), abs=0.05)


def test_a_checkpoint_of_another_recipe_is_refused(tmp_path: Path) -> None:
    JudgeTrainer(JudgeRecipe(steps=1, batch_size=2), PAIRS, tmp_path).run()
    with pytest.raises(AttributionError, match="different steps"):
        JudgeTrainer(JudgeRecipe(steps=2, batch_size=2), PAIRS, tmp_path).resume()
