"""Save and load the question reader: what training changed in the reader of claims, and its heads, in one file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import reader_changes, reader_files
from propcite.retrieval.encoding.bundled import file_sha256
from propcite.retrieval.saving import atomic_write

if TYPE_CHECKING:
    from torch import Tensor

    from propcite.attribution.questions.network import QuestionNetwork
    from propcite.attribution.reading.pairs import PairTokenizer

QUESTIONS = Path(__file__).parents[1] / "models" / "questions.safetensors"
REMEDY = "install PropCite again, or name a file that propcite train questions wrote"
LAYERS = "layers."  # in front of the weights of the layers that training changes
UPPER = "base.encoder.layer."  # their name in the reader, with their number there


@dataclass(frozen=True, slots=True)
class LoadedReader:
    """A network ready for inference, its tokenizer with a lock, a name that identifies its results, a description."""

    network: QuestionNetwork
    tokenizer: PairTokenizer
    lock: Lock
    name: str
    about: dict[str, Any]


def load(
    file: Path = QUESTIONS, device: str = "", precision: str = "auto", *, base: Path | None = None
) -> LoadedReader:
    """Load a question reader in the precision that is fastest on this machine; the last one is loaded once.

    It was trained over a reader of claims: the shipped one, unless `base` is the folder of another.
    """
    try:
        return _load(file, file_sha256(file), base or reader_files.READER, device, precision)
    except AttributionError:
        raise
    except Exception as error:  # each file format has its own kinds
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise AttributionError(f"{file} is damaged or missing ({reason}): {REMEDY}") from error


@lru_cache(maxsize=1)
def _load(file: Path, digest: str, folder: Path, device: str, precision: str) -> LoadedReader:
    base = reader_files.load(folder, device, precision)
    tensors, about = _stored(file, base.about)
    own = {name for name in tensors if name.startswith(LAYERS)}
    network = over(base, {name.removeprefix(LAYERS): tensors.pop(name) for name in own})
    like = base.network.piece.weight
    missing, unknown = network.load_state_dict(tensors, strict=False)
    if unknown or any(not name.startswith("reader.") for name in missing):
        raise ValueError(f"it does not fit: {[*unknown, *missing][0]}")
    network = network.to(like.device, like.dtype).eval().requires_grad_(False)
    name = f"{file.stem}@{digest[:12]}"
    return LoadedReader(network, base.tokenizer, base.lock, name, about)


def _stored(file: Path, base: Mapping[str, Any]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors of a file and its description; ValueError if it was trained over another reader."""
    from safetensors import safe_open

    with safe_open(str(file), "pt") as opened:
        metadata = opened.metadata() or {}
        tensors = {name: opened.get_tensor(name).float() for name in opened.keys()}  # noqa: SIM118 - no mapping
    if metadata.get("base") != reader_files.weights_of(base):
        raise ValueError("it was trained over another reader")
    return tensors, json.loads(metadata.get("about", "{}"))


def over(reader: reader_files.LoadedReader, changes: Mapping[str, Tensor]) -> QuestionNetwork:
    """Return a network for questions over a reader, with these changes of its upper layers in place of the reader's."""
    from propcite.attribution.questions.network import QuestionNetwork

    network = QuestionNetwork(reader.network)
    first = len(reader.network.base.encoder.layer) - len(network.upper_layers)
    undone: dict[str, Tensor] = {}
    for name, tensor in reader.changes.items():
        if name.startswith(UPPER):
            number, _, rest = name.removeprefix(UPPER).partition(".")
            undone[f"{int(number) - first}.{rest}"] = -tensor if name.endswith(reader_changes.UP) else tensor
    reader_changes.change(network.upper_layers, reader_changes.joined(undone, changes))
    return network


def save(file: Path, tensors: Mapping[str, Tensor], base: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Write what was learned over the reader that `base` describes to one file; it replaces an existing one."""
    from safetensors.torch import save_file

    stored = {name: tensor.detach().cpu().half().contiguous() for name, tensor in tensors.items()}
    metadata = {"base": reader_files.weights_of(base), "about": json.dumps(about, sort_keys=True)}
    with atomic_write(file, AttributionError) as new:
        save_file(stored, str(new), metadata=metadata)


def describe(file: Path, more: Mapping[str, Any]) -> None:
    """Add to the description of a question reader, such as its calibration."""
    from safetensors import safe_open
    from safetensors.torch import save_file

    with safe_open(str(file), "pt") as opened:
        metadata = opened.metadata()
        tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 - no mapping
    metadata["about"] = json.dumps({**json.loads(metadata["about"]), **more}, sort_keys=True)
    with atomic_write(file, AttributionError) as new:
        save_file(tensors, str(new), metadata=metadata)


def restore(network: QuestionNetwork, file: Path, base: Mapping[str, Any]) -> None:
    """Copy what a file holds into a network that is trained over the same reader, with changes of the same rank."""
    import torch

    try:
        stored, _ = _stored(file, base)
        with torch.no_grad():
            for name, tensor in learned(network):
                tensor.copy_(stored[name])
    except Exception as error:  # each file format has its own kinds
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise AttributionError(
            f"cannot begin with {file} ({reason}): name a question reader over the same judge, with the same --rank"
        ) from error


def learned(network: QuestionNetwork) -> Iterator[tuple[str, Tensor]]:
    """Yield what training changes: the low-rank changes of the upper layers, and the heads."""
    for name, tensor in network.upper_layers.state_dict().items():
        module, infix, rest = name.partition(".parametrizations.weight.0.")
        if infix:
            yield f"{LAYERS}{module}.weight/{rest}", tensor
    for name, tensor in network.state_dict().items():
        if name.startswith(("ends.", "piece.", "scale", "reader.piece.", "reader.first.")):
            yield name, tensor
