"""The numbers that a network computes with on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from sentence_transformers import MultiVectorEncoder


def set_precision(model: MultiVectorEncoder, precision: str) -> None:
    model.to(dtype_of(precision, model.device.type))


def dtype_of(precision: str, device: str) -> torch.dtype:
    """The numbers that a network on this kind of device computes with."""
    import torch

    choices = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
    if precision == "auto":
        precision = "float16" if device == "cuda" else "bfloat16" if _fast_bfloat16() else "float32"
    if precision not in choices:
        raise ValueError(f"precision is one of auto, {', '.join(choices)}, got {precision!r}")
    return choices[precision]


def _fast_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16 faster than float32: Intel's does so in tiles alone, AMD's always.

    A rule and not a timed trial: the same machine must always make the same vectors.
    """
    import torch

    tiles, instructions = (getattr(torch.cpu, f"_is_{name}_supported", bool) for name in ("amx_tile", "avx512_bf16"))
    return bool(tiles()) or (bool(instructions()) and "AuthenticAMD" in _processor())


def _processor() -> str:
    try:
        return Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        return ""
