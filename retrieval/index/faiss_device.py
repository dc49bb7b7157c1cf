"""FAISS on a CUDA device, where faiss-gpu is installed and finds one.

A device reads codes of eight bits and certain lengths, no fast scan; it passes over selections, so what may not be
found is dropped afterwards; and it serves one thread at a time.  Files are those of the CPU: what a device made is
read without one, and the other way round.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from propcite.retrieval.encoding.base import Floats, Ints

CODE_LENGTHS = (96, 64, 56, 48, 40, 32, 28, 24, 20, 16, 12, 8, 4, 3, 2, 1)  # bytes a token that a device can read
MOST_FOUND = 2048  # tokens for a query token
WORTH_IT = 20_000  # tokens of a sample from which a device trains; eight bits need 256 of them at the least


@dataclass(frozen=True)
class Device:
    """The first device."""

    faiss: Any
    resources: Any
    lock: Lock = field(default_factory=Lock)

    def copy(self, index: Any) -> Any | None:
        """An index of the CPU on the device; None for a kind that it has not, or too large a one."""
        if not isinstance(index, self.faiss.IndexIVFPQ):
            return None
        options = self.faiss.GpuClonerOptions()
        options.useFloat16 = True  # tables of more than 48 bytes a token fit into a block's memory only so
        try:
            with self.lock:
                return self.faiss.index_cpu_to_gpu(self.resources, 0, index, options)
        except RuntimeError as error:
            reason = str(error).splitlines()[0][:200]
            logging.getLogger(__name__).warning("FAISS stays on the CPU, the device has no room for it: %s", reason)
            return None

    def back(self, index: Any) -> Any:
        return self.faiss.index_gpu_to_cpu(index)

    def search(self, index: Any, query: Floats, number: int, probes: int) -> tuple[Floats, Ints]:
        options = self.faiss.IVFSearchParameters(nprobe=probes)
        with self.lock:
            found: tuple[Floats, Ints] = index.search(np.ascontiguousarray(query), number, params=options)
        return found


def device(faiss: Any) -> Device | None:
    """None where FAISS is built for the CPU alone, or finds no device; the latter is told once."""
    return _device(faiss) if hasattr(faiss, "StandardGpuResources") else None


@lru_cache(maxsize=1)
def _device(faiss: Any) -> Device | None:
    if not faiss.get_num_gpus():
        logging.getLogger(__name__).warning("faiss-gpu finds no CUDA device: the index is searched on the CPU")
        return None
    return Device(faiss, faiss.StandardGpuResources())


def code_length(dimension: int) -> int:
    """Bytes a token: one for four numbers, or as many as a device can read."""
    return next(size for size in CODE_LENGTHS if dimension % size == 0 and size <= max(1, dimension // 4))
