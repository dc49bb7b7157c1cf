"""Training the network for queries on a tiny base: it learns, resumes, and its files can be loaded."""

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
from small_trainings import eval_loss, halves, row_about, run_until

from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.layouts import token_wise
from propcite.retrieval.encoding.salience import Salience
from propcite.retrieval.encoding.trained_networks import (
    MARKERS,
    apply_difference,
    load_routed_model,
    load_with_markers,
    network_info,
    write_network,
)
from propcite.retrieval.encoding.weight_deltas import difference
from propcite.retrieval.errors import EncoderError, RetrievalError
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity
from propcite.retrieval.training.passages import EncodedPassages
from propcite.retrieval.training.query_trainer import CHECKPOINT, QueryRecipe, QueryTrainer
from propcite.retrieval.training.rows import Row, as_claim, passage_parts, read_rows
from propcite.retrieval.training.sampling import Mixture

SMALL = QueryRecipe(steps=4, batch_size=4, learning_rate=1e-3, warmup=1)


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
def passages(rows: list[Row], base_encoder: Encoder, tmp_path_factory: pytest.TempPathFactory) -> EncodedPassages:
    encoded = EncodedPassages(rows, base_encoder, tmp_path_factory.mktemp("work"), halves)
    encoded.encode()
    return encoded


def trainer(recipe: QueryRecipe, rows: list[Row], passages: EncodedPassages, base: Path, folder: Path) -> QueryTrainer:
    return QueryTrainer(recipe, rows, passages, str(base), folder)


def weights(t: QueryTrainer) -> np.ndarray:
    return torch.cat([p.detach().flatten() for p in t.queries.parameters()]).numpy()


def test_a_units_tokens_lie_within_its_text(passages: EncodedPassages, rows: list[Row]) -> None:
    number = passages.number(rows[3])
    passage, tokens = passages.passage(number), passages.tokens(number)
    for units, count in ((passages.sentences(number), 3), (passages.propositions(number), 6)):
        assert len(units.lengths) == count
        assert sorted(set(units.sentences.tolist())) == [0, 1, 2]
        bounds = np.concatenate([[0], np.cumsum(units.lengths)])
        for i, sentence in enumerate(units.sentences):
            own = units.members[bounds[i] : bounds[i + 1]]
            span = passage.sentences[sentence].span
            assert all(span.start <= s < e <= span.end for s, e in tokens.offsets[own].tolist())
    words = " ".join(passages.claims(number)[0])
    assert words.replace(" ", "") == passage.sentences[0].span.of(passage.text).replace(" ", "")


def test_passages_on_disk_are_not_encoded_again(rows, base_encoder: Encoder, tmp_path: Path) -> None:
    first = EncodedPassages(rows, base_encoder, tmp_path, halves)
    first.encode()
    block = next(tmp_path.rglob("00000.npy"))
    written = block.stat().st_mtime_ns
    again = EncodedPassages(rows, base_encoder, tmp_path, halves)
    again.encode()
    assert block.stat().st_mtime_ns == written
    block.unlink()  # as after an interrupt: the block is incomplete
    again.encode()
    assert again.tokens(5).vectors == pytest.approx(first.tokens(5).vectors, abs=1e-3)


def test_training_lowers_the_loss_and_learns_salience(
    rows, passages: EncodedPassages, base: Path, tmp_path: Path
) -> None:
    t = trainer(
        replace(SMALL, steps=200, batch_size=8, learning_rate=1e-2, propositions=0.5, claims=0.0),
        rows,
        passages,
        base,
        tmp_path,
    )
    before = {level: eval_loss(t, rows, level) for level in MARKERS}
    t.run()
    after = {level: eval_loss(t, rows, level) for level in MARKERS}
    assert all(after[level] < 0.97 * before[level] for level in MARKERS), (before, after)
    assert t.queries.direction.abs().max() > 0


def test_a_resumed_training_ends_like_an_uninterrupted_one(rows, passages, base: Path, tmp_path: Path) -> None:
    whole = trainer(replace(SMALL, steps=100 + 3), rows, passages, base, tmp_path / "whole")
    whole.run()

    broken = trainer(replace(SMALL, steps=100 + 3), rows, passages, base, tmp_path / "broken")
    run_until(broken, 101)
    resumed = trainer(replace(SMALL, steps=100 + 3), rows, passages, base, tmp_path / "broken")
    assert resumed.resume()
    assert resumed.step == 100
    resumed.run()
    assert weights(resumed) == pytest.approx(weights(whole), abs=1e-6)


def test_a_checkpoint_of_another_recipe_is_refused(rows, passages, base: Path, tmp_path: Path) -> None:
    t = trainer(SMALL, rows, passages, base, tmp_path)
    assert not t.resume()
    t.run()
    assert (tmp_path / CHECKPOINT).exists()
    with pytest.raises(RetrievalError, match="made with a different seed"):
        trainer(replace(SMALL, seed=9), rows, passages, base, tmp_path).resume()


def test_a_training_resumes_only_with_the_same_network_for_passages(rows, passages, base, tmp_path: Path) -> None:
    """Another network gives other vectors for the same texts."""
    networks = [tmp_path / f"{name}.safetensors" for name in ("one", "other")]
    for path in networks:
        path.write_bytes(path.stem.encode())
    QueryTrainer(SMALL, rows, passages, str(base), tmp_path, passage_network=networks[0]).run()
    assert QueryTrainer(SMALL, rows, passages, str(base), tmp_path, passage_network=networks[0]).resume()
    for other in (networks[1], None):
        with pytest.raises(RetrievalError, match="made with a different reader of passages: use the same"):
            QueryTrainer(SMALL, rows, passages, str(base), tmp_path, passage_network=other).resume()


def test_a_loss_that_explodes_is_an_error(rows, passages, base: Path, tmp_path: Path) -> None:
    t = trainer(replace(SMALL, learning_rate=1e9), rows, passages, base, tmp_path)
    with pytest.raises(RetrievalError, match="smaller learning rate"):
        t.run()


@pytest.fixture(scope="module")
def saved(rows, passages, base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out")
    t = trainer(replace(SMALL, steps=8), rows, passages, base, out / "work")
    t.run()
    t.save(out, {"rows": len(rows)})
    assert not (out / "queries.safetensors").exists()  # only for the bundled base is the difference written too
    start, trained = t.trained_weights(0.0), t.trained_weights(SMALL.share)
    salience = t.queries.salience()
    salience = Salience(salience.rarity, SMALL.share * salience.direction)
    write_network(out / "queries.safetensors", start, trained, salience, {"rows": len(rows)})
    return out


def test_the_folder_has_its_markers_and_the_bases_passages(saved: Path, base_encoder: Encoder) -> None:
    encoder = Encoder(str(saved / "model"), precision="float32")
    assert [encoder.knows(g) for g in Granularity] == [True, True, True]
    passage = passage_from_text("p", "the harbour was dredged in spring", "gates")
    for ours, bases in (
        (encoder.encode_passages([passage])[0], base_encoder.encode_passages([passage])[0]),
        (encoder.encode_queries(["harbour"])[0], base_encoder.encode_queries(["harbour"])[0]),
    ):
        assert ours.vectors == pytest.approx(bases.vectors, abs=1e-5)
    assert encoder.encode_queries(["harbour"])[0].salience is None
    weights = Salience.read(saved / "model" / "salience.safetensors")
    tokens = encoder.encode_passages([passage])[0]
    assert tokens.salience == pytest.approx(weights.rarity[tokens.ids])  # no head was trained
    queries = [encoder.encode_queries(["the harbour"], level)[0] for level in MARKERS]
    for tokens in queries:
        assert tokens.salience is not None
        assert [("the harbour"[s:e] if s >= 0 else "") for s, e in tokens.offsets.tolist()] == [
            "",
            "",  # the marker
            "the",
            "harbour",
            "",
        ]
    assert np.abs(queries[0].vectors - queries[1].vectors).max() > 1e-3


def test_rare_words_weigh_more_than_common_ones(saved: Path) -> None:
    tokens = Encoder(str(saved / "model"), precision="float32").encode_queries(["the q harbour"], Granularity.SENTENCE)[
        0
    ]
    the, q, harbour = tokens.weights()[2:5]
    assert q > harbour > the


def test_sentence_transformers_opens_the_folder_and_gives_the_same_vectors(saved: Path) -> None:
    encoder = Encoder(str(saved / "model"), precision="float32")
    native = MultiVectorEncoder(str(saved / "model"), device="cpu")
    for task, level in (("sentence", Granularity.SENTENCE), ("proposition", Granularity.PROPOSITION)):
        theirs = native.encode(["the harbour"], task=task, prompt_name=f"query_{level}")[0]
        assert encoder.encode_queries(["the harbour"], level)[0].vectors == pytest.approx(theirs, abs=1e-5)


def test_the_difference_equals_the_folder_within_eight_bits(saved: Path, base: Path) -> None:
    encoder = Encoder(str(saved / "model"), precision="float32")
    model, salience = load_routed_model(saved / "queries.safetensors", str(base), "cpu")
    theirs = model.encode(["the harbour is steel"], task="sentence", prompt_name="query_sentence")[0]
    ours = encoder.encode_queries(["the harbour is steel"], Granularity.SENTENCE)[0]
    assert (np.asarray(theirs) * ours.vectors).sum(axis=1).min() > 0.999
    assert salience.rarity.shape == (len(load_with_markers(str(base)).tokenizer),)
    assert network_info(saved / "queries.safetensors")["rows"] == 24


def test_a_difference_has_only_changed_weights_and_is_off_by_half_a_step_at_most() -> None:
    rng = torch.Generator().manual_seed(3)
    start = {"w": torch.randn(5, 7, generator=rng), "b": torch.randn(5, generator=rng), "same": torch.ones(2, 2)}
    change = torch.randn(5, 7, generator=rng) * torch.tensor([[0.0], [1e-6], [1.0], [30.0], [0.1]])
    trained = {"w": start["w"] + change, "b": start["b"] + 1, "same": start["same"]}
    tensors = difference(start, trained)
    assert sorted(tensors) == ["b", "w", "w/scale"]
    network = torch.nn.Module()
    for name, value in start.items():
        network.register_buffer(name, value.clone())
    apply_difference(network, tensors, Path("some file"))
    assert torch.equal(network.get_buffer("same"), start["same"])
    error = (network.get_buffer("w") - trained["w"]).abs()
    assert (error <= change.abs().amax(dim=1, keepdim=True) / 127 / 2 + 1e-6).all()


def test_a_file_of_another_base_or_a_damaged_file_is_an_error(saved: Path, tmp_path: Path, base: Path) -> None:
    tensors = load_file(saved / "queries.safetensors")
    name = next(n for n in tensors if n.endswith("query.weight"))
    save_file({**tensors, name: torch.zeros(3, 3, dtype=torch.int8)}, tmp_path / "other.safetensors")
    (tmp_path / "damaged.safetensors").write_bytes(b"no weights")
    with pytest.raises(EncoderError, match="does not fit its base"):
        load_routed_model(tmp_path / "other.safetensors", str(base), "cpu")
    for file in ("damaged.safetensors", "missing.safetensors"):
        with pytest.raises(EncoderError, match=r"cannot be read .*: reinstall"):
            load_routed_model(tmp_path / file, str(base), "cpu")


def test_a_vocabulary_without_the_markers_gets_them(tmp_path: Path) -> None:
    transformer = load_with_markers(str(tiny.save_backbone(tmp_path, tiny.byte_level_tokenizer())))
    model = token_wise([transformer], "cpu")
    marker = MARKERS[Granularity.PROPOSITION]
    assert len(transformer.tokenizer(marker, add_special_tokens=False)["input_ids"]) == 1
    assert len(model.encode([marker + "ab"])[0]) > 0


def row_line(**changed: object) -> str:
    row = {"query": "q", "title": "a_b", "sentences": ["one", "two"], "positive_sentence_ids": [1], "source": "s"}
    return json.dumps({**row, **changed})


def test_rows_without_anything_to_learn_are_skipped(tmp_path: Path) -> None:
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
def test_an_error_names_the_line_of_a_bad_row(tmp_path: Path, bad: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(f"{row_line()}\n{bad}\n", "utf-8")
    with pytest.raises(RetrievalError, match=r"rows\.jsonl, line 2: "):
        read_rows(file)


def test_a_long_passage_is_reduced_to_the_part_with_an_answer(tmp_path: Path) -> None:
    sentences = [f"{'word ' * 90}{i}" for i in range(6)]
    file = tmp_path / "rows.jsonl"
    file.write_text(row_line(sentences=sentences, positive_sentence_ids=[3]), "utf-8")
    row = read_rows(file)[0]
    assert (row.sentences, row.positives) == (tuple(sentences[2:4]), {1})
    assert [i for part in passage_parts(sentences) for i in range(*part)] == list(range(6))


def test_a_claim_comes_from_one_sentence_and_loses_some_words() -> None:
    row = Row("q", "", ("one", "two"), frozenset({0}), "s", 0.5)
    texts = [["too short"], ["the old harbour was dredged in the spring of that very year , it says."]]
    claims = [as_claim(row, texts, random.Random(i)) for i in range(20)]
    assert all(c is not None and c.positives == {1} and c.weight == 1.0 for c in claims)
    assert len({c.query for c in claims if c}) > 10
    assert as_claim(row, [["too short"], []], random.Random(0)) is None


def test_batches_have_no_passage_twice_and_small_sources_are_drawn_often_enough() -> None:
    many = [Row(f"q{i}", str(i), ("a", "b"), frozenset({0}), "many", 1.0) for i in range(900)]
    few = [Row(f"q{i}", f"f{i}", ("a", "b"), frozenset({0}), "few", 1.0) for i in range(100)]
    drawn = Mixture(many + few, 0).batches(16)
    batches = [next(drawn) for _ in range(100)]
    assert all(len({row.passage for row in batch}) == 16 for batch in batches)
    share = np.mean([row.source == "few" for batch in batches for row in batch])
    assert 0.18 < share < 0.32  # a quarter: the square roots are 30 and 10
    with pytest.raises(RetrievalError, match="nothing to learn"):
        Mixture([], 0)


def test_negatives_are_added_to_the_batch_without_a_row(
    rows, passages: EncodedPassages, base: Path, tmp_path: Path
) -> None:
    t = trainer(replace(SMALL, negatives="index"), rows, passages, base, tmp_path)
    few = rows[:4]
    negatives = t._draw_negatives(few)
    assert 0 < len(negatives) == len(set(negatives)) <= 4
    assert not {passages.number(row) for row in few} & set(negatives)
    t.queries.eval()
    alone, among = (t.loss(few, Granularity.SENTENCE, numbers).item() for numbers in ([], negatives))
    assert among > alone  # more units to separate from
    t.recipe = replace(t.recipe, others=0.0)
    alone, among = (t.loss(few, Granularity.SENTENCE, numbers).item() for numbers in ([], negatives))
    assert among == pytest.approx(alone, abs=1e-6)  # the loss within the own passage does not change


# Salience of passage tokens


@pytest.mark.parametrize("gate", ["gate", "relu", "top-k"])
def test_the_salience_of_passage_tokens_is_learned(
    gate: str, rows, passages: EncodedPassages, base: Path, tmp_path: Path
) -> None:
    recipe = replace(SMALL, steps=120, batch_size=8, learning_rate=1e-2, salience=gate, claims=0.0, propositions=0.0)
    t = trainer(recipe, rows, passages, base, tmp_path)
    before = eval_loss(t, rows, Granularity.SENTENCE)
    t.run()
    assert eval_loss(t, rows, Granularity.SENTENCE) < 0.97 * before
    assert t.queries.head[:-1].abs().max() > 0
    model = t.save(tmp_path / "made", {})["model"]
    salience = Salience.read(model / "salience.safetensors")
    assert salience.head == pytest.approx(t.queries.head.detach().numpy())
    encoder = Encoder(str(model), precision="float32")
    tokens = encoder.encode_passages([passage_from_text("p", "the gates are of steel")])[0]
    head = salience.head
    expected = salience.rarity[tokens.ids] * np.maximum(tokens.vectors @ head[:-1] + head[-1], 0)
    assert tokens.salience == pytest.approx(expected, abs=1e-5)


def test_a_frozen_network_learns_only_salience_and_keeps_its_start(rows, passages, base, tmp_path) -> None:
    first = trainer(replace(SMALL, steps=3), rows, passages, base, tmp_path / "first")
    first.run()
    start = tmp_path / "start.safetensors"
    with_base = trainer(SMALL, rows, passages, base, tmp_path / "other")
    write_network(start, with_base._base, first.trained_weights(1.0), first.queries.salience(), {})
    frozen = replace(SMALL, frozen=True, salience="gate", share=0.5)
    t = QueryTrainer(frozen, rows, passages, str(base), tmp_path / "frozen", start=start)
    start_weights = {name: tensor.clone() for name, tensor in t.queries.network.state_dict().items()}
    direction = t.queries.direction.detach().clone()
    t.run()
    assert all(torch.equal(tensor, start_weights[name]) for name, tensor in t.queries.network.state_dict().items())
    assert all(torch.allclose(tensor, start_weights[name]) for name, tensor in t.trained_weights(0.5).items())
    assert torch.equal(t.queries.direction, direction)
    assert t.queries.head[:-1].abs().max() > 0
    saved = Salience.read(t.save(tmp_path / "made", {})["model"] / "salience.safetensors")
    assert saved.direction == pytest.approx(direction.numpy())
