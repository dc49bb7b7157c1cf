"""Models of a hub: which revision is read, what an index keeps of it, and what is said when it changes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants, hf_api
from local_hub import Hub, local_hub
from safetensors.torch import load_file, save_file
from tiny_models import save_single_vector

from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.loading import model_folder
from propcite.retrieval.errors import EncoderError, RetrievalError
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Document

TEXT = "The harbour was dredged in spring. Its gates are made of steel."


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub with a model, whose tag `v1` is its first commit and whose main branch is its second."""
    first, second = save_single_vector(tmp_path), tmp_path / "second"
    shutil.copytree(first, second)
    for file in second.rglob("*.safetensors"):
        save_file({name: value * 1.01 for name, value in load_file(file).items()}, file)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with local_hub() as running:
        running.commit(first, "v1")
        running.commit(second, "main")
        use(running.address, monkeypatch)
        yield running


def use(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the hub's client ask this address, as HF_ENDPOINT does for a new process."""
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(hf_api.api, "endpoint", address)


def test_a_revision_is_read_and_the_name_has_the_hash_of_its_weights(hub: Hub) -> None:
    first, main = Encoder("owner/model@v1"), Encoder("owner/model")
    assert first.name.startswith("model@")
    assert first.name != main.name
    assert Encoder(f"owner/model@{hub.names['v1']}").name == first.name
    assert Encoder(str(hub.commits[hub.names["v1"]])).name.split("@")[1] == first.name.split("@")[1]


def test_a_changed_model_is_reported_by_the_index(hub: Hub, tmp_path: Path) -> None:
    encoder = Encoder("owner/model")
    passages = PassageSplitter().split(Document("harbour", TEXT))
    index = TokenIndex(encoder.dimension, encoder.name)
    index.add(passages, encoder.encode_passages(passages))
    index.save(tmp_path / "index")
    hub.names["main"] = hub.names["v1"]
    changed = Encoder("owner/model")
    with pytest.raises(RetrievalError, match=r"made by model@.*, the encoder is model@"):
        TokenIndex.load(tmp_path / "index", changed.name)


def test_what_was_fetched_is_used_while_the_hub_does_not_answer(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hub.commits
    fetched = model_folder("owner/model@v1")
    use("http://127.0.0.1:9", monkeypatch)
    assert model_folder("owner/model@v1") == fetched
    with pytest.raises(EncoderError, match="cannot be fetched from the hub"):
        model_folder("owner/model@v2")


def test_an_unknown_revision_is_one_line(hub: Hub) -> None:
    assert "v9" not in hub.names
    with pytest.raises(EncoderError, match="owner/model@v9 cannot be fetched") as caught:
        model_folder("owner/model@v9")
    assert "\n" not in str(caught.value)


def test_pickled_weights_stay_on_the_hub_where_there_are_safe_ones(hub: Hub) -> None:
    commit = hub.commits[hub.names["v1"]]
    (commit / "pytorch_model.bin").write_bytes(b"never read")
    (commit / "other").mkdir()
    (commit / "other" / "pytorch_model.bin").write_bytes(b"the only weights here")
    folder = model_folder("owner/model@v1")
    assert not (folder / "pytorch_model.bin").exists()
    assert (folder / "other" / "pytorch_model.bin").exists()
