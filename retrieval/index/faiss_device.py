"""FAISS on a CUDA device, if faiss-gpu is installed and finds one.

A device supports 8-bit codes of certain lengths and no fast scan.  It ignores selections, so hits outside of a
selection are dropped afterwards, and it serves one thread at a time.  Files have the format of the CPU: an index that a
device built can be searched without one, and the reverse.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from propcite.retrieval.encoding.base import Floats, Ints

CODE_LENGTHS = (96, 64, 56, 48, 40, 32, 28, 24, 20, 16, 12, 8, 4, 3, 2, 1)  # bytes per token that a device supports
MAX_RETRIEVED = 2048  # tokens per query token that a device can return
MIN_SAMPLE = 20_000  # tokens from which training on a device pays off; 8 bits need at least 256


@dataclass(frozen=True)
class CudaDevice:
    """The first CUDA device."""

    faiss: Any
    resources: Any
    lock: Lock = field(default_factory=Lock)

    def copy(self, index: Any) -> Any | None:
        """Copy an index to the device; None if the device does not support its kind or lacks memory."""
        if not isinstance(index, self.faiss.IndexIVFPQ):
            return None
        options = self.faiss.GpuClonerOptions()
        options.useFloat16 = True  # tables of more than 48 bytes per token fit into a block's memory only like this
        try:
            with self.lock:
                return self.faiss.index_cpu_to_gpu(self.resources, 0, index, options)
        except RuntimeError as error:
            reason = str(error).splitlines()[0][:200]
            logging.getLogger(__name__).warning("FAISS stays on the CPU, the index does not fit the device: %s", reason)
            return None

    def copy_back(self, index: Any) -> Any:
        return self.faiss.index_gpu_to_cpu(index)

    def search(self, index: Any, query: Floats, number: int, probes: int) -> tuple[Floats, Ints]:
        options = self.faiss.IVFSearchParameters(nprobe=probes)
        with self.lock:
            result: tuple[Floats, Ints] = index.search(np.ascontiguousarray(query), number, params=options)
        return result


def cuda_device(faiss: Any) -> CudaDevice | None:
    """Return the device; None if FAISS is built for the CPU only, or finds none, which is logged once."""
    return _cuda_device(faiss) if hasattr(faiss, "StandardGpuResources") else None


@lru_cache(maxsize=1)
def _cuda_device(faiss: Any) -> CudaDevice | None:
    if not faiss.get_num_gpus():
        logging.getLogger(__name__).warning("faiss-gpu finds no CUDA device: the index is searched on the CPU")
        return None
    return CudaDevice(faiss, faiss.StandardGpuResources())


def code_length(dimension: int) -> int:
    """Return the bytes per token: one for four dimensions, or the next smaller length that a device supports."""
    return next(size for size in CODE_LENGTHS if dimension % size == 0 and size <= max(1, dimension // 4))
