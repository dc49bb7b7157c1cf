"""Save and load a reader: a folder with its network in eight bits per weight, its tokenizer and its calibration.

A training may leave the network as it is and learn changes of low rank: they are a file of their own beside it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from propcite.attribution.errors import AttributionError
from propcite.attribution.judges.quantizing import in_eight_bits, unpacked
from propcite.attribution.judges.reader_changes import change, cut, joined, packed, restored
from propcite.retrieval.encoding.bundled import file_sha256
from propcite.retrieval.encoding.loading import hide_progress_bars
from propcite.retrieval.encoding.precision import dtype_of
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.saving import atomic_write

if TYPE_CHECKING:
    from torch import Tensor

    from propcite.attribution.judges.reader_network import ReaderNetwork
    from propcite.attribution.reading.pairs import PairTokenizer

READER = Path(__file__).parents[1] / "models" / "reader"
ABOUT = "reader.json"
CHANGES = "changes.safetensors"
REMEDY = "install PropCite again, or name a folder that propcite train judge wrote"
RETRAIN = "install PropCite again, or train it over the shipped judge"
MAX_FILE_BYTES = 45_000_000
BASE = "base."  # in front of the names of the base's weights
DENIAL = "denial."  # of the weights that readers lack which were trained before there were any


@dataclass(frozen=True, slots=True)
class LoadedReader:
    """A network ready for inference, its tokenizer, a name that identifies its verdicts, and its description."""

    network: ReaderNetwork
    tokenizer: PairTokenizer
    name: str
    about: dict[str, Any]
    changes: dict[str, Tensor]  # those in its network
    lock: Lock = field(default_factory=Lock)  # for the tokenizer, which two threads cannot share


def load(folder: Path = READER, device: str = "", precision: str = "auto") -> LoadedReader:
    """Load a reader in the precision that is fastest on this machine; the last two are loaded once per process."""
    try:
        described = (folder / ABOUT).read_text("utf-8")
    except OSError as error:
        raise AttributionError(f"{folder} is damaged or missing ({error.strerror}): {REMEDY}") from error
    return _load(folder, described, device, precision)


@lru_cache(maxsize=2)  # the shipped one, which reads questions too, and another that judges
def _load(folder: Path, described: str, device: str, precision: str) -> LoadedReader:
    """Load the reader that `described`, the content of its description, belongs to."""
    import torch
    import transformers

    from propcite.attribution.reading.pairs import PairTokenizer

    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        about = json.loads(described)
        stored = {name: tensor for file in about["files"] for name, tensor in _tensors(folder / file)}
        network = _network(transformers.AutoConfig.from_pretrained(folder), dict(unpacked(stored)))
        changes = _changes(folder, about)
        change(network, changes)
        tokenizer = PairTokenizer(transformers.AutoTokenizer.from_pretrained(folder))
    except Exception as error:  # each file format has its own kinds
        raise _damaged(folder, error) from error
    network = network.to(device, dtype_of(precision, torch.device(device).type)).eval().requires_grad_(False)
    return LoadedReader(network, tokenizer, f"{folder.name}@{_digest(about)}", about, changes)


def _damaged(folder: Path, error: Exception) -> AttributionError:
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return AttributionError(f"{folder} is damaged or missing ({reason}): {REMEDY}")


def _changes(folder: Path, about: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return the changes that a reader's description names; there may be none."""
    return restored(dict(_tensors(folder / CHANGES))) if "changes" in about else {}


def load_lower_layers(number: int, device: str = "", precision: str = "auto") -> Any:
    """Return the base of the shipped reader with its lowest layers alone, as they are without its changes."""
    import torch
    import transformers

    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        config = transformers.AutoConfig.from_pretrained(READER, num_hidden_layers=number)
        files = (READER / file for file in describe(READER)["files"])
        stored = {name: t for file in files for name, t in _tensors(file, lambda name: _is_below(name, number))}
        base = _base(config, dict(unpacked(stored)))
        base.pooler = None
    except Exception as error:  # each file format has its own kinds
        raise _damaged(READER, error) from error
    return base.to(device, dtype_of(precision, torch.device(device).type)).eval().requires_grad_(False)


def _is_below(name: str, number: int) -> bool:
    """Return whether a stored tensor belongs to the base's embeddings or its lowest layers."""
    layer = name.removeprefix(f"{BASE}encoder.layer.")
    return name.startswith(BASE) and (layer == name or int(layer.partition(".")[0]) < number)


def _base(config: Any, state: Mapping[str, Tensor]) -> Any:
    """Build the base of a network from its weights, without drawing random ones first."""
    import transformers

    hide_progress_bars()
    untyped: Any = transformers
    untyped.utils.logging.set_verbosity_error()  # the base's pooler is not stored, and not used
    base_state = {name.removeprefix(BASE): tensor for name, tensor in state.items() if name.startswith(BASE)}
    return untyped.MODEL_MAPPING[type(config)].from_pretrained(
        None, config=config, state_dict=base_state, attn_implementation="eager"
    )


def _network(config: Any, state: Mapping[str, Tensor]) -> ReaderNetwork:
    """Build a network from its weights."""
    from propcite.attribution.judges.reader_network import ReaderNetwork

    network = ReaderNetwork(_base(config, state))
    network.load_state_dict({**network.state_dict(), **state}, strict=True)
    if missing := sorted(name for name in network.state_dict().keys() - state.keys() if not name.startswith(DENIAL)):
        raise ValueError(f"it lacks {missing[0]}")
    return network


def update(folder: Path, more: Mapping[str, Any]) -> None:
    """Add to a reader's description, such as its calibration."""
    try:
        about = {**describe(folder), **more}
    except (OSError, ValueError) as error:
        raise AttributionError(f"{folder} holds no reader ({error}): train one with propcite train judge") from error
    _write_about(folder, about)


def check(folder: Path = READER) -> None:
    """Raise AttributionError unless the folder holds the weights that it was saved with."""
    try:
        about = describe(folder)
        files = about["files"] | ({CHANGES: about["changes"]} if "changes" in about else {})
        damaged = [f for f, sha in files.items() if file_sha256(folder / f) != sha]
    except (OSError, ValueError, KeyError, PropCiteError) as error:
        raise AttributionError(f"{folder} is damaged or missing ({error}): {REMEDY}") from error
    if damaged:
        raise AttributionError(f"{folder / damaged[0]} is damaged or missing: {REMEDY}")


def _write_about(folder: Path, about: Mapping[str, Any]) -> None:
    with atomic_write(folder / ABOUT, AttributionError) as new:
        new.write_text(json.dumps(about, indent=1, sort_keys=True) + "\n", "utf-8")


def describe(folder: Path) -> dict[str, Any]:
    """Return a reader's description."""
    about: dict[str, Any] = json.loads((folder / ABOUT).read_text("utf-8"))
    return about


def save(folder: Path, network: ReaderNetwork, tokenizer: Any, about: Mapping[str, Any]) -> None:
    """Write a reader to a folder; its files replace existing ones."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    network.base.config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    parts = list(_parts(dict(in_eight_bits(network.state_dict()))))
    files = {}
    for number, tensors in enumerate(parts, 1):
        file = folder / f"weights-{number}-of-{len(parts)}.safetensors"
        with atomic_write(file, AttributionError) as new:
            save_file(tensors, str(new))
        files[file.name] = file_sha256(file)
    _write_about(folder, {**about, "files": files})
    for old in folder.glob("*.safetensors"):  # changes of an earlier reader too
        if old.name not in files:
            old.unlink()


def save_changes(
    folder: Path, base: Path, changes: Mapping[str, Tensor], about: Mapping[str, Any], rank: int = 0
) -> None:
    """Write a reader that differs from the reader in the folder `base` by changes, added to those that it has.

    With a `rank` the products of thin matrices are cut to it, so that a reader trained again does not grow.
    """
    from safetensors.torch import save_file

    of_base = describe(base)
    given = {name: tensor.detach().float().cpu() for name, tensor in changes.items()}
    together = joined(_changes(base, of_base), given)
    stored = dict(packed(cut(together, rank) if rank else together))
    folder.mkdir(parents=True, exist_ok=True)
    if folder.resolve() != base.resolve():
        for file in base.iterdir():
            if file.name not in (CHANGES, ABOUT):
                shutil.copyfile(file, folder / file.name)
    with atomic_write(folder / CHANGES, AttributionError) as new:
        save_file(stored, str(new))
    _write_about(folder, {**about, "files": of_base["files"], "changes": file_sha256(folder / CHANGES)})


def _parts(tensors: Mapping[str, Tensor]) -> Iterator[dict[str, Tensor]]:
    """Divide tensors among files that are small enough for any host of code."""
    part: dict[str, Tensor] = {}
    size = 0
    for name, tensor in tensors.items():
        if part and size + tensor.nbytes > MAX_FILE_BYTES:
            yield part
            part, size = {}, 0
        part[name] = tensor
        size += tensor.nbytes
    yield part


def _tensors(file: Path, wanted: Callable[[str], bool] = lambda _: True) -> Iterator[tuple[str, Tensor]]:
    from safetensors import safe_open

    with safe_open(str(file), "pt") as opened:
        for name in filter(wanted, opened.keys()):
            yield name, opened.get_tensor(name)


def check_over(file: Path) -> None:
    """Raise AttributionError unless the file was trained over the weights of the shipped reader."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(file), "np") as opened:
            fits = (opened.metadata() or {}).get("base") == weights_of(describe(READER))
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise AttributionError(f"{file} is damaged or missing ({error}): {RETRAIN}") from error
    if not fits:
        raise AttributionError(f"{file} was trained over another reader: {RETRAIN}")


def weights_of(about: Mapping[str, Any]) -> str:
    """Return a hash of a reader's weights, given its description."""
    return hashlib.sha256(json.dumps(about["files"], sort_keys=True).encode()).hexdigest()


def _digest(about: Mapping[str, Any]) -> str:
    """Return a short hash of what decides verdicts: the weights, by the hashes of their files, and the calibration."""
    decisive = json.dumps([about["files"], about.get("changes"), about.get("calibration")], sort_keys=True)
    return hashlib.sha256(decisive.encode()).hexdigest()[:12]
