"""Load models of the transformers family: errors in one line, no progress bars, no long wait for the hub."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from propcite.retrieval.errors import EncoderError

HUB_TIMEOUT_S = 10.0

_HUB_NAME = re.compile(r"\w[\w.-]*(?:/\w[\w.-]*)?")


@contextmanager
def loading_errors(name: str) -> Iterator[None]:
    """Turn whatever the loaders raise into an EncoderError of one line that names the model."""
    try:
        yield
    except EncoderError:
        raise
    except Exception as error:  # each file format has its own kinds
        raise EncoderError(f"the model {name} cannot be loaded: {_first_line(error)}") from error


def check_exists(model: str) -> None:
    """Raise EncoderError unless the model is a folder, is in the local cache of the hub, or the hub has it.

    Without a connection the loaders themselves would try for minutes.
    """
    if Path(model).is_dir():
        return
    if not _HUB_NAME.fullmatch(model):
        raise EncoderError(f"there is no folder {model}: name a model's folder, or a hub name such as owner/model")
    from huggingface_hub import model_info, try_to_load_from_cache

    if isinstance(try_to_load_from_cache(model, "config.json"), str):
        return
    try:
        model_info(model, timeout=HUB_TIMEOUT_S)
    except Exception as error:  # the hub's errors and those of its HTTP library
        advice = "check its name and the connection, or give a folder"
        raise EncoderError(
            f"the model {model} cannot be fetched from the hub ({_first_line(error)}): {advice}"
        ) from error


def hide_progress_bars() -> None:
    """Stop transformers from showing a progress bar when it reads a checkpoint, for the rest of the process."""
    from transformers.utils import logging

    untyped: Any = logging
    untyped.disable_progress_bar()


def _first_line(error: Exception) -> str:
    """Return the first line of the message, with the next one if the first ends in a colon."""
    lines = str(error).strip().splitlines()
    return " ".join(line.strip() for line in lines[: 1 + lines[0].endswith(":")]) if lines else type(error).__name__
