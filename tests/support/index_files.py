"""The files of a saved index by name."""

from __future__ import annotations

from pathlib import Path

from propcite.retrieval.index.manifest import FILE, read_manifest


def files_named(folder: Path) -> set[str]:
    """Every file that may belong to the index: what its manifest names, itself and the lock.

    A list of deletions that a stopped writer began may lie beside a segment; the manifest says how much of it counts.
    """
    manifest = read_manifest(folder)
    names = {FILE, "index.lock"} | ({manifest.centroids, manifest.faiss} - {""})
    for entry in manifest.segments:
        names |= {f"{entry.name}.tokens", f"{entry.name}.deleted"}
        names |= {f"{entry.name}.codes-{manifest.centroids.split('-')[1]}"} if manifest.centroids else set()
        names |= {f"{entry.name}.faiss-{manifest.faiss.split('-')[1]}"} if manifest.faiss else set()
    return names


def files_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}
