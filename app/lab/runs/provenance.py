"""What a run records of its environment: models with hashes of their weights, code and machine; never compared."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from propcite.app.settings import Settings

ROOT = Path(__file__).resolve().parents[3]
WEIGHTS = (".safetensors", ".bin", ".gguf", ".pt")
PARTS = ("encoder", "splitter", "judge", "generator")


def run_provenance(settings: Settings, *used: str, index_version: int | None = None) -> dict[str, Any]:
    """Return the environment of a run that uses these of PARTS; `index_version` is set if an index is searched."""
    import torch

    about: dict[str, Any] = {
        "models": {part: model_info(settings, part) for part in PARTS if part in used},
        "command": shlex.join(["propcite", *sys.argv[1:]]),
        "version": version("propcite"),
        "revision": revision(),
        "processors": os.cpu_count() or 1,
        "torch_threads": torch.get_num_threads(),
        "machine": f"{platform.machine()} {platform.system()}",
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
    return about if index_version is None else {**about, "index_version": index_version}


def model_info(settings: Settings, part: str) -> dict[str, str]:
    """Return the name of a part's model, and the sha256 of its weights or its hub revision if there are any here."""
    kind, name, shipped = _chosen(settings, part)
    info = {"name": name or kind}
    if kind and name and kind != name:
        info["kind"] = kind
    if shipped:
        return {**info, "sha256": _sha256(shipped)}
    if name and Path(name).is_dir():
        weights = sorted(path for path in Path(name).glob("**/*") if path.suffix in WEIGHTS)
        return {**info, "name": Path(name).name, "sha256": _sha256(weights)} if weights else info
    cached = _hub_revision(name)
    return {**info, "revision": cached} if cached else info


def _chosen(settings: Settings, part: str) -> tuple[str, str, list[Path]]:
    """Return the kind and model that the settings name, and the files of a shipped model."""
    from propcite.attribution.judges.reader_files import READER
    from propcite.attribution.propositions import SPLITTER_WEIGHTS
    from propcite.retrieval.encoding import bundled

    base = Path(bundled.bundled_model()) / "model.safetensors"
    shipped = {
        ("encoder", bundled.DEFAULT): [base, bundled.QUERIES_FILE, bundled.PASSAGES_FILE],
        ("encoder", bundled.QUERIES_ALONE): [base, bundled.QUERIES_FILE],
        ("encoder", bundled.BASE): [base],
        ("splitter", "learned"): [*sorted(READER.iterdir()), SPLITTER_WEIGHTS],
        ("judge", "reader"): [base, *sorted(READER.iterdir())],
    }
    if part == "encoder":
        name = settings.encoder or bundled.DEFAULT
        return "", name, shipped.get(("encoder", name), [])
    kind: str = getattr(settings, part)
    name = getattr(settings, f"{part}_model")
    return kind, name, [] if name else shipped.get((part, kind), [])


def _sha256(files: list[Path]) -> str:
    """Return one file's hash, or the hash of the hashes of several in their order."""
    combined = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
        if len(files) == 1:
            return digest.hexdigest()
        combined.update(digest.digest())
    return combined.hexdigest()


def _hub_revision(name: str) -> str:
    """Return the revision of a hub model in the local cache; empty if it is not there."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    from propcite.retrieval.encoding.loading import hub_revision

    name, wanted = hub_revision(name)
    try:
        config = try_to_load_from_cache(name, "config.json", revision=wanted or None) if name else None
    except HFValidationError:
        return ""
    return Path(config).parent.name if isinstance(config, str) else ""


def revision() -> str:
    """Return the commit of the code, with a + if files differ from it; empty outside of a checkout."""
    if not (ROOT / ".git").exists():
        return ""
    commit = _git("rev-parse", "--short=12", "HEAD")
    return f"{commit}+" if commit and _git("status", "--porcelain", "--untracked-files=no") else commit


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
