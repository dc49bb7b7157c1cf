"""LoRA: each linear layer learns a change of low rank; all other weights are frozen."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

_INFIX = ".parametrizations.weight."  # in torch's names of the tensors behind a parametrized weight


class LowRank(nn.Module):
    """Adds the product of two thin matrices to a weight; the product is zero at first."""

    def __init__(self, weight: Tensor, rank: int) -> None:
        super().__init__()
        rows, columns = weight.shape
        start = torch.randn(rank, columns) / rank**0.5  # drawn on the processor: the same numbers on every device
        self.down = nn.Parameter(start.to(weight.device))
        self.up = nn.Parameter(torch.zeros(rows, rank, device=weight.device))

    def forward(self, weight: Tensor) -> Tensor:
        return weight + self.up @ self.down


def add_low_rank_changes(network: nn.Module, rank: int) -> None:
    """Freeze the network and add trainable low-rank changes to its linear layers."""
    for parameter in network.parameters():
        parameter.requires_grad_(False)
    for module in [m for m in network.modules() if isinstance(m, nn.Linear)]:
        parametrize.register_parametrization(module, "weight", LowRank(module.weight, rank))


def merged_weights(network: nn.Module) -> dict[str, Tensor]:
    """Return the network's weights under their usual names, with low-rank changes added in."""
    weights: dict[str, Tensor] = {}
    for name, value in network.state_dict().items():
        module, infix, rest = name.partition(_INFIX)
        if not infix:
            weights[name] = value.detach().cpu()
        elif rest == "original":
            layer: Any = network.get_submodule(module)
            weights[f"{module}.weight"] = layer.weight.detach().cpu()
    return weights
