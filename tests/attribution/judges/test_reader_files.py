"""A reader's folder: eight bits per weight, files of limited size, one line for whatever is damaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tiny_judges import pair_tokenizer
from tiny_readers import save_base
from transformers import ModernBertConfig, ModernBertModel

from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import reader_files
from propcite.attribution.judges.reader_files import ABOUT, CHANGES, check, load, save, save_changes, update
from propcite.attribution.judges.training.trainer import base_network

PAIR = ("the gates are made of steel", "the harbour gates are made of steel")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    network, tokenizer = base_network(str(save_base(tmp_path / "base", "copper")))
    torch.nn.init.normal_(network.piece.weight)
    save(tmp_path / "reader", network, tokenizer, {"made": "today"})
    return tmp_path / "reader"


def test_a_loaded_reader_computes_what_was_saved(tmp_path: Path) -> None:
    network, tokenizer = base_network(str(save_base(tmp_path / "base", "copper")))
    torch.nn.init.normal_(network.piece.weight)
    save(tmp_path / "reader", network, tokenizer, {})
    loaded = load(tmp_path / "reader", "cpu", "float32")
    pairs = loaded.tokenizer.encode([PAIR])
    with torch.inference_mode():
        before, after = network.eval()(pairs), loaded.network(pairs)
    both = torch.stack([before[0][0], after[0][0]])
    assert torch.corrcoef(both)[0, 1] > 0.99  # word embeddings have four bits, and the weights here are random
    assert not torch.equal(*both)


def test_matrices_take_a_byte_per_weight_and_word_embeddings_half(folder: Path) -> None:
    network = load(folder, "cpu", "float32").network
    embeddings = network.base.embeddings.word_embeddings.weight.numel()
    matrices = sum(p.numel() for p in network.parameters() if p.ndim == 2) - embeddings
    size = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    assert size < 1.3 * (matrices + embeddings / 2) + 20_000


def test_no_file_is_larger_than_a_host_of_code_accepts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_files, "MAX_FILE_BYTES", 30_000)
    network, tokenizer = base_network(str(save_base(tmp_path / "base", "copper")))
    save(tmp_path / "reader", network, tokenizer, {})
    files = sorted((tmp_path / "reader").glob("*.safetensors"))
    assert len(files) > 1
    assert files[0].name == f"weights-1-of-{len(files)}.safetensors"
    assert load(tmp_path / "reader").network is not None


def test_the_name_identifies_the_weights(folder: Path) -> None:
    network, tokenizer = base_network(str(folder))
    before = load(folder).name
    assert before.startswith("reader@")
    with torch.no_grad():
        network.first.bias += 1
    save(folder, network, tokenizer, {})
    assert load(folder).name != before


def test_the_name_changes_with_the_calibration(folder: Path) -> None:
    before = load(folder).name
    update(folder, {"calibration": {"scale": 0.5}})
    assert load(folder).name != before


def test_a_description_is_added_to_the_rest(folder: Path) -> None:
    update(folder, {"calibration": {"scale": 0.5}})
    about = load(folder).about
    assert (about["made"], about["calibration"]) == ("today", {"scale": 0.5})
    check(folder)


def test_a_folder_without_a_reader_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(AttributionError, match=r"holds no reader .*train one with propcite train judge"):
        update(tmp_path, {})


def _changes(rank: int) -> dict[str, torch.Tensor]:
    name = "base.encoder.layer.1.attention.self.query.weight"
    return {f"{name}/up": torch.randn(64, rank), f"{name}/down": torch.randn(rank, 64), "first.bias": torch.ones(1)}


def _query(folder: Path) -> torch.Tensor:
    weight: torch.Tensor = load(folder, "cpu", "float32").network.base.encoder.layer[1].attention.self.query.weight
    return weight


def test_changes_are_added_to_the_weights_that_they_name_and_to_earlier_changes(folder: Path, tmp_path: Path) -> None:
    first, second = _changes(2), _changes(3)
    save_changes(tmp_path / "one", folder, first, {"made": "later"})
    save_changes(tmp_path / "two", tmp_path / "one", second, {})
    expected = _query(folder)
    for name, given in (("one", first), ("two", second)):
        up, down = (given[n] for n in given if "/" in n)
        expected = expected + up @ down
        lost = (_query(tmp_path / name) - expected).norm() / expected.norm()
        assert lost < 0.2  # thin matrices have four bits
        assert load(tmp_path / name, "cpu", "float32").network.first.bias == 1
        check(tmp_path / name)
    names = {load(f).name.partition("@")[2] for f in (folder, tmp_path / "one", tmp_path / "two")}
    assert len(names) == 3
    assert {f.name for f in (tmp_path / "one").iterdir()} - {f.name for f in folder.iterdir()} == {CHANGES}


def test_thin_matrices_take_half_a_byte_per_weight(folder: Path, tmp_path: Path) -> None:
    save_changes(tmp_path / "half", folder, {"first.bias": torch.ones(1)}, {})
    save_changes(tmp_path / "more", folder, _changes(64), {})
    added = (tmp_path / "more" / CHANGES).stat().st_size - (tmp_path / "half" / CHANGES).stat().st_size
    assert added < 1.3 * 2 * 64 * 64 / 2


def test_changes_of_a_reader_that_is_trained_again_are_cut_to_a_rank(folder: Path, tmp_path: Path) -> None:
    save_changes(tmp_path / "one", folder, _changes(2), {})
    save_changes(tmp_path / "two", tmp_path / "one", _changes(3), {}, rank=4)
    learned = _query(tmp_path / "two") - _query(folder)
    sizes = torch.linalg.svdvals(learned)
    assert sizes[3] > 100 * sizes[4]
    save_changes(tmp_path / "all", tmp_path / "one", _changes(0), {})
    assert torch.allclose(_query(tmp_path / "all"), _query(tmp_path / "one"))  # packed twice is packed once


def test_damaged_changes_are_one_line(folder: Path) -> None:
    save_changes(folder, folder, _changes(2), {})
    file = folder / CHANGES
    file.write_bytes(file.read_bytes()[:-9])
    for use in (load, check):
        with pytest.raises(AttributionError, match="damaged or missing"):
            use(folder)


def _cut(folder: Path) -> None:
    file = next(folder.glob("*.safetensors"))
    file.write_bytes(file.read_bytes()[:-500])


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no description": lambda folder: (folder / ABOUT).unlink(),
    "a broken description": lambda folder: (folder / ABOUT).write_text("{"),
    "a description without files": lambda folder: (folder / ABOUT).write_text("{}"),
    "a missing file": lambda folder: next(folder.glob("*.safetensors")).unlink(),
    "a cut file": _cut,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damage_is_one_line_that_names_the_folder_and_the_next_step(
    folder: Path, damage: Callable[[Path], object]
) -> None:
    damage(folder)
    for use in (load, check):
        with pytest.raises(AttributionError, match=r"damaged or missing.*: install PropCite again") as error:
            use(folder)
        assert str(folder) in str(error.value)
        assert "\n" not in str(error.value)


def test_weights_of_another_network_are_refused(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"intermediate_size": 48}))
    with pytest.raises(AttributionError, match="damaged or missing"):
        load(folder)


def test_a_network_with_other_buffers_is_loaded_as_it_was(tmp_path: Path) -> None:
    """Rotary positions are in no file: they come from the base's own code."""
    config = ModernBertConfig(
        vocab_size=120, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2,
        pad_token_id=0, max_position_embeddings=64,
    )  # fmt: skip
    torch.manual_seed(3)
    ModernBertModel(config).save_pretrained(tmp_path / "base")
    pair_tokenizer("roberta").save_pretrained(tmp_path / "base")
    network, tokenizer = base_network(str(tmp_path / "base"))
    torch.nn.init.normal_(network.piece.weight)
    save(tmp_path / "reader", network, tokenizer, {})
    loaded = load(tmp_path / "reader", "cpu", "float32")
    pairs = loaded.tokenizer.encode([PAIR])
    with torch.inference_mode():
        both = torch.stack([network.eval()(pairs)[0][0], loaded.network(pairs)[0][0]])
    assert torch.corrcoef(both)[0, 1] > 0.99


def test_a_save_that_fails_keeps_the_reader(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = load(folder).name
    network, tokenizer = base_network(str(folder))
    monkeypatch.setattr(reader_files, "MAX_FILE_BYTES", 20_000)
    monkeypatch.setattr(reader_files, "file_sha256", lambda _: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        save(folder, network, tokenizer, {})
    monkeypatch.undo()
    check(folder)
    assert load(folder).name == before
