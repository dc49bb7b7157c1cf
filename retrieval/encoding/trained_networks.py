"""Our trained networks over the base, one for queries and one for passages, stored as eight-bit differences to it.

Queries for passages stay the base's.  An index depends only on the network that reads passages, so it stays valid when
the one for queries is trained again.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from propcite.retrieval.encoding.bundled import BUNDLED_SHA256
from propcite.retrieval.encoding.layouts import PASSAGES_NETWORK, PROJECTIONS, SENTENCES_NETWORK, token_wise
from propcite.retrieval.encoding.loading import hide_progress_bars, model_folder
from propcite.retrieval.encoding.salience import SALIENCE_FILE, Salience
from propcite.retrieval.encoding.weight_deltas import add, difference, first_misfit
from propcite.retrieval.errors import EncoderError
from propcite.retrieval.saving import atomic_write, write_errors
from propcite.retrieval.text import Granularity

if TYPE_CHECKING:
    from sentence_transformers import MultiVectorEncoder
    from torch import Tensor

READS_PASSAGES = "passages"  # the value of "reads" in a file's metadata; a queries' network has none

# Unused words of the base's vocabulary.  As special tokens they stay whole; otherwise they would be split into pieces.
MARKERS = {Granularity.SENTENCE: "[unused1]", Granularity.PROPOSITION: "[unused2]"}


def load_routed_model(
    path: Path, base: str, device: str, trained: Path | None = None
) -> tuple[MultiVectorEncoder, Salience]:
    """Load a model in which the network of this file reads queries for sentences and propositions.

    The base reads queries for passages, and passages too unless `trained` is the file of a network for them.
    """
    tensors = load_tensors(path)
    passages, passage_queries = passage_networks(base, trained)
    unit_queries = _copy_beside(passage_queries or passages)
    apply_difference(unit_queries.auto_model, tensors, path)
    model = build_routed_model(passages, unit_queries, device, passage_queries=passage_queries)
    return model, Salience.from_tensors(tensors)


def passage_networks(base: str, trained: Path | None) -> tuple[Any, Any]:
    """Return the network for passages and the one for queries for them; the second is None if both are the base."""
    passages = load_with_markers(base)
    if trained is None:
        return passages, None
    passage_queries = _copy_beside(passages)
    apply_difference(passages.auto_model, load_tensors(trained), trained)
    return passages, passage_queries


def _copy_beside(transformer: Any) -> Any:
    """Copy a network; the tokenizer and the word embeddings are shared, because training leaves them alone."""
    shared = (transformer.processor, transformer.auto_model.get_input_embeddings())
    return copy.deepcopy(transformer, {id(part): part for part in shared})


def sentence_query_weights(folder: Path, base: Any) -> tuple[dict[str, Any], Salience]:
    """Return the weights that read queries for sentences, and their salience, of a model trained over this base."""
    import torch

    advice = "give the folder model that propcite train encoder --base NAME made"
    if not (folder / SENTENCES_NETWORK).is_dir() or not (folder / SALIENCE_FILE).is_file():
        raise EncoderError(f"{folder} has no network for sentences: {advice}")
    if any(folder.glob(PROJECTIONS)):
        raise EncoderError(f"{folder} has a projection, under which passages cannot be trained: {advice}")
    weights = load_with_markers(str(folder / PASSAGES_NETWORK)).auto_model.state_dict()
    expected = base.state_dict()
    if weights.keys() != expected.keys() or any(
        not torch.equal(t, expected[name].cpu()) for name, t in weights.items()
    ):
        raise EncoderError(f"{folder} reads passages with another network than this base: {advice}")
    queries = load_with_markers(str(folder / SENTENCES_NETWORK)).auto_model.state_dict()
    return queries, Salience.read(folder / SALIENCE_FILE)


def load_tensors(path: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    try:
        return load_file(str(path))
    except Exception as error:  # safetensors raises its own kinds
        raise _unreadable(path, error) from error


def load_with_markers(base: str) -> Any:
    """Load the base as a module whose tokenizer knows the markers."""
    import torch
    from sentence_transformers.base.modules import Transformer

    hide_progress_bars()
    transformer: Any = Transformer(str(model_folder(base)))
    vocabulary = transformer.tokenizer.get_vocab()
    transformer.tokenizer.add_special_tokens({"additional_special_tokens": list(MARKERS.values())})
    if any(marker not in vocabulary for marker in MARKERS.values()):  # not BERT's vocabulary: the markers are new words
        with torch.random.fork_rng():
            torch.manual_seed(0)  # training leaves the new words' random vectors alone: they must always be the same
            transformer.auto_model.resize_token_embeddings(len(transformer.tokenizer))
    return transformer


def build_routed_model(
    passages: Any, unit_queries: Any, device: str = "", projection: Tensor | None = None, passage_queries: Any = None
) -> MultiVectorEncoder:
    """Build one model of several networks, with a projection (d, h) after each; sentence-transformers can open it.

    `unit_queries` reads queries for sentences and propositions.  `passage_queries` reads queries for passages; without
    it `passages` does.
    """
    from sentence_transformers.base.modules import Router

    own = {} if passage_queries is None else {"query": [passage_queries]}
    router = Router(
        {"document": [passages], **own, "sentence": [unit_queries]},
        default_route="document",
        route_mappings={**({} if own else {("query", None): "document"}), ("proposition", None): "sentence"},
    )
    prompts = {"query": "", "document": "", **{f"query_{g}": marker for g, marker in MARKERS.items()}}
    modules = [router] if projection is None else [router, _dense(projection)]
    return token_wise(modules, device, prompts=prompts)


def _dense(projection: Tensor) -> Any:
    """Wrap the projection as a module of sentence-transformers."""
    from sentence_transformers.base.modules import Dense
    from torch import nn

    dimension, hidden = projection.shape
    return Dense(
        hidden, dimension, bias=False, activation_function=nn.Identity(),
        init_weight=projection.detach().cpu().clone(), module_input_name="token_embeddings",
    )  # fmt: skip


def apply_difference(network: Any, tensors: dict[str, Any], path: Path) -> None:
    """Turn the base's network into the trained one, in place."""
    changes = {name: t for name, t in tensors.items() if not name.startswith("salience/")}
    if unknown := first_misfit(network, changes):
        raise EncoderError(f"the network {path} does not fit its base ({unknown}): reinstall PropCite")
    add(network, changes)


def write_network(
    path: Path, base: dict[str, Any], trained: dict[str, Any], salience: Salience | None, about: dict[str, Any]
) -> None:
    """Write the difference, the salience and a description of the training to one file, atomically."""
    from safetensors.torch import save_file

    weights = salience.tensors() if salience is not None else {}
    tensors = {name: t.contiguous() for name, t in {**difference(base, trained), **weights}.items()}
    with atomic_write(path) as new:
        save_file(tensors, str(new), metadata={"base": BUNDLED_SHA256, "about": json.dumps(about, sort_keys=True)})


def write_model(model: MultiVectorEncoder, salience: Salience, folder: Path) -> None:
    """Write a folder that sentence-transformers can open too, with the salience beside its files."""
    with write_errors(folder):
        model.save(str(folder), create_model_card=False)
        salience.write(folder)


def network_info(path: Path) -> dict[str, Any]:
    """Return the description of the training that is stored in a network's file."""
    from safetensors import safe_open

    try:
        with safe_open(str(path), "pt") as file:
            info: dict[str, Any] = json.loads((file.metadata() or {}).get("about", "{}"))
    except Exception as error:  # safetensors raises its own kinds
        raise _unreadable(path, error) from error
    return info


def _unreadable(path: Path, error: Exception) -> EncoderError:
    reason = str(error).splitlines()[0]
    return EncoderError(f"the network {path} cannot be read ({reason}): reinstall PropCite, or train it again")
