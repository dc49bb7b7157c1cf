"""One version of an index beside the folder that a writer goes on changing: links where the disk has them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index.manifest import FILE, Manifest, read_manifest
from propcite.retrieval.index.parts import NUMBER, codes_path, deleted_path, faiss_path, segment_path

TRIES = 20  # each is a moment; a writer joins or removes parts now and then
KINDS = ("segment-*", "centroids-*", "faiss-*")


def named_files(folder: Path, manifest: Manifest) -> Iterator[Path]:
    """All files that a version consists of, beside its manifest."""
    for entry in manifest.segments:
        yield segment_path(folder, entry.name)
        if entry.deleted:
            yield deleted_path(folder, entry.name)
        if manifest.centroids:
            yield codes_path(folder, entry.name, manifest.centroids)
        if manifest.faiss:
            yield faiss_path(folder, entry.name, manifest.faiss)
    yield from (folder / name for name in (manifest.centroids, manifest.faiss) if name)


def unnamed_files(folder: Path) -> list[Path]:
    """Files of an index that its manifest does not name: what a stopped writer left, or what one writes now."""
    manifest = read_manifest(folder) if (folder / FILE).exists() else None
    named = set(named_files(folder, manifest)) if manifest else set()
    left = [path for kind in KINDS for path in folder.glob(kind) if path not in named]
    return sorted(left + list(folder.glob(f"{FILE}.new")))


def snapshot(folder: Path, into: Path) -> bool:
    """The version of this moment in another folder.  -> whether there is one"""
    for _ in range(TRIES):
        shutil.rmtree(into, ignore_errors=True)
        try:
            content = (folder / FILE).read_bytes()
        except FileNotFoundError:
            return False
        into.mkdir(parents=True)
        (into / FILE).write_bytes(content)
        try:
            _take(folder, into, read_manifest(into))
            return True
        except FileNotFoundError:  # replaced since the manifest was read
            continue
    raise IndexFormatError(f"{folder} is damaged, or changed all the time: run propcite index check --repair")


def _take(folder: Path, into: Path, manifest: Manifest) -> None:
    lengths = {deleted_path(folder, e.name): e.deleted * NUMBER.itemsize for e in manifest.segments if e.deleted}
    for path in named_files(folder, manifest):
        if path in lengths:  # it is written on behind what counts
            with path.open("rb") as file:
                (into / path.name).write_bytes(file.read(lengths[path]))
        else:
            link(path, into / path.name)


def link(path: Path, new: Path) -> None:
    """The same file under another name, which stays when the first is removed."""
    try:
        os.link(path, new)
    except FileNotFoundError:
        raise
    except OSError:  # a disk without links
        shutil.copyfile(path, new)
