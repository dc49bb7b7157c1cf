"""Other forms of training: low-rank changes, a trained projection, other bases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiny_models as tiny
import torch
from sentence_transformers import MultiVectorEncoder
from small_trainings import eval_loss, halves, row_about, run_until

from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity
from propcite.retrieval.training.lowrank import LowRank, add_low_rank_changes, merged_weights
from propcite.retrieval.training.network import principal_directions
from propcite.retrieval.training.passages import EncodedPassages
from propcite.retrieval.training.query_trainer import QueryRecipe, QueryTrainer

RECIPE = QueryRecipe(steps=60, batch_size=8, learning_rate=1e-2, warmup=1, claims=0.0, propositions=0.0)
PASSAGE = passage_from_text("p", "the harbour was dredged in spring", "gates")


ROWS = [row_about(number) for number in range(24)]


def bert(folder: Path) -> Path:
    return tiny.save_backbone(folder, tiny.word_piece_tokenizer())


BASES: dict[str, Callable[[Path], Path]] = {"BERT": bert, "ModernBERT": tiny.save_modern, "T5": tiny.save_t5}


def trainer(recipe: QueryRecipe, base: Path, folder: Path) -> QueryTrainer:
    passages = EncodedPassages(ROWS, Encoder(str(base), precision="float32"), folder, halves)
    passages.encode()
    return QueryTrainer(recipe, ROWS, passages, str(base), folder)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bert(tmp_path_factory.mktemp("base"))


@pytest.mark.parametrize("name", BASES)
def test_other_bases_learn_and_their_models_can_be_opened(name: str, tmp_path: Path) -> None:
    base = BASES[name](tmp_path / "base")
    t = trainer(replace(RECIPE, share=1.0), base, tmp_path)
    before = eval_loss(t, ROWS)
    t.run()
    assert eval_loss(t, ROWS) < 0.97 * before
    model = t.save(tmp_path / "out", {})["model"]
    encoder, plain_base = Encoder(str(model), precision="float32"), Encoder(str(base), precision="float32")
    ours, bases = (e.encode_passages([PASSAGE])[0] for e in (encoder, plain_base))
    assert ours.vectors == pytest.approx(bases.vectors, abs=1e-5)
    query = encoder.encode_queries(["the harbour"], Granularity.SENTENCE)[0]
    t.queries.eval()
    with torch.no_grad():
        vectors, weights = t.queries(["the harbour"], Granularity.SENTENCE)
    assert query.vectors == pytest.approx(vectors[0].numpy(), abs=1e-4)
    assert query.salience == pytest.approx(weights[0].numpy(), rel=1e-2)
    native = MultiVectorEncoder(str(model), device="cpu")
    theirs = native.encode(["the harbour"], task="sentence", prompt_name="query_sentence")[0]
    assert query.vectors == pytest.approx(theirs, abs=1e-4)


def test_only_low_rank_changes_are_learned_and_they_are_merged_into_the_weights(base: Path, tmp_path: Path) -> None:
    t = trainer(replace(RECIPE, lora=2, steps=120), base, tmp_path)
    start = {name: tensor.clone() for name, tensor in t._start.items()}
    trained = [name for name, p in t.queries.network.named_parameters() if p.requires_grad]
    assert trained
    assert all(name.endswith((".down", ".up")) for name in trained)
    before = eval_loss(t, ROWS)
    t.run()
    assert eval_loss(t, ROWS) < 0.97 * before
    whole = t.trained_weights(1.0)
    assert whole.keys() == start.keys()
    changes = {name: whole[name] - start[name] for name in whole if not torch.equal(whole[name], start[name])}
    assert changes
    assert all(torch.linalg.matrix_rank(change, rtol=1e-4) <= 2 for change in changes.values())
    t.save(tmp_path / "out", {})
    query = Encoder(str(tmp_path / "out" / "model"), precision="float32").encode_queries(["the harbour"], "sentence")[0]
    assert len(query) == 5


def test_a_low_rank_change_is_zero_at_first_and_the_product_later() -> None:
    network = torch.nn.Sequential(torch.nn.Linear(3, 2))
    weight = network[0].weight.detach().clone()
    add_low_rank_changes(network, 1)
    assert torch.equal(merged_weights(network)["0.weight"], weight)
    change = network[0].parametrizations.weight[0]
    with torch.no_grad():
        change.up.copy_(torch.tensor([[1.0], [2.0]]))
        change.down.copy_(torch.tensor([[1.0, 0.0, 3.0]]))
    expected = weight + torch.tensor([[1.0, 0.0, 3.0], [2.0, 0.0, 6.0]])
    assert torch.allclose(merged_weights(network)["0.weight"], expected)
    assert sorted(merged_weights(network)) == ["0.bias", "0.weight"]


def test_a_low_rank_change_is_on_the_device_of_its_weight() -> None:
    change = LowRank(torch.zeros(2, 3, device="meta"), 1)
    assert {p.device.type for p in change.parameters()} == {"meta"}


def test_a_low_rank_training_with_a_projection_resumes(base: Path, tmp_path: Path) -> None:
    recipe = replace(RECIPE, lora=2, dimension=8, steps=102)
    whole = trainer(recipe, base, tmp_path / "whole")
    whole.run()

    run_until(trainer(recipe, base, tmp_path / "broken"), 101)
    resumed = trainer(recipe, base, tmp_path / "broken")
    assert resumed.resume()
    resumed.run()
    ended, expected = (torch.cat([p.detach().flatten() for p in t.queries.parameters()]) for t in (resumed, whole))
    assert torch.allclose(ended, expected, atol=1e-5)


def test_a_trained_projection_is_applied_to_passages_and_queries(base: Path, tmp_path: Path) -> None:
    t = trainer(replace(RECIPE, dimension=8, projection_rate=1e-2), base, tmp_path)
    assert t.queries.projection is not None
    start = t.queries.projection.detach().clone()
    before = eval_loss(t, ROWS)
    t.run()
    assert eval_loss(t, ROWS) < 0.97 * before
    paths = t.save(tmp_path / "out", {})
    assert "difference" not in paths  # the passages' vectors are no longer the base's
    encoder = Encoder(str(paths["model"]), precision="float32")
    assert encoder.dimension == 8
    wide = Encoder(str(base), precision="float32").encode_passages([PASSAGE])[0].vectors
    projection = t.queries.projection.detach().numpy()
    assert not np.allclose(projection, start.numpy())
    narrow = wide @ projection.T
    narrow /= np.linalg.norm(narrow, axis=1, keepdims=True)
    assert encoder.encode_passages([PASSAGE])[0].vectors == pytest.approx(narrow, abs=1e-5)


def test_the_encoders_name_changes_with_the_projection(base: Path, tmp_path: Path) -> None:
    t = trainer(replace(RECIPE, dimension=8, steps=1), base, tmp_path)
    first = Encoder(str(t.save(tmp_path / "one", {})["model"])).name
    again = Encoder(str(t.save(tmp_path / "two", {})["model"])).name
    with torch.no_grad():
        t.queries.projection += 0.1
    other = Encoder(str(t.save(tmp_path / "three", {})["model"])).name
    assert first == again != other


def test_a_projection_starts_with_the_principal_directions(base: Path, tmp_path: Path) -> None:
    passages = trainer(replace(RECIPE, steps=1), base, tmp_path).passages
    directions = principal_directions(passages, 8)
    assert torch.allclose(directions @ directions.T, torch.eye(8), atol=1e-4)
    tokens = torch.from_numpy(np.concatenate([passages.tokens(n).vectors for n in range(len(passages))]))
    energy = (tokens @ directions.T).pow(2).sum()
    rng = torch.Generator().manual_seed(0)
    for _ in range(5):
        others = torch.linalg.qr(torch.randn(tiny.HIDDEN, 8, generator=rng)).Q
        assert energy > (tokens @ others).pow(2).sum()
    with pytest.raises(RetrievalError, match="has only 32 numbers per token: give --dimension 32 or less"):
        principal_directions(passages, 33)
