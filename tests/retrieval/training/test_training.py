"""Training the queries' network on a tiny base: it learns, goes on where it stopped, and what it writes is loaded."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiny_models as tiny
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import MultiVectorEncoder
from small_trainings import halves, measured, row_about, stopped

from propcite.retrieval.encoding.checkpoints import token_wise
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.salience import Salience
from propcite.retrieval.encoding.trained_networks import MARKERS, about, apply_difference, routed, with_markers, write
from propcite.retrieval.encoding.weight_deltas import difference
from propcite.retrieval.errors import EncoderError, RetrievalError
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity
from propcite.retrieval.training.passages import Passages
from propcite.retrieval.training.rows import Mixture, Row, as_claim, parts, read_rows
from propcite.retrieval.training.trainer import CHECKPOINT, Recipe, Trainer

SMALL = Recipe(steps=4, batch_size=4, learning_rate=1e-3, warmup=1)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save_backbone(tmp_path_factory.mktemp("base"), tiny.word_piece_tokenizer())


@pytest.fixture(scope="module")
def base_encoder(base: Path) -> Encoder:
    return Encoder(str(base), precision="float32")


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return [row_about(number) for number in range(24)]


@pytest.fixture(scope="module")
def passages(rows: list[Row], base_encoder: Encoder, tmp_path_factory: pytest.TempPathFactory) -> Passages:
    made = Passages(rows, base_encoder, tmp_path_factory.mktemp("work"), halves)
    made.encode()
    return made


def trainer(recipe: Recipe, rows: list[Row], passages: Passages, base: Path, folder: Path) -> Trainer:
    return Trainer(recipe, rows, passages, str(base), folder)


def weights(t: Trainer) -> np.ndarray:
    return torch.cat([p.detach().flatten() for p in t.queries.parameters()]).numpy()


def test_a_units_tokens_are_those_of_its_words(passages: Passages, rows: list[Row]) -> None:
    number = passages.number(rows[3])
    passage, tokens = passages.passage(number), passages.tokens(number)
    for units, count in ((passages.sentences(number), 3), (passages.propositions(number), 6)):
        assert len(units.lengths) == count
        assert sorted(set(units.sentences.tolist())) == [0, 1, 2]
        bounds = np.concatenate([[0], np.cumsum(units.lengths)])
        for i, sentence in enumerate(units.sentences):
            held = units.members[bounds[i] : bounds[i + 1]]
            span = passage.sentences[sentence].span
            assert all(span.start <= s < e <= span.end for s, e in tokens.offsets[held].tolist())
    words = " ".join(passages.claims(number)[0])
    assert words.replace(" ", "") == passage.sentences[0].span.of(passage.text).replace(" ", "")


def test_passages_that_are_there_are_not_encoded_again(rows, base_encoder: Encoder, tmp_path: Path) -> None:
    first = Passages(rows, base_encoder, tmp_path, halves)
    first.encode()
    block = next(tmp_path.rglob("00000.npy"))
    written = block.stat().st_mtime_ns
    again = Passages(rows, base_encoder, tmp_path, halves)
    again.encode()
    assert block.stat().st_mtime_ns == written
    block.unlink()  # as after an interrupt: the block was not whole
    again.encode()
    assert again.tokens(5).vectors == pytest.approx(first.tokens(5).vectors, abs=1e-3)


def test_training_lowers_the_loss_and_moves_queries_only(rows, passages: Passages, base: Path, tmp_path: Path) -> None:
    t = trainer(
        replace(SMALL, steps=200, batch_size=8, learning_rate=1e-2, propositions=0.5, claims=0.0),
        rows,
        passages,
        base,
        tmp_path,
    )
    before = {level: measured(t, rows, level) for level in MARKERS}
    t.run()
    after = {level: measured(t, rows, level) for level in MARKERS}
    assert all(after[level] < 0.97 * before[level] for level in MARKERS), (before, after)
    assert t.queries.direction.abs().max() > 0


def test_an_interrupted_training_ends_as_one_that_was_not(rows, passages, base: Path, tmp_path: Path) -> None:
    whole = trainer(replace(SMALL, steps=100 + 3), rows, passages, base, tmp_path / "whole")
    whole.run()

    broken = trainer(replace(SMALL, steps=100 + 3), rows, passages, base, tmp_path / "broken")
    stopped(broken, 101)
    resumed = trainer(replace(SMALL, steps=100 + 3), rows, passages, base, tmp_path / "broken")
    assert resumed.resume()
    assert resumed.step == 100
    resumed.run()
    assert weights(resumed) == pytest.approx(weights(whole), abs=1e-6)


def test_a_checkpoint_of_another_recipe_is_refused(rows, passages, base: Path, tmp_path: Path) -> None:
    made = trainer(SMALL, rows, passages, base, tmp_path)
    assert not made.resume()
    made.run()
    assert (tmp_path / CHECKPOINT).exists()
    with pytest.raises(RetrievalError, match="made with another seed"):
        trainer(replace(SMALL, seed=9), rows, passages, base, tmp_path).resume()


def test_a_training_goes_on_only_over_the_passages_that_it_began_with(rows, passages, base, tmp_path: Path) -> None:
    """Passages read by another network are others, though their texts are the same."""
    reads = [tmp_path / f"{name}.safetensors" for name in ("one", "other")]
    for path in reads:
        path.write_bytes(path.stem.encode())
    Trainer(SMALL, rows, passages, str(base), tmp_path, reads=reads[0]).run()
    assert Trainer(SMALL, rows, passages, str(base), tmp_path, reads=reads[0]).resume()
    for other in (reads[1], None):
        with pytest.raises(RetrievalError, match="made with another reader of passages: give the same"):
            Trainer(SMALL, rows, passages, str(base), tmp_path, reads=other).resume()


def test_a_loss_that_explodes_is_said(rows, passages, base: Path, tmp_path: Path) -> None:
    t = trainer(replace(SMALL, learning_rate=1e9), rows, passages, base, tmp_path)
    with pytest.raises(RetrievalError, match="smaller learning rate"):
        t.run()


@pytest.fixture(scope="module")
def made(rows, passages, base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out")
    t = trainer(replace(SMALL, steps=8), rows, passages, base, out / "work")
    t.run()
    t.save(out, {"rows": len(rows)})
    assert not (out / "queries.safetensors").exists()  # the small file is a difference to the bundled base alone
    start, trained = t.averaged(0.0), t.averaged(SMALL.share)
    salience = t.queries.salience()
    salience = Salience(salience.rarity, SMALL.share * salience.direction)
    write(out / "queries.safetensors", start, trained, salience, {"rows": len(rows)})
    return out


def test_the_folder_loads_with_its_markers_and_keeps_the_bases_passages(made: Path, base_encoder: Encoder) -> None:
    encoder = Encoder(str(made / "model"), precision="float32")
    assert [encoder.knows(g) for g in Granularity] == [True, True, True]
    passage = passage_from_text("p", "the harbour was dredged in spring", "gates")
    for ours, bases in (
        (encoder.encode_passages([passage])[0], base_encoder.encode_passages([passage])[0]),
        (encoder.encode_queries(["harbour"])[0], base_encoder.encode_queries(["harbour"])[0]),
    ):
        assert ours.vectors == pytest.approx(bases.vectors, abs=1e-5)
    assert encoder.encode_queries(["harbour"])[0].salience is None
    weights = Salience.read(made / "model" / "salience.safetensors")
    tokens = encoder.encode_passages([passage])[0]
    assert tokens.salience == pytest.approx(weights.rarity[tokens.ids])  # no head was trained
    asked = [encoder.encode_queries(["the harbour"], level)[0] for level in MARKERS]
    for tokens in asked:
        assert tokens.salience is not None
        assert [("the harbour"[s:e] if s >= 0 else "") for s, e in tokens.offsets.tolist()] == [
            "",
            "",  # the marker
            "the",
            "harbour",
            "",
        ]
    assert np.abs(asked[0].vectors - asked[1].vectors).max() > 1e-3


def test_rare_words_weigh_more_than_common_ones(made: Path) -> None:
    tokens = Encoder(str(made / "model"), precision="float32").encode_queries(["the q harbour"], Granularity.SENTENCE)[
        0
    ]
    the, q, harbour = tokens.weights()[2:5]
    assert q > harbour > the


def test_sentence_transformers_opens_the_folder_and_says_the_same(made: Path) -> None:
    encoder = Encoder(str(made / "model"), precision="float32")
    native = MultiVectorEncoder(str(made / "model"), device="cpu")
    for task, level in (("sentence", Granularity.SENTENCE), ("proposition", Granularity.PROPOSITION)):
        theirs = native.encode(["the harbour"], task=task, prompt_name=f"query_{level}")[0]
        assert encoder.encode_queries(["the harbour"], level)[0].vectors == pytest.approx(theirs, abs=1e-5)


def test_the_small_file_is_the_folder_within_eight_bits(made: Path, base: Path) -> None:
    encoder = Encoder(str(made / "model"), precision="float32")
    model, salience = routed(made / "queries.safetensors", str(base), "cpu")
    theirs = model.encode(["the harbour is steel"], task="sentence", prompt_name="query_sentence")[0]
    ours = encoder.encode_queries(["the harbour is steel"], Granularity.SENTENCE)[0]
    assert (np.asarray(theirs) * ours.vectors).sum(axis=1).min() > 0.999
    assert salience.rarity.shape == (len(with_markers(str(base)).tokenizer),)
    assert about(made / "queries.safetensors")["rows"] == 24


def test_a_difference_holds_nothing_that_did_not_change_and_loses_half_a_step_at_most() -> None:
    dice = torch.Generator().manual_seed(3)
    start = {"w": torch.randn(5, 7, generator=dice), "b": torch.randn(5, generator=dice), "same": torch.ones(2, 2)}
    change = torch.randn(5, 7, generator=dice) * torch.tensor([[0.0], [1e-6], [1.0], [30.0], [0.1]])
    trained = {"w": start["w"] + change, "b": start["b"] + 1, "same": start["same"]}
    tensors = difference(start, trained)
    assert sorted(tensors) == ["b", "w", "w/scale"]
    network = torch.nn.Module()
    for name, value in start.items():
        network.register_buffer(name, value.clone())
    apply_difference(network, tensors, Path("some file"))
    assert torch.equal(network.get_buffer("same"), start["same"])
    lost = (network.get_buffer("w") - trained["w"]).abs()
    assert (lost <= change.abs().amax(dim=1, keepdim=True) / 127 / 2 + 1e-6).all()


def test_a_file_for_another_base_or_no_file_at_all_is_one_clear_line(made: Path, tmp_path: Path, base: Path) -> None:
    tensors = load_file(made / "queries.safetensors")
    name = next(n for n in tensors if n.endswith("query.weight"))
    save_file({**tensors, name: torch.zeros(3, 3, dtype=torch.int8)}, tmp_path / "other.safetensors")
    (tmp_path / "damaged.safetensors").write_bytes(b"no weights")
    with pytest.raises(EncoderError, match="does not fit its base"):
        routed(tmp_path / "other.safetensors", str(base), "cpu")
    for file in ("damaged.safetensors", "missing.safetensors"):
        with pytest.raises(EncoderError, match=r"cannot be read .*: reinstall"):
            routed(tmp_path / file, str(base), "cpu")


def test_a_vocabulary_without_the_markers_gets_them(tmp_path: Path) -> None:
    transformer = with_markers(str(tiny.save_backbone(tmp_path, tiny.byte_level_tokenizer())))
    model = token_wise([transformer], "cpu")
    marker = MARKERS[Granularity.PROPOSITION]
    assert len(transformer.tokenizer(marker, add_special_tokens=False)["input_ids"]) == 1
    assert len(model.encode([marker + "ab"])[0]) > 0


def row_line(**changed: object) -> str:
    told = {"query": "q", "title": "a_b", "sentences": ["one", "two"], "positive_sentence_ids": [1], "source": "s"}
    return json.dumps({**told, **changed})


def test_rows_are_read_and_what_teaches_nothing_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    lines = [
        row_line(),
        row_line(positive_sentence_ids=[]),
        row_line(positive_sentence_ids=[0, 1]),
        row_line(weight=0),
        "",
        row_line(weight=2),
    ]
    file.write_text("\n".join(lines), "utf-8")
    assert read_rows(file) == [
        Row("q", "a b", ("one", "two"), frozenset({1}), "s", 1.0),
        Row("q", "a b", ("one", "two"), frozenset({1}), "s", 2.0),
    ]


@pytest.mark.parametrize("bad", ["{", '{"query": "q"}', row_line(positive_sentence_ids=[-1]), row_line(sentences=3)])
def test_a_bad_row_is_named_with_its_line(tmp_path: Path, bad: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(f"{row_line()}\n{bad}\n", "utf-8")
    with pytest.raises(RetrievalError, match=r"rows\.jsonl, line 2: "):
        read_rows(file)


def test_a_long_passage_is_read_in_the_part_that_holds_an_answer(tmp_path: Path) -> None:
    sentences = [f"{'word ' * 90}{i}" for i in range(6)]
    file = tmp_path / "rows.jsonl"
    file.write_text(row_line(sentences=sentences, positive_sentence_ids=[3]), "utf-8")
    row = read_rows(file)[0]
    assert (row.sentences, row.positives) == (tuple(sentences[2:4]), {1})
    assert [i for part in parts(sentences) for i in range(*part)] == list(range(6))


def test_a_claim_is_of_one_sentence_and_loses_some_words() -> None:
    row = Row("q", "", ("one", "two"), frozenset({0}), "s", 0.5)
    told = [["too short"], ["the old harbour was dredged in the spring of that very year , it says."]]
    claims = [as_claim(row, told, random.Random(i)) for i in range(20)]
    assert all(c is not None and c.positives == {1} and c.weight == 1.0 for c in claims)
    assert len({c.query for c in claims if c}) > 10
    assert as_claim(row, [["too short"], []], random.Random(0)) is None


def test_batches_hold_no_passage_twice_and_no_source_is_drowned() -> None:
    many = [Row(f"q{i}", str(i), ("a", "b"), frozenset({0}), "many", 1.0) for i in range(900)]
    few = [Row(f"q{i}", f"f{i}", ("a", "b"), frozenset({0}), "few", 1.0) for i in range(100)]
    drawn = Mixture(many + few, 0).batches(16)
    batches = [next(drawn) for _ in range(100)]
    assert all(len({row.passage for row in batch}) == 16 for batch in batches)
    share = np.mean([row.source == "few" for batch in batches for row in batch])
    assert 0.18 < share < 0.32  # a quarter: the square roots are 30 and 10
    with pytest.raises(RetrievalError, match="nothing to learn"):
        Mixture([], 0)


def test_negatives_stand_beside_and_no_row_asks_of_them(rows, passages: Passages, base: Path, tmp_path: Path) -> None:
    t = trainer(replace(SMALL, negatives="index"), rows, passages, base, tmp_path)
    few = rows[:4]
    beside = t._beside(few)
    assert 0 < len(beside) == len(set(beside)) <= 4
    assert not {passages.number(row) for row in few} & set(beside)
    t.queries.eval()
    alone, among = (t.loss(few, Granularity.SENTENCE, numbers).item() for numbers in ([], beside))
    assert among > alone  # more to be told from
    t.recipe = replace(t.recipe, others=0.0)
    alone, among = (t.loss(few, Granularity.SENTENCE, numbers).item() for numbers in ([], beside))
    assert among == pytest.approx(alone, abs=1e-6)  # a passage's own sentences are what they were


# Salience of passages' tokens


@pytest.mark.parametrize("way", ["gate", "relu", "top-k"])
def test_passages_tokens_learn_to_count(way: str, rows, passages: Passages, base: Path, tmp_path: Path) -> None:
    recipe = replace(SMALL, steps=120, batch_size=8, learning_rate=1e-2, salience=way, claims=0.0, propositions=0.0)
    t = trainer(recipe, rows, passages, base, tmp_path)
    before = measured(t, rows, Granularity.SENTENCE)
    t.run()
    assert measured(t, rows, Granularity.SENTENCE) < 0.97 * before
    assert t.queries.head[:-1].abs().max() > 0
    made = t.save(tmp_path / "made", {})["model"]
    kept = Salience.read(made / "salience.safetensors")
    assert kept.head == pytest.approx(t.queries.head.detach().numpy())
    encoder = Encoder(str(made), precision="float32")
    tokens = encoder.encode_passages([passage_from_text("p", "the gates are of steel")])[0]
    told = kept.rarity[tokens.ids] * np.maximum(tokens.vectors @ kept.head[:-1] + kept.head[-1], 0)
    assert tokens.salience == pytest.approx(told, abs=1e-5)


def test_a_frozen_network_learns_salience_alone_and_keeps_what_it_began_with(rows, passages, base, tmp_path) -> None:
    first = trainer(replace(SMALL, steps=3), rows, passages, base, tmp_path / "first")
    first.run()
    begin = tmp_path / "begin.safetensors"
    with_base = trainer(SMALL, rows, passages, base, tmp_path / "other")
    write(begin, with_base._base, first.averaged(1.0), first.queries.salience(), {})
    frozen = replace(SMALL, frozen=True, salience="gate", share=0.5)
    t = Trainer(frozen, rows, passages, str(base), tmp_path / "frozen", start=begin)
    started = {name: tensor.clone() for name, tensor in t.queries.network.state_dict().items()}
    direction = t.queries.direction.detach().clone()
    t.run()
    assert all(torch.equal(tensor, started[name]) for name, tensor in t.queries.network.state_dict().items())
    assert all(torch.allclose(tensor, started[name]) for name, tensor in t.averaged(0.5).items())
    assert torch.equal(t.queries.direction, direction)
    assert t.queries.head[:-1].abs().max() > 0
    kept = Salience.read(t.save(tmp_path / "made", {})["model"] / "salience.safetensors")
    assert kept.direction == pytest.approx(direction.numpy())
