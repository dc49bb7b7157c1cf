"""The cross-encoder's file: what training changed in the base, and its head."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from propcite.attribution.errors import AttributionError
from propcite.retrieval.encoding.checkpoints import BUNDLED_SHA256, bundled_model
from propcite.retrieval.encoding.weight_deltas import add, difference, misfit
from propcite.retrieval.saving import written

if TYPE_CHECKING:
    from propcite.attribution.judges.network import Network

JUDGE = Path(__file__).parents[1] / "models" / "judge.safetensors"
BODY = "base."


@dataclass(frozen=True, slots=True)
class Trained:
    """A network ready to read, a name that changes with it, and what the file says of itself."""

    network: Network
    name: str
    about: dict[str, Any]


def load(path: Path = JUDGE, device: str = "") -> Trained:
    """The network of a file over the bundled base."""
    from safetensors import safe_open

    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        with safe_open(str(path), "pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
            told = json.loads((file.metadata() or {})["about"])
    except Exception as error:  # safetensors raises its own kinds
        raise AttributionError(f"the judge's weights {path} cannot be read ({_line(error)}): reinstall PropCite, "
                               "or train them anew") from error  # fmt: skip
    return Trained(_network(tensors, path, device), f"{path.stem}@{digest}", told)


def _network(tensors: dict[str, Any], path: Path, device: str) -> Network:
    import torch

    from propcite.attribution.judges.network import Network

    network = Network(bundled_model())
    if unknown := misfit(network, tensors):
        raise AttributionError(f"the judge's weights {path} do not fit their base ({unknown}): reinstall PropCite")
    add(network, tensors)
    return network.eval().requires_grad_(False).to(device or ("cuda" if torch.cuda.is_available() else "cpu"))


def save(path: Path, network: Network, about: dict[str, Any]) -> None:
    """What training changed and the head in one file, by rename."""
    from safetensors.torch import save_file

    from propcite.attribution.judges.network import Network as Fresh

    start, trained = Fresh(bundled_model()).state_dict(), network.state_dict()
    body = {name: t for name, t in trained.items() if name.startswith(BODY)}
    head = {name: t.detach().float().cpu() for name, t in trained.items() if not name.startswith(BODY)}
    tensors = {name: t.contiguous() for name, t in {**difference(start, body), **head}.items()}
    told = json.dumps(about, sort_keys=True)
    with written(path, AttributionError) as new:
        save_file(tensors, str(new), metadata={"base": BUNDLED_SHA256, "about": told})


def _line(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"it lacks {error}"
    return getattr(error, "strerror", None) or str(error).splitlines()[0]
