"""Snapshots: a copy of one version of an index that a writer may go on changing, with hard links where possible."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index.container import link
from propcite.retrieval.index.live_segment import (
    DELETED_DTYPE,
    codes_path,
    deleted_path,
    faiss_path,
    postings_path,
    segment_path,
)
from propcite.retrieval.index.manifest import MANIFEST_FILE, Manifest, prepared_names, read_manifest

TRIES = 20  # one try takes a moment, and a writer replaces files only now and then
PATTERNS = ("segment-*", "centroids-*", "faiss-*")


def referenced_files(folder: Path, manifest: Manifest) -> Iterator[Path]:
    """Yield all files that a manifest names."""
    for entry in manifest.segments:
        yield segment_path(folder, entry.name)
        if entry.deleted:
            yield deleted_path(folder, entry.name)
        if (words := postings_path(folder, entry.name)).exists():  # an older index may have none
            yield words
        if manifest.centroids:
            yield codes_path(folder, entry.name, manifest.centroids)
        if manifest.faiss:
            yield faiss_path(folder, entry.name, manifest.faiss)
    yield from (folder / name for name in (manifest.centroids, manifest.faiss) if name)


def unreferenced_files(folder: Path) -> list[Path]:
    """Return index files that the manifest does not name: a stopped writer left them, or a running one needs them."""
    manifests = [read_manifest(folder)] if (folder / MANIFEST_FILE).exists() else []
    manifests += [read_manifest(folder, name) for name in prepared_names(folder)]
    referenced = {path for manifest in manifests for path in referenced_files(folder, manifest)}
    files = [path for pattern in PATTERNS for path in folder.glob(pattern) if path not in referenced]
    return sorted([*files, *folder.glob("manifest*.json.new")])


def replace_index(new: Path, folder: Path) -> None:
    """Replace the index in a folder by another, or by none: its files move there, then one rename makes them count.

    A process that is stopped before the rename leaves the old index, with files that nothing names.
    """
    if not (new / MANIFEST_FILE).exists():
        (folder / MANIFEST_FILE).unlink(missing_ok=True)
    else:
        manifest = read_manifest(new)
        for path in referenced_files(new, manifest):
            link(path, folder / path.name)
        try:
            generation = read_manifest(folder).generation
        except IndexFormatError:
            generation = 0
        replace(manifest, generation=max(generation, manifest.generation) + 1).write(folder)
    for path in unreferenced_files(folder):
        path.unlink(missing_ok=True)


def snapshot(folder: Path, target: Path, name: str = "") -> bool:
    """Copy the current version, or the one of this name, to another folder; return whether there is one."""
    for _ in range(TRIES):
        shutil.rmtree(target, ignore_errors=True)
        if not name and not (folder / MANIFEST_FILE).exists():
            return False
        manifest = read_manifest(folder, name)
        target.mkdir(parents=True)
        manifest.write(target)
        try:
            _copy_files(folder, target, manifest)
            return True
        except FileNotFoundError:  # replaced since the manifest was read
            continue
    raise IndexFormatError(f"{folder} is damaged, or changes all the time: run propcite index check --repair")


def _copy_files(folder: Path, target: Path, manifest: Manifest) -> None:
    lengths = {deleted_path(folder, e.name): e.deleted * DELETED_DTYPE.itemsize for e in manifest.segments if e.deleted}
    for path in referenced_files(folder, manifest):
        if path in lengths:  # a writer may append to it, so only the valid part is copied
            with path.open("rb") as file:
                (target / path.name).write_bytes(file.read(lengths[path]))
        else:
            link(path, target / path.name)
