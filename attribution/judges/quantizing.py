"""Weights in few bits: eight per weight with a scale per row, or four with a scale per group of weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

GROUP = 64  # weights in four bits that share a scale
SCALE, HALVES = "/scale", "/halves"  # in names of what is stored
STEPS, HALF_STEPS = 127, 7  # of an eight-bit and of a four-bit number on each side of 0


def fits_groups(matrix: Tensor) -> bool:
    """Return whether the rows of a matrix can be divided into groups, which four bits need."""
    return matrix.shape[1] % GROUP == 0


def in_eight_bits(state: Mapping[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    """Yield word embeddings in four bits, other matrices in eight, vectors as they are."""
    for name, value in state.items():
        tensor = value.detach().float().cpu()
        if name.endswith("word_embeddings.weight") and fits_groups(tensor):
            halves, scale = four_bits(tensor)
            yield name + HALVES, halves
            yield name + SCALE, scale
        elif tensor.ndim == 2 and tensor.shape[0] > 1:
            scale = (tensor.abs().amax(1) / STEPS).clamp_min(1e-12)
            yield name, (tensor / scale[:, None]).round().char()
            yield name + SCALE, scale
        else:
            yield name, tensor.contiguous()


def unpacked(stored: Mapping[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    for name, tensor in stored.items():
        if name.endswith(HALVES):
            original = name.removesuffix(HALVES)
            yield original, _from_four_bits(tensor, stored[original + SCALE])
        elif not name.endswith(SCALE):
            scale = stored.get(name + SCALE)
            yield name, tensor.float() if scale is None else tensor.float() * scale[:, None]


def four_bits(tensor: Tensor) -> tuple[Tensor, Tensor]:
    """Return two numbers per byte, and a scale per group."""
    import torch

    groups = tensor.reshape(tensor.shape[0], -1, GROUP)
    scale = (groups.abs().amax(2) / HALF_STEPS).clamp_min(1e-7).half()
    steps = (groups / scale.float()[..., None]).round().clamp(-HALF_STEPS, HALF_STEPS).to(torch.int16) + HALF_STEPS
    steps = steps.reshape(tensor.shape[0], -1)
    return (steps[:, 0::2] * 16 + steps[:, 1::2]).to(torch.uint8), scale


def _from_four_bits(halves: Tensor, scale: Tensor) -> Tensor:
    import torch

    steps = torch.stack([halves // 16, halves % 16], -1).float() - HALF_STEPS
    return (steps.reshape(halves.shape[0], -1, GROUP) * scale.float()[..., None]).reshape(halves.shape[0], -1)
