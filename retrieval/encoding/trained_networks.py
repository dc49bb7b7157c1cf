"""Our networks over the base: for queries, and for passages; each kept as an eight-bit difference to the base.

Queries after passages stay the base's.  An index depends on what reads passages alone: it stays valid when the
queries' network is trained anew.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from propcite.retrieval.encoding.checkpoints import BUNDLED_SHA256, PASSAGES_NETWORK, PROJECTIONS, quiet, token_wise
from propcite.retrieval.encoding.salience import FILE, Salience
from propcite.retrieval.encoding.weight_deltas import add, difference, misfit
from propcite.retrieval.errors import EncoderError
from propcite.retrieval.saving import telling, written
from propcite.retrieval.text import Granularity

if TYPE_CHECKING:
    from sentence_transformers import MultiVectorEncoder
    from torch import Tensor

PASSAGES = "passages"  # what a file says that it reads, where it is not queries
SENTENCES_NETWORK, ASKING_NETWORK = "sentence_0_Transformer", "query_0_Transformer"  # beside that for passages

# Words of the base's vocabulary that no text holds, registered as special tokens: else they would be read in pieces.
MARKERS = {Granularity.SENTENCE: "[unused1]", Granularity.PROPOSITION: "[unused2]"}


def routed(path: Path, base: str, device: str, trained: Path | None = None) -> tuple[MultiVectorEncoder, Salience]:
    """The base for passages and for queries after them, the network of this file for queries after smaller units.

    `trained` is what training changed in the network that reads passages; queries after them stay with the base.
    """
    tensors = tensors_of(path)
    passages, asking = reading(base, trained)
    queries = _beside(asking or passages)
    apply_difference(queries.auto_model, tensors, path)
    return as_model(passages, queries, device, asking=asking), Salience.of(tensors)


def reading(base: str, trained: Path | None) -> tuple[Any, Any]:
    """What reads passages, and the base itself where that is another, for the queries after them."""
    passages = with_markers(base)
    if trained is None:
        return passages, None
    asking = _beside(passages)
    apply_difference(passages.auto_model, tensors_of(trained), trained)
    return passages, asking


def _beside(transformer: Any) -> Any:
    """Another network that begins alike; words' vectors are shared, for they are not trained."""
    other = copy.deepcopy(transformer)
    other.auto_model.set_input_embeddings(transformer.auto_model.get_input_embeddings())
    return other


def queries_of(folder: Path, base: Any) -> tuple[dict[str, Any], Salience]:
    """The weights that read queries for sentences, of a model that was trained over this base, and their salience."""
    import torch

    made = "give the folder model that propcite train encoder --base NAME made"
    if not (folder / SENTENCES_NETWORK).is_dir() or not (folder / FILE).is_file():
        raise EncoderError(f"{folder} has no network for sentences: {made}")
    if any(folder.glob(PROJECTIONS)):
        raise EncoderError(f"{folder} has a projection, under which passages are not trained: {made}")
    read = with_markers(str(folder / PASSAGES_NETWORK)).auto_model.state_dict()
    known = base.state_dict()
    if read.keys() != known.keys() or any(not torch.equal(t, known[name].cpu()) for name, t in read.items()):
        raise EncoderError(f"{folder} reads passages otherwise than this base: {made}")
    weights = with_markers(str(folder / SENTENCES_NETWORK)).auto_model.state_dict()
    return weights, Salience.read(folder / FILE)


def tensors_of(path: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    try:
        return load_file(str(path))
    except Exception as error:  # safetensors raises its own kinds
        raise _unreadable(path, error) from error


def with_markers(base: str) -> Any:
    """The base as a module whose tokenizer knows the markers."""
    import torch
    from sentence_transformers.base.modules import Transformer

    quiet()
    transformer: Any = Transformer(base)
    known = transformer.tokenizer.get_vocab()
    transformer.tokenizer.add_special_tokens({"additional_special_tokens": list(MARKERS.values())})
    if any(marker not in known for marker in MARKERS.values()):  # another vocabulary than BERT's: new words
        with torch.random.fork_rng():
            torch.manual_seed(0)  # their vectors are drawn: the same each time, for they are never trained
            transformer.auto_model.resize_token_embeddings(len(transformer.tokenizer))
    return transformer


def as_model(
    passages: Any, queries: Any, device: str = "", projection: Tensor | None = None, asking: Any = None
) -> MultiVectorEncoder:
    """One model of two networks, and a projection (d, h) after both; saved, it opens in sentence-transformers too.

    `asking` reads queries for passages, where these have a network that was trained; else theirs does.
    """
    from sentence_transformers.base.modules import Router

    own = {} if asking is None else {"query": [asking]}
    router = Router(
        {"document": [passages], **own, "sentence": [queries]},
        default_route="document",
        route_mappings={**({} if own else {("query", None): "document"}), ("proposition", None): "sentence"},
    )
    prompts = {"query": "", "document": "", **{f"query_{g}": marker for g, marker in MARKERS.items()}}
    modules = [router] if projection is None else [router, _dense(projection)]
    return token_wise(modules, device, prompts=prompts)


def _dense(projection: Tensor) -> Any:
    """The projection as a module of sentence-transformers."""
    from sentence_transformers.base.modules import Dense
    from torch import nn

    dimension, hidden = projection.shape
    return Dense(
        hidden, dimension, bias=False, activation_function=nn.Identity(),
        init_weight=projection.detach().cpu().clone(), module_input_name="token_embeddings",
    )  # fmt: skip


def apply_difference(network: Any, tensors: dict[str, Any], path: Path) -> None:
    """The network of the base becomes the trained one."""
    changes = {name: t for name, t in tensors.items() if not name.startswith("salience/")}
    if unknown := misfit(network, changes):
        raise EncoderError(f"the network {path} does not fit its base ({unknown}): reinstall PropCite")
    add(network, changes)


def write(
    path: Path, base: dict[str, Any], trained: dict[str, Any], salience: Salience | None, about: dict[str, Any]
) -> None:
    """The difference and the tokens' weights in one file, with what is known of how it was made; by rename."""
    from safetensors.torch import save_file

    weights = salience.tensors() if salience is not None else {}
    tensors = {name: t.contiguous() for name, t in {**difference(base, trained), **weights}.items()}
    with written(path) as new:
        save_file(tensors, str(new), metadata={"base": BUNDLED_SHA256, "about": json.dumps(about, sort_keys=True)})


def write_model(model: MultiVectorEncoder, salience: Salience, folder: Path) -> None:
    """A folder that sentence-transformers opens too, with what each token weighs."""
    with telling(folder):
        model.save(str(folder), create_model_card=False)
        salience.write(folder)


def about(path: Path) -> dict[str, Any]:
    """What a file says of itself."""
    from safetensors import safe_open

    try:
        with safe_open(str(path), "pt") as file:
            told: dict[str, Any] = json.loads((file.metadata() or {}).get("about", "{}"))
    except Exception as error:  # safetensors raises its own kinds
        raise _unreadable(path, error) from error
    return told


def _unreadable(path: Path, error: Exception) -> EncoderError:
    reason = str(error).splitlines()[0]
    return EncoderError(f"the network {path} cannot be read ({reason}): reinstall PropCite, or train it anew")
