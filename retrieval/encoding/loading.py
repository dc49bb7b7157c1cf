"""Load models of the transformers family: errors in one line, no progress bars, no long wait for the hub."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from propcite.retrieval.errors import EncoderError

HUB_TIMEOUT_S = 10.0
PICKLED = {".bin", ".pt", ".pth"}
FOR_OTHER_LIBRARIES = ("*.h5", "*.msgpack", "*.onnx*", "*.ot", "*.tflite", "coreml/*", "onnx/*", "openvino/*")

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


def model_folder(model: str) -> Path:
    """Return the folder of a model: the one that is named, or that of a hub name, which is fetched where it is missing.

    A hub name may end in `@` and a commit, tag or branch; without it the hub's main branch is meant.  What was fetched
    before is used where the hub does not answer, or `HF_HUB_OFFLINE` is set.
    """
    name, revision = hub_revision(model)
    if Path(name).is_dir():
        return Path(name)
    if not _HUB_NAME.fullmatch(name):
        raise EncoderError(f"there is no folder {model}: name a model's folder, or a hub name such as owner/model")
    from huggingface_hub import model_info, snapshot_download

    try:
        info = model_info(name, revision=revision or None, timeout=HUB_TIMEOUT_S)
    except Exception as error:  # the hub's errors and those of its HTTP library
        with suppress(Exception):
            return Path(snapshot_download(name, revision=revision or None, local_files_only=True))
        raise _fetching_error(model, error) from error
    files = [PurePosixPath(file.rfilename) for file in info.siblings or ()]
    try:
        return Path(snapshot_download(name, revision=revision or None, ignore_patterns=_unneeded(files)))
    except Exception as error:
        raise _fetching_error(model, error) from error


def hub_revision(model: str) -> tuple[str, str]:
    """Return a hub name without its revision, and the revision; a folder is returned as it is, without one.

    >>> hub_revision("owner/model@v2"), hub_revision("owner/model")
    (('owner/model', 'v2'), ('owner/model', ''))
    """
    name, _, revision = (model, "", "") if Path(model).is_dir() else model.partition("@")
    return name, revision


def _unneeded(files: Sequence[PurePosixPath]) -> list[str]:
    """Return the files of a hub model for other libraries, and pickled weights that are there as safetensors too."""
    safe = {file.parent for file in files if file.suffix == ".safetensors"}
    pickled = [str(file) for file in files if file.suffix in PICKLED and file.parent in safe]
    return [*FOR_OTHER_LIBRARIES, *pickled]


def _fetching_error(model: str, error: Exception) -> EncoderError:
    advice = "check its name and the connection, or give a folder"
    return EncoderError(f"the model {model} cannot be fetched from the hub ({_first_line(error)}): {advice}")


def hide_progress_bars() -> None:
    """Stop transformers from showing a progress bar when it reads a checkpoint, for the rest of the process."""
    from transformers.utils import logging

    untyped: Any = logging
    untyped.disable_progress_bar()


def _first_line(error: Exception) -> str:
    """Return the first line of the message, with the next one if the first ends in a colon."""
    lines = str(error).strip().splitlines()
    return " ".join(line.strip() for line in lines[: 1 + lines[0].endswith(":")]) if lines else type(error).__name__
