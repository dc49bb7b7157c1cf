"""Load and save the cross-encoder's file: its head, and what training changed in the base."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from propcite.attribution.errors import AttributionError
from propcite.retrieval.encoding.bundled import BUNDLED_SHA256, bundled_model
from propcite.retrieval.encoding.weight_deltas import add, difference, first_misfit
from propcite.retrieval.saving import atomic_write

if TYPE_CHECKING:
    from propcite.attribution.judges.network import Network

JUDGE_WEIGHTS = Path(__file__).parents[1] / "models" / "judge.safetensors"
_BASE_PREFIX = "base."


@dataclass(frozen=True, slots=True)
class TrainedNetwork:
    """A network ready for inference, a name that identifies its weights, and the file's description of itself."""

    network: Network
    name: str
    about: dict[str, Any]


def load(path: Path = JUDGE_WEIGHTS, device: str = "") -> TrainedNetwork:
    """Load a file's network over the bundled base."""
    from safetensors import safe_open

    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        with safe_open(str(path), "pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
            about = json.loads((file.metadata() or {})["about"])
    except Exception as error:  # safetensors has its own exception types
        raise AttributionError(
            f"cannot read the judge's weights {path} ({_reason(error)}): reinstall PropCite, or train them again"
        ) from error
    return TrainedNetwork(_network(tensors, path, device), f"{path.stem}@{digest}", about)


def _network(tensors: dict[str, Any], path: Path, device: str) -> Network:
    import torch

    from propcite.attribution.judges.network import Network

    network = Network(bundled_model())
    if misfit := first_misfit(network, tensors):
        raise AttributionError(f"the judge's weights {path} do not fit their base ({misfit}): reinstall PropCite")
    add(network, tensors)
    return network.eval().requires_grad_(False).to(device or ("cuda" if torch.cuda.is_available() else "cpu"))


def save(path: Path, network: Network, about: dict[str, Any]) -> None:
    """Write the head and the changes to the base to one file, which replaces an existing one as a whole."""
    from safetensors.torch import save_file

    from propcite.attribution.judges.network import Network as Fresh

    start, trained = Fresh(bundled_model()).state_dict(), network.state_dict()
    base = {name: t for name, t in trained.items() if name.startswith(_BASE_PREFIX)}
    head = {name: t.detach().float().cpu() for name, t in trained.items() if not name.startswith(_BASE_PREFIX)}
    tensors = {name: t.contiguous() for name, t in {**difference(start, base), **head}.items()}
    metadata = {"base": BUNDLED_SHA256, "about": json.dumps(about, sort_keys=True)}
    with atomic_write(path, AttributionError) as new:
        save_file(tensors, str(new), metadata=metadata)


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"it lacks {error}"
    return getattr(error, "strerror", None) or str(error).splitlines()[0]
