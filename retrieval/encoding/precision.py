"""Choose the number format that a network computes with on this machine."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from sentence_transformers import MultiVectorEncoder

BATCH_BYTES_PER_THREAD = 2048  # of one number per token, so that a layer's numbers stay in a core's own cache
DEVICE_BATCH_TOKENS = 32_768


def resolve_precision(precision: str, device: str) -> str:
    """Return the precision in which passages are read here; `auto` becomes the fastest one."""
    if precision != "auto":
        return precision
    if device == "cuda":
        return "float16"
    if _fast_bfloat16():
        return "bfloat16"
    return "int8" if device == "cpu" and _fast_int8() and openvino_installed() else "float32"


def openvino_would_help(precision: str, device: str) -> bool:
    """Return whether `auto` would choose int8, the fastest, if OpenVINO were installed."""
    return (
        resolve_precision(precision, device) == "float32" and precision == "auto" and device == "cpu" and _fast_int8()
    )


def max_batch_tokens(model: MultiVectorEncoder) -> int:
    """Return the number of tokens that is fastest in one forward pass: on a CPU no more than its caches hold."""
    import torch

    if model.device.type != "cpu":
        return DEVICE_BATCH_TOKENS
    return torch.get_num_threads() * BATCH_BYTES_PER_THREAD // (model.dtype or torch.float32).itemsize


def dtype_of(precision: str, device: str) -> torch.dtype:
    """Return the type of a network's weights on this kind of device; float32 for int8, which changes passages only."""
    import torch

    choices = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16, "int8": torch.float32}
    precision = resolve_precision(precision, device)
    if precision not in choices:
        raise ValueError(f"precision is one of auto, {', '.join(choices)}, got {precision!r}")
    return choices[precision]


def openvino_installed() -> bool:
    return importlib.util.find_spec("openvino") is not None


def _fast_int8() -> bool:
    import torch

    return bool(getattr(torch.cpu, "_is_vnni_supported", bool)()) or "avx_vnni" in _cpu_info().split()


def _fast_bfloat16() -> bool:
    """Return whether this CPU multiplies bfloat16 faster than float32: Intel's only with tiles, AMD's always.

    It is a rule and not a timed trial, because the same machine must always produce the same vectors.
    """
    import torch

    tiles, instructions = (getattr(torch.cpu, f"_is_{name}_supported", bool) for name in ("amx_tile", "avx512_bf16"))
    return bool(tiles()) or (bool(instructions()) and "AuthenticAMD" in _cpu_info())


def _cpu_info() -> str:
    try:
        return Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        return ""
