"""LoRA: each linear layer learns a change of low rank, and nothing else of the network learns."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

_INSIDE = ".parametrizations.weight."  # how torch names what a changed weight is made of


class LowRank(nn.Module):
    """A weight with the product of two thin matrices added; at first the product is nought."""

    def __init__(self, weight: Tensor, rank: int) -> None:
        super().__init__()
        rows, columns = weight.shape
        self.down = nn.Parameter(torch.randn(rank, columns) / rank**0.5)
        self.up = nn.Parameter(torch.zeros(rows, rank))

    def forward(self, weight: Tensor) -> Tensor:
        return weight + self.up @ self.down


def adapt(network: nn.Module, rank: int) -> None:
    """From here on only low-rank changes of the network's linear layers are trained."""
    for parameter in network.parameters():
        parameter.requires_grad_(False)
    for module in [m for m in network.modules() if isinstance(m, nn.Linear)]:
        parametrize.register_parametrization(module, "weight", LowRank(module.weight, rank))


def plain(network: nn.Module) -> dict[str, Tensor]:
    """The network's weights under their own names, with what was learned added in."""
    told: dict[str, Tensor] = {}
    for name, value in network.state_dict().items():
        module, inside, rest = name.partition(_INSIDE)
        if not inside:
            told[name] = value.detach().cpu()
        elif rest == "original":
            changed: Any = network.get_submodule(module)
            told[f"{module}.weight"] = changed.weight.detach().cpu()
    return told
