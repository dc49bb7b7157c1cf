"""Train what reads queries over passages that stay, what reads passages under queries that stay, and teachers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_denormals() -> Iterator[None]:
    """Numbers next to nothing count as nothing meanwhile: the optimizer's tiny moments slow a step many times."""
    import torch

    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)  # it holds for the whole thread, and others may count on such numbers
