"""Store the changes that training made to a network with eight bits per weight: a few megabytes, not the whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

STEPS = 127  # of an eight-bit number on each side of 0
SCALE = "/scale"


def difference(base: dict[str, Any], trained: dict[str, Any]) -> dict[str, Any]:
    """Return the changed weights: matrices as eight-bit steps with a scale per row, everything else as it is.

    >>> import torch
    >>> changes = difference({"w": torch.zeros(1, 2)}, {"w": torch.tensor([[1.0, -0.5]])})
    >>> changes["w"].tolist(), changes["w/scale"].tolist()
    ([[127, -64]], [0.007874015718698502])
    """
    import torch

    tensors = {}
    for name, new in trained.items():
        change = new.detach().float().cpu() - base[name].float().cpu()
        if not change.any():
            continue
        if change.ndim < 2:
            tensors[name] = change
            continue
        scale = (change.abs().amax(dim=1) / STEPS).clamp_min(torch.finfo(torch.float32).tiny)
        tensors[name] = (change / scale[:, None]).round().to(torch.int8)
        tensors[f"{name}{SCALE}"] = scale
    return tensors


def first_misfit(network: Any, tensors: Mapping[str, Any]) -> str:
    """Return the name of a change whose name or shape the network does not have; empty if all fit."""
    state = network.state_dict()
    changes = {name: t for name, t in tensors.items() if not name.endswith(SCALE)}
    misfits = sorted(name for name, t in changes.items() if name not in state or state[name].shape != t.shape)
    return misfits[0] if misfits else ""


def add(network: Any, tensors: Mapping[str, Any]) -> None:
    """Add the changes to the base's network, in place."""
    import torch

    state = network.state_dict()
    with torch.no_grad():
        for name, change in tensors.items():
            if name.endswith(SCALE):
                continue
            scale = tensors.get(f"{name}{SCALE}")
            state[name] += change.float() if scale is None else change.float() * scale[:, None]
