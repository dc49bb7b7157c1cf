"""Passages read by OpenVINO in eight bits, where a processor multiplies those fast and bfloat16 not.

Weights have a scale a row; what meets them has one for each token and GROUP numbers, taken anew each time.  So
nothing is calibrated, and a text's vectors depend on the texts beside it by no more than rounding.
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

if TYPE_CHECKING:
    from sentence_transformers import MultiVectorEncoder

GROUP = 128
ALIKE = 0.97  # the least mean cosine with the network's own vectors, of words in no order: a wrong one is far below
INSTEAD = "give PROPCITE_PRECISION=float32"


class EightBits:
    """What reads a model's passages, computed in eight bits while they are `reading`; queries stay as they are.

    It is made when the first passage is read, for a search needs none.  Where it was not asked for (`wanted`) a
    network that cannot be computed so is read as it is, with a warning.
    """

    def __init__(self, model: MultiVectorEncoder, *, wanted: bool) -> None:
        if not openvino_installed():
            raise EncoderError(f"eight bits need OpenVINO: pip install 'propcite[openvino]', or {INSTEAD}")
        if model.device.type != "cpu":
            raise EncoderError(f"eight bits are for processors: give PROPCITE_DEVICE=cpu, or {INSTEAD}")
        first: Any = model[0]
        reader: Any = first.sub_modules["document"][0] if hasattr(first, "sub_modules") else first
        self._network, self._wanted = reader.auto_model, wanted
        self._forward: Any = None
        self._made = False

    @property
    def precision(self) -> str:
        return "float32" if self._made and self._forward is None else "int8"

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Not for two threads at once."""
        if not self._made:
            self._forward = self._make()
            self._made = True
        if self._forward is None:
            yield
            return
        self._network.forward = self._forward
        try:
            yield
        finally:
            del self._network.forward  # that of its class is there again

    def _make(self) -> Any:
        try:
            return _checked(self._network)
        except EncoderError as error:
            if self._wanted:
                raise
            logging.getLogger(__name__).warning("passages are read in float32: %s", error)
            return None


def _checked(network: Any) -> Any:
    try:
        forward = _compiled(network)
        likeness = _likeness(network, forward)
    except Exception as error:  # what cannot be traced or compiled says so in a way of its own
        raise EncoderError(f"this network cannot be read in eight bits ({_line(error)}): {INSTEAD}") from error
    if likeness < ALIKE:
        raise EncoderError(f"in eight bits this network is another (cosine {likeness:.2f}): {INSTEAD}")
    return forward


class _Narrow(nn.Module):
    """A linear layer whose weights are eight bits and a scale a row: OpenVINO multiplies them as they are."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        scale = linear.weight.abs().amax(1, keepdim=True).clamp(min=1e-12) / 127
        self.steps = nn.Buffer((linear.weight / scale).round().to(torch.int8))
        self.scale, self.bias = nn.Buffer(scale), linear.bias

    @property
    def weight(self) -> Tensor:
        return self.steps.to(self.scale.dtype) * self.scale  # T5 asks for its kind of numbers

    def forward(self, states: Tensor) -> Tensor:
        return nn.functional.linear(states, self.weight, self.bias)


class _States(nn.Module):
    """A network as it is traced: two tensors in, one out."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        states: Tensor = self.network(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return states


def _narrowed(network: nn.Module) -> nn.Module:
    for name, part in network.named_children():
        if isinstance(part, nn.Linear):
            setattr(network, name, _Narrow(part))
        else:
            _narrowed(part)
    return network


def _compiled(network: Any) -> Any:
    """The network's `forward` in eight bits."""
    from transformers.modeling_outputs import BaseModelOutput

    openvino = _openvino()
    settings = {
        "INFERENCE_PRECISION_HINT": "f32",
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
        "DYNAMIC_QUANTIZATION_GROUP_SIZE": GROUP,
    }
    given = {name: torch.ones(2, 8, dtype=torch.long) for name in ("input_ids", "attention_mask")}
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # tracing tells of each shape that it reads
        traced = _States(_narrowed(copy.deepcopy(network).requires_grad_(False)).eval())
        compiled = _core().compile_model(openvino.convert_model(traced, example_input=given), "CPU", settings)

    def forward(input_ids: Tensor, attention_mask: Tensor, **_: object) -> BaseModelOutput:
        states = compiled([input_ids.numpy(), attention_mask.numpy()])[0]
        return BaseModelOutput(last_hidden_state=torch.from_numpy(np.array(states)))

    return forward


@cache
def _core() -> Any:
    """For as long as the process runs: it gives its thread a stack for signals, which it takes away where it ends.

    Where that is another thread the first one's next signal, an interrupt say, meets memory that is gone.
    """
    return _openvino().Core()


def _openvino() -> Any:
    """OpenVINO as it is where its telemetry is not installed: merely imported it would send a word about itself."""
    if "openvino" in sys.modules:
        return sys.modules["openvino"]
    hidden = "openvino_telemetry"
    there = sys.modules.get(hidden)
    sys.modules[hidden] = None  # type: ignore[assignment]
    try:
        return importlib.import_module("openvino")
    finally:
        del sys.modules[hidden]
        if there is not None:
            sys.modules[hidden] = there


def _likeness(network: Any, quick: Any) -> float:
    """The mean cosine of both networks' vectors, for texts of two lengths that the tracing has not seen."""
    dice = torch.Generator().manual_seed(0)
    ids = torch.randint(network.config.vocab_size, (3, 24), generator=dice)
    mask = torch.ones_like(ids)
    mask[1, 9:] = 0
    with torch.inference_mode():
        wanted = network(input_ids=ids, attention_mask=mask).last_hidden_state
        got = quick(input_ids=ids, attention_mask=mask).last_hidden_state
    return float(nn.functional.cosine_similarity(wanted, got, dim=-1)[mask.bool()].mean())


def _line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
