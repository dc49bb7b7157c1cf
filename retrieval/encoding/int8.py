"""Encode passages in eight bits with OpenVINO, on CPUs that multiply these fast and bfloat16 not.

Weights have a scale per row; activations have one per token and GROUP numbers, computed for each input.  So nothing is
calibrated, and a text's vectors depend on the other texts of its batch by no more than rounding.
"""

from __future__ import annotations

import copy
import importlib
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from propcite.retrieval.encoding.precision import openvino_installed
from propcite.retrieval.errors import EncoderError
from propcite.retrieval.extras import install_command

if TYPE_CHECKING:
    from sentence_transformers import MultiVectorEncoder

GROUP = 128
MIN_COSINE = 0.97  # mean, with the network's own vectors of random words: a wrong conversion is far below
ALTERNATIVE = "set PROPCITE_PRECISION=float32"


class Int8Reader:
    """Computes a model's passages in eight bits while `active`; queries stay as they are.

    The network is compiled when the first passage is encoded, because a search needs none.  If int8 is not `required`,
    a network that cannot be compiled is used as it is, with a warning.
    """

    def __init__(self, model: MultiVectorEncoder, *, required: bool) -> None:
        if not openvino_installed():
            raise EncoderError(f"int8 needs OpenVINO: {install_command('openvino')}, or {ALTERNATIVE}")
        if model.device.type != "cpu":
            raise EncoderError(f"int8 runs on CPUs only: set PROPCITE_DEVICE=cpu, or {ALTERNATIVE}")
        first: Any = model[0]
        transformer: Any = first.sub_modules["document"][0] if hasattr(first, "sub_modules") else first
        self._network, self._required = transformer.auto_model, required
        self._forward: Any = None
        self._compiled = False

    @property
    def precision(self) -> str:
        return "float32" if self._compiled and self._forward is None else "int8"

    @contextmanager
    def active(self) -> Iterator[None]:
        """Replace the network's `forward` for the length of the block; only one thread may be inside."""
        if not self._compiled:
            self._forward = self._compile()
            self._compiled = True
        if self._forward is None:
            yield
            return
        self._network.forward = self._forward
        try:
            yield
        finally:
            del self._network.forward  # the class's own method is visible again

    def _compile(self) -> Any:
        try:
            return _checked_forward(self._network)
        except EncoderError as error:
            if self._required:
                raise
            logging.getLogger(__name__).warning("passages are read in float32: %s", error)
            return None


def _checked_forward(network: Any) -> Any:
    try:
        forward = compiled_forward(network)
        cosine = _mean_cosine(network, forward)
    except Exception as error:  # tracing and compiling raise many kinds
        raise EncoderError(f"this network cannot be converted to int8 ({_first_line(error)}): {ALTERNATIVE}") from error
    if cosine < MIN_COSINE:
        raise EncoderError(f"int8 changes this network's vectors (cosine {cosine:.2f}): {ALTERNATIVE}")
    return forward


class _Int8Linear(nn.Module):
    """A linear layer with eight-bit weights and a scale per row, which OpenVINO multiplies directly."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        scale = linear.weight.abs().amax(1, keepdim=True).clamp(min=1e-12) / 127
        self.steps = nn.Buffer((linear.weight / scale).round().to(torch.int8))
        self.scale, self.bias = nn.Buffer(scale), linear.bias

    @property
    def weight(self) -> Tensor:
        return self.steps.to(self.scale.dtype) * self.scale  # T5 looks up its dtype

    def forward(self, states: Tensor) -> Tensor:
        return nn.functional.linear(states, self.weight, self.bias)


class _Traceable(nn.Module):
    """A network as OpenVINO traces it: two tensors in, one out."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        states: Tensor = self.network(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return states


def _with_int8_layers(network: nn.Module) -> nn.Module:
    """Replace the linear layers in place and return the network."""
    for name, child in network.named_children():
        if isinstance(child, nn.Linear):
            setattr(network, name, _Int8Linear(child))
        else:
            _with_int8_layers(child)
    return network


def compiled_forward(network: Any) -> Any:
    """Return a replacement for the network's `forward` that computes in eight bits."""
    from transformers.modeling_outputs import BaseModelOutput

    openvino = _openvino()
    settings = {
        "INFERENCE_PRECISION_HINT": "f32",
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
        "DYNAMIC_QUANTIZATION_GROUP_SIZE": GROUP,
    }
    example = {name: torch.ones(2, 8, dtype=torch.long) for name in ("input_ids", "attention_mask")}
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # tracing warns about each shape that it reads
        traced = _Traceable(_with_int8_layers(copy.deepcopy(network).requires_grad_(False)).eval())
        compiled = _core().compile_model(openvino.convert_model(traced, example_input=example), "CPU", settings)

    def forward(input_ids: Tensor, attention_mask: Tensor, **_: object) -> BaseModelOutput:
        states = compiled([input_ids.numpy(), attention_mask.numpy()])[0]
        return BaseModelOutput(last_hidden_state=torch.from_numpy(np.array(states)))

    return forward


@cache
def _core() -> Any:
    """Return OpenVINO's core, created once and kept until the process ends.

    It gives its thread a stack for signals and frees that stack when it is destroyed.  If another thread destroyed it,
    the next signal of the first thread, such as an interrupt, would use freed memory.
    """
    return _openvino().Core()


def _openvino() -> Any:
    """Import OpenVINO without its telemetry package, which would report the import itself."""
    if "openvino" in sys.modules:
        return sys.modules["openvino"]
    telemetry = "openvino_telemetry"
    loaded = sys.modules.get(telemetry)
    sys.modules[telemetry] = None  # type: ignore[assignment]  # so that importing it fails
    try:
        return importlib.import_module("openvino")
    finally:
        del sys.modules[telemetry]
        if loaded is not None:
            sys.modules[telemetry] = loaded


def _mean_cosine(network: Any, int8_forward: Any) -> float:
    """Return the mean cosine of both vectors of each token, for texts of two lengths that tracing has not seen."""
    random = torch.Generator().manual_seed(0)
    ids = torch.randint(network.config.vocab_size, (3, 24), generator=random)
    mask = torch.ones_like(ids)
    mask[1, 9:] = 0
    with torch.inference_mode():
        expected = network(input_ids=ids, attention_mask=mask).last_hidden_state
        actual = int8_forward(input_ids=ids, attention_mask=mask).last_hidden_state
    return float(nn.functional.cosine_similarity(expected, actual, dim=-1)[mask.bool()].mean())


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
