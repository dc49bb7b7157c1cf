"""Save and load the splitter's network: what was trained over the judge's lower layers, in one file of float16."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import reader_files
from propcite.attribution.propositions.network import LAYERS, RANK, Network
from propcite.retrieval.encoding.loading import hide_progress_bars

if TYPE_CHECKING:
    from torch import Tensor

    from propcite.attribution.propositions.grouped.writer import ClaimWriter

_SEEN = "seen"  # name of the fingerprints in a file
_REMEDY = "install PropCite again, or name a file that propcite train splitter wrote"


def new_network(layers: int = LAYERS, rank: int = RANK, device: str = "") -> Network:
    """Return a network to train over the lowest layers of the shipped reader, in float32."""
    encoder = reader_files.load_lower_layers(layers, device, "float32")
    return Network(encoder, _tokenizer(), rank=rank).to(encoder.device)


def save(path: Path, network: Network, seen: Collection[int], base: Mapping[str, Any]) -> None:
    """Write the trained weights, and the fingerprints of the sentences that they were trained on.

    `base` describes the reader whose layers lie below.
    """
    write_tensors(path, _kept(network), seen, base, len(network.encoder.encoder.layer))


def _kept(network: Network) -> dict[str, Tensor]:
    """Return the trained weights of a network, without the heads that it does not use."""
    unused = tuple(name for name, is_used in (("grammar.", network.parses), ("writer.", network.writes)) if not is_used)
    return {name: p for name, p in network.trained_parameters().items() if not name.startswith(unused)}


def write_tensors(
    path: Path, tensors: Mapping[str, Tensor], seen: Collection[int], base: Mapping[str, Any], layers: int
) -> None:
    """Write a network's tensors as float16."""
    stored = {name: p.detach().cpu().half().contiguous() for name, p in tensors.items()}
    stored[_SEEN] = torch.tensor(sorted(seen), dtype=torch.int32)
    save_file(stored, str(path), {"base": reader_files.weights_of(base), "layers": str(layers)})


def with_writer(start: Path, writer: ClaimWriter, seen: Collection[int], new: Path) -> None:
    """Write the weights of a splitter with another network that words its claims, trained on these sentences, too."""
    tensors, about = _stored(start)
    tensors[_SEEN] = torch.tensor(sorted({*tensors[_SEEN].tolist(), *seen}), dtype=torch.int32)
    tensors = {name: tensor for name, tensor in tensors.items() if not name.startswith("writer.")}
    tensors |= {f"writer.{name}": p.detach().cpu().half().contiguous() for name, p in writer.state_dict().items()}
    save_file(tensors, str(new), about)


def start_from(network: Network, path: Path) -> None:
    """Take the trained weights of a file of the same sizes, to train them further."""
    tensors, _ = _stored(path)
    tensors.pop(_SEEN, None)
    try:
        unexpected = network.load_state_dict({n: t.float() for n, t in tensors.items()}, strict=False).unexpected_keys
    except RuntimeError as error:
        raise AttributionError(f"the splitter {path} has other sizes: train a new one") from error
    if unexpected:
        raise AttributionError(f"{path} is no splitter ({unexpected[0]}): give a file of propcite train splitter")


def load(path: Path, device: str = "", precision: str = "auto") -> Network:
    """Load a trained network in the precision that the reader computes in, with its changes merged into its layers."""
    tensors, about = _stored(path)
    seen = tensors.pop(_SEEN, torch.zeros(0, dtype=torch.int32))
    if about.get("base") != reader_files.weights_of(reader_files.describe(reader_files.READER)):
        raise AttributionError(f"the splitter {path} was not trained over this judge: {_REMEDY}")
    encoder = reader_files.load_lower_layers(int(about["layers"]), device, precision)
    try:
        widths = {"pair_width": len(tensors["compare"]) - 1, "parse_width": len(tensors.get("grammar.head", "..")) - 1}
        rank = next(len(tensor) for name, tensor in tensors.items() if name.endswith(".down"))
    except (KeyError, StopIteration) as error:
        raise AttributionError(f"{path} is no splitter ({error}): {_REMEDY}") from error
    network = Network(encoder, _tokenizer(), rank=rank, **widths)
    network.seen = frozenset(seen.tolist())
    network.parses = any(name.startswith("grammar.") for name in tensors)
    network.writes = any(name.startswith("writer.") for name in tensors)
    if misfits := _kept(network).keys() ^ tensors.keys():
        raise AttributionError(f"the splitter {path} does not fit its base ({sorted(misfits)[0]}): train it again")
    network.load_state_dict({name: t.float() for name, t in tensors.items()}, strict=False)
    network.merge()
    return network.to(encoder.device).eval().requires_grad_(False)


def _tokenizer() -> Any:
    from transformers import AutoTokenizer

    hide_progress_bars()
    return AutoTokenizer.from_pretrained(reader_files.READER)


def _stored(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    try:
        with safe_open(str(path), "pt") as opened:
            return {name: opened.get_tensor(name) for name in opened.keys()}, opened.metadata() or {}  # noqa: SIM118
    except Exception as error:  # safetensors has its own exception types
        raise AttributionError(f"cannot read the splitter {path} ({error}): reinstall PropCite") from error
