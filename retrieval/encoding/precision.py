"""The numbers that a network computes with on this machine."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from sentence_transformers import MultiVectorEncoder

BYTES_A_THREAD = 2048  # of one number for each token, so that a layer's numbers stay in a core's own cache
TOKENS_ON_A_DEVICE = 32_768


def chosen(precision: str, device: str) -> str:
    """The precision that this machine reads passages with: the one that is named, or for `auto` the fastest."""
    if precision != "auto":
        return precision
    if device == "cuda":
        return "float16"
    if _fast_bfloat16():
        return "bfloat16"
    return "int8" if device == "cpu" and _fast_eight_bits() and openvino_installed() else "float32"


def could_be_faster(precision: str, device: str) -> bool:
    """Whether only OpenVINO is missing here for eight bits, the fastest."""
    return chosen(precision, device) == "float32" and precision == "auto" and device == "cpu" and _fast_eight_bits()


def tokens_at_once(model: MultiVectorEncoder) -> int:
    """How many tokens one forward pass reads fastest: on a processor no more than its caches hold."""
    import torch

    if model.device.type != "cpu":
        return TOKENS_ON_A_DEVICE
    return torch.get_num_threads() * BYTES_A_THREAD // (model.dtype or torch.float32).itemsize


def dtype_of(precision: str, device: str) -> torch.dtype:
    """The numbers that a network on this kind of device keeps; with int8 what is multiplied in passages has fewer."""
    import torch

    choices = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16, "int8": torch.float32}
    precision = chosen(precision, device)
    if precision not in choices:
        raise ValueError(f"precision is one of auto, {', '.join(choices)}, got {precision!r}")
    return choices[precision]


def openvino_installed() -> bool:
    return importlib.util.find_spec("openvino") is not None


def _fast_eight_bits() -> bool:
    import torch

    return bool(getattr(torch.cpu, "_is_vnni_supported", bool)()) or "avx_vnni" in _processor().split()


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
