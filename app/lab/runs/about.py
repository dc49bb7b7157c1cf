"""What a run notes about itself: models with the hashes of their weights, code, machine.  Told, never compared."""

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


def about_run(settings: Settings, *used: str, index_version: int | None = None) -> dict[str, Any]:
    """`used` are those of PARTS that the run reads with; an index is told where one was searched."""
    import torch

    told: dict[str, Any] = {
        "models": {part: model(settings, part) for part in PARTS if part in used},
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
    return told if index_version is None else {**told, "index_version": index_version}


def model(settings: Settings, part: str) -> dict[str, str]:
    """The name of a part's model, and the sha256 of its weights or the hub's revision where there are any here."""
    kind, name, shipped = _chosen(settings, part)
    told = {"name": name or kind}
    if kind and name and kind != name:
        told["kind"] = kind
    if shipped:
        return {**told, "sha256": _sha256(shipped)}
    if name and Path(name).is_dir():
        weights = sorted(path for path in Path(name).glob("**/*") if path.suffix in WEIGHTS)
        return {**told, "name": Path(name).name, "sha256": _sha256(weights)} if weights else told
    found = _on_hub(name)
    return {**told, "revision": found} if found else told


def _chosen(settings: Settings, part: str) -> tuple[str, str, list[Path]]:
    """What the settings name: its kind, its model, and the files of what is shipped."""
    from propcite.attribution.judges.weights import JUDGE
    from propcite.attribution.propositions import WEIGHTS as SPLITTER
    from propcite.retrieval.encoding import checkpoints

    base = Path(checkpoints.bundled_model()) / "model.safetensors"
    shipped = {
        ("encoder", checkpoints.DEFAULT): [base, checkpoints.QUERIES, checkpoints.PASSAGES],
        ("encoder", checkpoints.QUERIES_ALONE): [base, checkpoints.QUERIES],
        ("encoder", checkpoints.BASE): [base],
        ("splitter", "learned"): [base, SPLITTER],
        ("judge", "cross"): [base, JUDGE],
    }
    if part == "encoder":
        name = settings.encoder or checkpoints.DEFAULT
        return "", name, shipped.get(("encoder", name), [])
    kind: str = getattr(settings, part)
    return kind, getattr(settings, f"{part}_model"), shipped.get((part, kind), [])


def _sha256(files: list[Path]) -> str:
    """One hash of all files in their order."""
    whole = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
        if len(files) == 1:
            return digest.hexdigest()
        whole.update(digest.digest())
    return whole.hexdigest()


def _on_hub(name: str) -> str:
    """The revision of a hub's model that is in the cache."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(name, "config.json") if name else None
    except HFValidationError:
        return ""
    return Path(found).parent.name if isinstance(found, str) else ""


def revision() -> str:
    """The commit of the code, with a + where files differ from it; empty where the code is no checkout."""
    if not (ROOT / ".git").exists():
        return ""
    commit = _git("rev-parse", "--short=12", "HEAD")
    return f"{commit}+" if commit and _git("status", "--porcelain", "--untracked-files=no") else commit


def _git(*words: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
