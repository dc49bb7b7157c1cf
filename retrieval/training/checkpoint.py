"""Where an interrupted training goes on: its whole state in one file, written by rename."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from propcite.retrieval.errors import PropCiteError, RetrievalError
from propcite.retrieval.saving import written


def keep(path: Path, state: dict[str, Any], error: type[PropCiteError] = RetrievalError) -> None:
    """What stops while it is written leaves the last one.  `state` names what it was `given`."""
    with written(path, error) as new:
        try:
            torch.save(state, new)
        except RuntimeError as why:  # torch's own word for a full disk
            raise OSError(f"no room for it: {why}") from why


def kept(path: Path, given: dict[str, Any], error: type[PropCiteError] = RetrievalError) -> dict[str, Any] | None:
    """The state that was kept last, if there is one; that of another recipe, or of other weights, is refused."""
    if not path.exists():
        return None
    try:
        state: dict[str, Any] = torch.load(path, weights_only=False, map_location="cpu")
    except Exception as why:  # the unpickler raises its own kinds
        raise error(f"{path} cannot be read ({why}): remove it and train without --resume") from why
    known = state.get("given", {})
    if other := sorted(name for name in {*known, *given} if known.get(name) != given.get(name)):
        raise error(f"{path} was made with another {', '.join(other)}: give the same, or another --work folder")
    return state
