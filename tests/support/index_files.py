"""The file names of a saved index."""

from __future__ import annotations

from pathlib import Path

from propcite.retrieval.index.manifest import MANIFEST_FILE, read_manifest


def possible_files(folder: Path) -> set[str]:
    """Return the names of all files that may belong to the index: the manifest's, itself and the lock.

    A writer that was stopped may have begun a list of deletions, of which the manifest counts nothing.
    """
    manifest = read_manifest(folder)
    names = {MANIFEST_FILE, "index.lock"} | ({manifest.centroids, manifest.faiss} - {""})
    for entry in manifest.segments:
        names |= {f"{entry.name}.tokens", f"{entry.name}.words", f"{entry.name}.deleted"}
        names |= {f"{entry.name}.codes-{manifest.centroids.split('-')[1]}"} if manifest.centroids else set()
        names |= {f"{entry.name}.faiss-{manifest.faiss.split('-')[1]}"} if manifest.faiss else set()
    return names


def files_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}
