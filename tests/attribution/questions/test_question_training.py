"""Examples of questions beside texts, and a tiny question reader that learns from them."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tiny_readers import save_base

from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import reader_files
from propcite.attribution.judges.training.trainer import base_network
from propcite.attribution.questions.files import describe, load
from propcite.attribution.questions.training.examples import QuestionExample, read_examples, window
from propcite.attribution.questions.training.making import made
from propcite.attribution.questions.training.trainer import CHECKPOINT, QuestionRecipe, train
from propcite.retrieval.text import Span

THINGS = ("gates", "bridge", "tower", "harbour", "ferry", "bakery", "library", "market")
COLOURS = ("red", "blue", "green", "white")
RECIPE = QuestionRecipe(steps=60, batch_pieces=512, learning_rate=3e-3, warmup=5, rank=4)


def asked(thing: str, colour: str, other: str) -> QuestionExample:
    sentences = (f"The {other} was already old.", f"The {thing} was painted {colour}.")
    start = len(sentences[0]) + 1 + sentences[1].index(colour)
    return QuestionExample(
        f"What colour was the {thing}?", sentences, (False, True), "Quay", Span(start, start + len(colour))
    )


EXAMPLES = [asked(t, c, o) for t in THINGS for o in THINGS for c in COLOURS if t != o]
UNANSWERED = [
    QuestionExample(
        f"What colour was the {t}?", (f"The {t} was already old.", f"The {o} was painted {c}."), (False, False)
    )
    for t in THINGS
    for o in THINGS
    for c in COLOURS
    if t != o
]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny reader of claims that knows the words of the examples."""
    folder = tmp_path_factory.mktemp("base")
    words = " ".join({word for e in EXAMPLES for word in f"{e.question} {e.text} {e.title}".split()})
    network, tokenizer = base_network(str(save_base(folder / "encoder", words.replace(".", " . ").replace("?", " ? "))))
    reader_files.save(folder / "reader", network, tokenizer, {})
    return folder / "reader"


def write(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_a_trained_reader_is_loaded_as_it_was_learned(base: Path, tmp_path: Path) -> None:
    out, losses = tmp_path / "questions.safetensors", []
    about = train(
        [*EXAMPLES, *UNANSWERED], out, tmp_path, RECIPE, base=base, progress=lambda _, loss: losses.append(loss)
    )
    assert sum(losses[-10:]) < sum(losses[:10])
    assert about["examples"]["asked"] == len(EXAMPLES) + len(UNANSWERED)
    assert {"alone", "other", "swapped"} >= set(about["examples"]) - {"asked"}
    loaded = load(out, "cpu", "float32", base=base)
    pairs = loaded.tokenizer.encode([("What colour was the bridge?", "The bridge was painted red.")])
    plain = reader_files.load(base, "cpu", "float32").network
    with torch.inference_mode():
        changed, unchanged = loaded.network.reader(pairs).refused, plain(pairs).refused
    assert not torch.equal(changed, unchanged)
    assert loaded.about["recipe"]["rank"] == 4


def test_the_lower_half_is_shared_with_the_reader_of_claims(base: Path, tmp_path: Path) -> None:
    train(EXAMPLES + UNANSWERED, tmp_path / "q.safetensors", tmp_path, QuestionRecipe(steps=1, rank=2), base=base)
    loaded, plain = (
        load(tmp_path / "q.safetensors", "cpu", "float32", base=base),
        reader_files.load(base, "cpu", "float32"),
    )
    ours, theirs = loaded.network.reader.base, plain.network.base
    assert ours.encoder.layer[0] is theirs.encoder.layer[0]
    assert ours.encoder.layer[-1] is not theirs.encoder.layer[-1]
    assert ours.embeddings is theirs.embeddings


def test_changes_for_claims_leave_the_reading_of_questions_as_it_is(base: Path, tmp_path: Path) -> None:
    out, name = tmp_path / "q.safetensors", "base.encoder.layer.1.attention.output.dense.weight"
    train(EXAMPLES + UNANSWERED, out, tmp_path, QuestionRecipe(steps=3, rank=2), base=base)
    before = load(out, "cpu", "float32", base=base)
    pairs = before.tokenizer.encode([("What colour was the bridge?", "The bridge was painted red.")])
    claims = {f"{name}/up": torch.randn(64, 3), f"{name}/down": torch.randn(3, 64), "first.bias": torch.ones(1)}
    reader_files.save_changes(tmp_path / "changed", base, claims, {})
    after = load(out, "cpu", "float32", base=tmp_path / "changed")
    changed = reader_files.load(tmp_path / "changed", "cpu", "float32").network
    with torch.inference_mode():
        states = [n.states(pairs)[0] for n in (before.network.reader, after.network.reader, changed)]
    assert torch.allclose(states[0], states[1], atol=1e-4)
    assert not torch.allclose(states[0], states[2], atol=0.1)


def test_an_interrupted_training_goes_on_where_it_stopped(base: Path, tmp_path: Path) -> None:
    recipe, examples = QuestionRecipe(steps=4, rank=2), EXAMPLES[:40] + UNANSWERED[:40]

    def stop(step: int, _: float) -> None:
        if step == 4:
            raise KeyboardInterrupt

    whole = train(examples, tmp_path / "a.safetensors", tmp_path / "a", recipe, base=base)
    with pytest.raises(KeyboardInterrupt):
        train(examples, tmp_path / "b.safetensors", tmp_path / "b", recipe, base=base, progress=stop)
    assert not (tmp_path / "b" / CHECKPOINT).exists()  # it was stopped before its first checkpoint
    again = train(examples, tmp_path / "b.safetensors", tmp_path / "b", recipe, base=base)
    assert again == whole
    first, second = (load_file(tmp_path / f"{name}.safetensors") for name in "ab")
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_training_goes_on_from_an_earlier_reader(base: Path, tmp_path: Path) -> None:
    first, again, other = (tmp_path / f"{name}.safetensors" for name in ("first", "again", "other"))
    examples = EXAMPLES + UNANSWERED
    train(examples, first, tmp_path / "a", QuestionRecipe(steps=20, rank=2), base=base)
    still = QuestionRecipe(steps=1, rank=2, learning_rate=0.0)
    train(examples, again, tmp_path / "b", still, base=base, start=first)
    train(examples, other, tmp_path / "c", still, base=base)
    learned, kept, fresh = map(load_file, (first, again, other))
    assert all(torch.equal(learned[name], kept[name]) for name in learned)
    assert not all(torch.equal(learned[name], fresh[name]) for name in learned)
    with pytest.raises(AttributionError, match=r"cannot begin with .*first.safetensors \(.*--rank"):
        train(examples, other, tmp_path / "d", QuestionRecipe(steps=1, rank=3), base=base, start=first)


def test_training_needs_answered_questions_and_others(base: Path, tmp_path: Path) -> None:
    with pytest.raises(AttributionError, match="rows of both kinds"):
        train(EXAMPLES, tmp_path / "q.safetensors", tmp_path, RECIPE, base=base)


def test_a_file_over_another_reader_or_a_damaged_one_is_one_line(base: Path, tmp_path: Path) -> None:
    out = tmp_path / "q.safetensors"
    train(EXAMPLES + UNANSWERED, out, tmp_path, QuestionRecipe(steps=1, rank=2), base=base)
    describe(out, {"calibration": {"answer": [1.0, 1.0, 0.0]}})
    assert load(out, "cpu", "float32", base=base).about["calibration"] == {"answer": [1.0, 1.0, 0.0]}
    with pytest.raises(AttributionError, match="another reader"):
        reader_files.check_over(out)  # the shipped reader of claims is not the tiny one
    out.write_bytes(out.read_bytes()[:100])
    for read in (lambda: load(out, base=base), lambda: reader_files.check_over(out)):
        with pytest.raises(AttributionError, match="damaged or missing") as raised:
            read()
        assert "\n" not in str(raised.value)


def test_rows_of_three_forms_are_read(tmp_path: Path) -> None:
    passage = {"title": "Low_Quay", "sentences": ["It is old.", "It has 14 gates, 14 of steel."]}
    answered = {"question": "How many gates?", "passages": [passage], "answerable": True, "answer": "14"}
    rows = write(
        tmp_path / "rows.jsonl",
        {**answered, "answer_sentences": [[0, 1]]},
        {**answered, "answer_sentences": None},
        {**answered, "answerable": False, "answer": None, "answer_sentences": []},
        {"query": "How old?", "kind": "question", **passage, "positive_sentence_ids": [0]},
        {"query": "It is old.", "kind": "claim", **passage, "positive_sentence_ids": [0]},
        {"query": "How many gates?", "title": "", "text": "It has 14 gates. They open."},
    )
    marked, unmarked, nothing, ranked, text = read_examples([rows])
    assert (marked.answering, marked.words and marked.words.of(marked.text), marked.title) == (
        (False, True),
        "14",
        "Low Quay",
    )
    assert (unmarked.answering, unmarked.words) == ((False, None), None)
    assert (nothing.is_answered, ranked.answering, text.answering) == (False, (True, False), (None, None))


def test_questions_written_beside_a_passage_are_read(tmp_path: Path) -> None:
    passage = {"title": "Low Quay › Gates", "sentences": ["It is old.", "It has 14 gates.", "Two are shut."]}
    asked = [
        {"question": "How many gates?", "answer_sentences": [1], "answer": "14"},
        {"question": "Which are shut?", "answer_sentences": [1, 2]},
        {"question": "Who built it?", "answer_sentences": []},
    ]
    rows = write(tmp_path / "rows.jsonl", {**passage, "questions": asked})
    words, both, nothing = read_examples([rows])
    assert {e.kind for e in (words, both, nothing)} == {"written"}
    assert (words.answering, words.words and words.words.of(words.text)) == ((False, True, False), "14")
    assert (both.answering, both.words, both.title) == ((False, True, True), None, "Low Quay › Gates")
    assert not nothing.is_answered


def test_questions_of_a_document_are_read_beside_each_section(tmp_path: Path) -> None:
    sections = [
        {"title": "Gates", "sentences": ["It has 14 gates.", "Two are shut."]},
        {"title": "Fees", "sentences": ["A visit is free."]},
    ]
    asked = [
        {"question": "How many gates?", "answer_sentences": [[0, 0]], "answer": "14"},
        {"question": "Who built it?", "answer_sentences": []},
    ]
    rows = write(tmp_path / "rows.jsonl", {"title": "Low Quay", "sections": sections, "questions": asked})
    gates, fees, *unanswered = read_examples([rows])
    assert (gates.title, gates.answering, gates.words and gates.words.of(gates.text)) == (
        "Low Quay › Gates", (True, False), "14",
    )  # fmt: skip
    assert (fees.title, fees.is_answered, fees.words) == ("Low Quay › Fees", False, None)
    assert gates.group == fees.group != unanswered[0].group == unanswered[1].group
    assert not any(e.is_answered for e in unanswered)


def test_sections_of_a_document_are_learned_together(base: Path, tmp_path: Path) -> None:
    """Of five sections four are read: the one that answers, and the others that share most words with the question."""
    documents = []
    for number, (thing, colour) in enumerate((t, c) for t in THINGS for c in COLOURS):
        answered = replace(asked(thing, colour, "tower"), kind="document", group=str(number))
        others = [
            replace(answered, sentences=(f"The {o} was old.", "It was red."), answering=(False, False), words=None)
            for o in THINGS[:4]
        ]
        documents += [*others, answered]
    losses: list[float] = []
    about = train(
        documents, tmp_path / "q.safetensors", tmp_path, RECIPE, base=base, progress=lambda _, loss: losses.append(loss)
    )
    assert about["examples"] == {"document": len(documents)}
    assert sum(losses[-10:]) < 0.8 * sum(losses[:10])


def test_a_row_of_another_form_is_named(tmp_path: Path) -> None:
    with pytest.raises(AttributionError, match=r"line 1 of .* is no question with its passages"):
        list(read_examples([write(tmp_path / "rows.jsonl", {"query": "Why?", "sentences": ["It rained."]})]))


def test_a_window_keeps_the_place_of_the_words() -> None:
    example = asked("gates", "red", "tower")
    longer = QuestionExample(
        example.question, ("It was long ago.", *example.sentences), (False, *example.answering), "",
        example.words and example.words.shifted(17),
    )  # fmt: skip
    for seed in range(20):
        shown = window(longer, 9, random.Random(seed))
        assert len(shown.sentences) < 3
        assert shown.words is None or shown.words.of(shown.text) == "red"


def test_what_is_made_does_not_answer_or_stands_alone() -> None:
    named = [
        QuestionExample("When did Ada Ree leave Norwich?", ("Ada Ree left Norwich in 1911.",), (True,), "Ada Ree"),
        QuestionExample(
            "When did Tom Orr visit Leeds in 1900?", ("Tom Orr saw Leeds in May 1900.",), (True,), "Tom Orr"
        ),
    ]
    named.append(QuestionExample("Which river crosses Norwich?", ("The Wensum crosses Norwich.",), (True,), "Rivers"))
    examples = [*EXAMPLES, *named]
    by_kind: dict[str, list[QuestionExample]] = {"alone": [], "other": [], "swapped": []}
    for example in made(examples, random.Random(3)):
        by_kind[example.kind].append(example)
    assert all(len(e.sentences) == 1 for e in by_kind["alone"])
    assert {e.is_answered for e in by_kind["alone"]} == {True, False}
    assert by_kind["other"]
    assert not any(e.is_answered for e in by_kind["other"] + by_kind["swapped"])
    assert all(e.question not in {o.question for o in examples} for e in by_kind["swapped"])
