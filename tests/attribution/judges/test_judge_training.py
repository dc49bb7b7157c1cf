"""What the judge is trained on says what it means, and training goes on where it stopped."""

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
from propcite.attribution.judges.training.corpus import is_held_out, pairs_of, rows_of
from propcite.attribution.judges.training.corruptions import changes, names_in
from propcite.attribution.judges.training.lexicon import Lexicon
from propcite.attribution.judges.training.marked import marked
from propcite.attribution.judges.training.pairs import NO, YES, Pair, both_ways, changed, window
from propcite.attribution.judges.training.roles import Roles
from propcite.attribution.judges.training.trainer import Recipe, Trainer
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


def test_names_change_places() -> None:
    assert changed("Ann met Bo.", (("Ann", "Bo"), ("Bo", "Ann"))) == "Bo met Ann."
    assert changed("Anna met Bo.", (("Ann", "Cy"),)) is None


@given(st.integers(0, 500))
def test_a_change_on_both_sides_stays_supported(seed: int) -> None:
    made = both_ways(PAIR, (("14", "15"),), "number", random.Random(seed))
    one, both = made
    assert (one.label, both.label) == (NO, YES)
    assert ("15" in one.claim) != ("15" in one.evidence)
    assert "15" in both.claim
    assert "15" in both.evidence


@settings(max_examples=15)
@given(st.integers(0, 300))
def test_every_change_changes_something(seed: int) -> None:
    found = changes(PAIR, PASSAGE, LEXICON, random.Random(seed))
    assert len(found) >= 6
    for pair in (p for ways in found for p in ways):
        assert (pair.claim, pair.evidence) != (PAIR.claim, PAIR.evidence)
        assert 0 <= pair.label <= 1


@given(st.integers(0, 300))
def test_no_one_loses_what_the_other_is_given(seed: int) -> None:
    drawn = Roles(NAMES, random.Random(seed)).draw()
    for right, wrong in zip(drawn[::2], drawn[1::2], strict=False):
        assert (right.label, wrong.label) == (YES, NO)
        assert right.evidence == wrong.evidence
        assert right.claim != wrong.claim


def test_names_are_found_inside_a_sentence() -> None:
    assert names_in("Yesterday it rained when Anna Berg met Carl in May.") == ["Anna Berg", "Carl"]


@given(st.integers(0, 9), st.integers(1, 60), st.integers(0, 99))
def test_a_window_holds_what_it_must(kept: int, words: int, seed: int) -> None:
    sentences = [f"Sentence number {i}." for i in range(10)]
    found = window(sentences, [kept], words, random.Random(seed))
    assert sentences[kept] in found
    assert len(found.split()) <= max(words, 3)


def wordnet(folder: Path) -> Path:
    (folder / "index.sense").write_text("buy%2:40:00:: 00000001 1 9\nsell%2:40:00:: 00000002 1 8\n"
                                        "purchase%2:40:00:: 00000001 1 5\n")  # fmt: skip
    (folder / "data.verb").write_text("  1 A licence\n00000001 40 v 02 buy 0 purchase 0 001 ! 00000002 v 0101 | get\n"
                                      "00000002 40 v 01 sell 0 001 ! 00000001 v 0101 | give\n")  # fmt: skip
    for name in ("noun", "adj"):
        (folder / f"data.{name}").write_text("")
    return folder


def test_wordnets_files_tell_synonyms_and_opposites(tmp_path: Path) -> None:
    lexicon = Lexicon.read(wordnet(tmp_path))
    assert lexicon.same("buy") == ["purchase"]
    assert lexicon.others("buys") == ["sells"]


def test_a_folder_without_wordnet_is_told(tmp_path: Path) -> None:
    with pytest.raises(AttributionError, match="WordNet"):
        Lexicon.read(tmp_path)


def rows(folder: Path) -> Path:
    names = [chr(97 + i) * 3 for i in range(26)]
    told: list[dict[str, object]] = [
        {"source": "fool_me_twice", "kind": "claim", "query": f"The river {name} is long.", "title": f"River {name}",
         "sentences": [f"River {name} is 900 km long.", "It is cold in winter there."], "positive_sentence_ids": [0],
         "label": "SUPPORTS" if i % 2 else "REFUTES"}
        for i, name in enumerate(names)
    ]  # fmt: skip
    told += [{"source": "factscore", "sentence": "Eva Frost was born in Oslo and sang.", "propositions":
              ["Eva Frost was born in Oslo.", "Eva Frost sang."], "context": []}]  # fmt: skip
    path = folder / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, told)))
    return path


def alone(sentences: Iterable[str]) -> list[list[str]]:
    return [[s] for s in sentences]


def test_rows_that_are_kept_out_are_not_learned(tmp_path: Path) -> None:
    told = rows_of([rows(tmp_path)])
    pairs = pairs_of(told, LEXICON, alone, 0)
    out = {str(row["query"]) for row in told if "query" in row and is_held_out(row)}
    assert 3 < len(out) < 23
    assert out.isdisjoint(pair.claim for pair in pairs)
    assert pairs == pairs_of(told, LEXICON, alone, 0)


def test_marked_rows_become_cases_with_their_answer(tmp_path: Path) -> None:
    cases = marked(rows_of([rows(tmp_path)]))
    assert len(cases) == 26
    assert sum(case.supported for case in cases) == 13


@pytest.mark.parametrize("line", ["[1]", "{", '{"source": "factscore", "propositions": ["a b c"]}', '{"a": 1}'])
def test_a_bad_row_is_told(tmp_path: Path, line: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(line)
    with pytest.raises(AttributionError):
        pairs_of(rows_of([path]), LEXICON, alone, 0)


PAIRS = [Pair("Dogs bark.", "All dogs bark.", YES, ""), Pair("Dogs sing.", "All dogs bark.", NO, "")] * 4
RECIPE = Recipe(steps=4, batch_size=4, learning_rate=2e-4, warmup=1)


def test_training_goes_on_where_it_stopped_and_its_file_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Trainer, "kept_every", 2)
    losses: list[float] = []
    whole = Trainer(RECIPE, PAIRS, tmp_path / "a")
    whole.run(lambda _, loss: losses.append(loss))

    class StoppedError(Exception):
        pass

    def stop(step: int, _: float) -> None:
        if step == 3:
            raise StoppedError

    with pytest.raises(StoppedError):
        Trainer(RECIPE, PAIRS, tmp_path / "b").run(stop)
    again = Trainer(RECIPE, PAIRS, tmp_path / "b")
    assert again.resume()
    assert again.step == 2
    again.run()
    assert losses[-1] < losses[0]
    for name, tensor in whole.network.state_dict().items():
        assert torch.equal(tensor, again.network.state_dict()[name]), name

    path = tmp_path / "judge.safetensors"
    save(path, whole.network, {"made": "today"})
    kept = load(path)
    assert kept.about == {"made": "today"}
    pair = [([101, 7, 8, 102, 9, 102], 4)]
    with torch.inference_mode():
        assert kept.network(pair).item() == pytest.approx(whole.network.eval()(pair).item(), abs=0.05)


def test_a_checkpoint_of_another_recipe_is_refused(tmp_path: Path) -> None:
    Trainer(Recipe(steps=1, batch_size=2), PAIRS, tmp_path).run()
    with pytest.raises(AttributionError, match="another steps"):
        Trainer(Recipe(steps=2, batch_size=2), PAIRS, tmp_path).resume()
