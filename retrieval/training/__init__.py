"""Train the network for queries, the network for passages, and teachers of sentence ranking."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_denormals() -> Iterator[None]:
    """Treat denormal numbers as zero inside the block: the optimizer's tiny moments slow a step down many times."""
    import torch

    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)  # the switch holds for the whole thread; other code may need denormals
