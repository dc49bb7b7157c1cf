"""Changes of a reader's weights: products of two thin matrices, and tensors that replace what has their name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from propcite.attribution.judges.quantizing import HALVES, SCALE, fits_groups, four_bits, unpacked

if TYPE_CHECKING:
    from torch import Tensor, nn

UP, DOWN = "/up", "/down"  # in names of the two thin matrices whose product is added to a weight


def change(network: nn.Module, changes: Mapping[str, Tensor]) -> None:
    """Add the products of thin matrices to a network's weights; other tensors replace what has their name."""
    import torch

    own = network.state_dict()
    with torch.no_grad():
        for name, tensor in changes.items():
            if name.endswith(UP):
                weight, down = own[name.removesuffix(UP)], changes[name.removesuffix(UP) + DOWN]
                weight.copy_(weight.float() + (tensor @ down).to(weight.device))
            elif not name.endswith(DOWN):
                own[name].copy_(tensor)


def joined(first: Mapping[str, Tensor], second: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return two sets of changes as one; of two tensors that replace the same weight, the second."""
    import torch

    together = {**first, **second}
    for name in first.keys() & second.keys():
        if name.endswith((UP, DOWN)):
            together[name] = torch.cat([first[name], second[name]], 1 if name.endswith(UP) else 0)
    return together


def cut(changes: Mapping[str, Tensor], rank: int) -> dict[str, Tensor]:
    """Return changes of at most this rank: of each the directions that change its weight most."""
    import torch

    kept = dict(changes)
    for name in [name for name in changes if name.endswith(UP) and changes[name].shape[1] > rank]:
        down = name.removesuffix(UP) + DOWN
        up_basis, up_rest = torch.linalg.qr(changes[name].double())
        down_basis, down_rest = torch.linalg.qr(changes[down].double().T)
        left, sizes, right = torch.linalg.svd(up_rest @ down_rest.T)
        roots = sizes[:rank].sqrt()
        kept[name] = (up_basis @ left[:, :rank] * roots).to(changes[name].dtype)
        kept[down] = (roots[:, None] * (right[:rank] @ down_basis.T)).to(changes[name].dtype)
    return kept


def packed(changes: Mapping[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    """Yield thin matrices in four bits, along their length, where it can be divided into groups; the rest in half."""
    for name, tensor in changes.items():
        long = tensor.float().T if name.endswith(UP) else tensor.float()
        if name.endswith((UP, DOWN)) and fits_groups(long):
            halves, scale = four_bits(long.contiguous())
            yield name + HALVES, halves
            yield name + SCALE, scale
        else:
            yield name, tensor.half().contiguous()


def restored(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the changes that were packed."""
    return {
        name: tensor.T if name.endswith(UP) and name + HALVES in stored else tensor.float()
        for name, tensor in unpacked(stored)
    }
