"""What is done to an index's folder as a whole, whether it has shards or not: open, copy, replace, check, repair."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from propcite.retrieval.errors import IndexFormatError, OtherVersionError
from propcite.retrieval.index import IndexOptions, ProgressReport, ignore_progress
from propcite.retrieval.index.integrity import Fault, check_index, repair_index
from propcite.retrieval.index.manifest import MANIFEST_FILE, read_manifest
from propcite.retrieval.index.snapshot import TRIES, replace_index, snapshot, unreferenced_files
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.sharding.layout import LAYOUT_FILE, Layout, Versions, new_places, read_layout, shard_folders
from propcite.retrieval.sharding.sharded_index import ShardedIndex

OpenIndex = TokenIndex | ShardedIndex


def open_index(
    folder: Path,
    encoder: str = "",
    *,
    tolerant: bool = False,
    earlier: OpenIndex | None = None,
    at: Versions | None = None,
    **options: Unpack[IndexOptions],
) -> OpenIndex:
    """Open the index in a folder, as `TokenIndex.load` does; `at` names the versions of all shards."""
    while True:
        layout = read_layout(folder)
        if at and not at.of(layout):
            raise OtherVersionError(f"{folder} has other shards than the named ones: try again")
        try:
            if layout is None:
                before, name = earlier if isinstance(earlier, TokenIndex) else None, at.names[""] if at else ""
                return TokenIndex.load(folder, encoder, tolerant=tolerant, earlier=before, at=name, **options)
            shards, names = earlier if isinstance(earlier, ShardedIndex) else None, at.names if at else None
            return ShardedIndex.load(folder, layout, encoder, tolerant=tolerant, earlier=shards, at=names, **options)
        except IndexFormatError:
            if read_layout(folder) == layout:
                raise
            # The index was divided again since its layout was read.


def index_files(folder: Path) -> list[Path]:
    """Return the files that name all others: the manifests of all shards, and what names the shards."""
    layout = read_layout(folder)
    return ([folder / LAYOUT_FILE] if layout else []) + [path / MANIFEST_FILE for path in shard_folders(folder)]


def leftover_files(folder: Path) -> list[Path]:
    """Return index files that nothing names: a stopped writer left them, or a running one needs them."""
    layout = read_layout(folder)
    if layout is None:
        unnamed = unreferenced_files(folder) if (folder / MANIFEST_FILE).exists() else []
        return sorted([*unnamed, *_files_of_others(folder, ())])
    kept = {place.resolve() for place in layout.folders(folder)}
    inside = [path for place in layout.folders(folder) for path in unreferenced_files(place)]
    own = [path for path in folder.glob("*") if path.is_file() and path.suffix not in (".json", ".lock")]
    return sorted([*inside, *own, *_files_of_others(folder, kept), *folder.glob(MANIFEST_FILE)])


def _files_of_others(folder: Path, kept: set[Path] | tuple[()]) -> list[Path]:
    """Return the files in folders of shards that are not kept."""
    return [
        path
        for place in folder.glob("shard-*-of-*")
        if place.resolve() not in kept
        for path in place.rglob("*")
        if path.is_file()
    ]


def remove_leftovers(folder: Path) -> None:
    """Remove what `leftover_files` returns, and folders that are empty then."""
    for path in leftover_files(folder):
        path.unlink(missing_ok=True)
    for place in folder.glob("shard-*-of-*"):
        if not any(path.is_file() for path in place.rglob("*")):
            shutil.rmtree(place, ignore_errors=True)


def snapshot_folder(folder: Path, target: Path, at: Versions | None = None) -> bool:
    """Copy the current version, or the named one, to another folder, shards from elsewhere too; False if none is."""
    for _ in range(TRIES):
        layout = read_layout(folder)
        if at and not at.of(layout):
            raise OtherVersionError(f"{folder} has other shards than the named ones: try again")
        if layout is None:
            return snapshot(folder, target, at.names[""] if at else "")
        shutil.rmtree(target, ignore_errors=True)
        inside = Layout(tuple(Path(place).name for place in layout.places))
        pairs = zip(layout.folders(folder), inside.folders(target), strict=True)
        copied = [snapshot(place, new, at.names[place.name] if at else "") for place, new in pairs]
        if all(copied) and read_layout(folder) == layout:
            inside.write(target)
            return True
        if read_layout(folder) == layout:
            missing = layout.folders(folder)[copied.index(False)]
            raise IndexFormatError(f"{missing} holds no index: run propcite index check --repair")
    raise IndexFormatError(f"{folder} is divided again all the time: try again later")


def replace_folder(new: Path, folder: Path) -> None:
    """Replace the index in a folder by another, with one rename that makes it count; shards stay on their disks."""
    layout, earlier = read_layout(new), None
    with suppress(IndexFormatError):  # what is damaged is replaced as well
        earlier = read_layout(folder)
    if layout is None:
        replace_index(new, folder)
        (folder / LAYOUT_FILE).unlink(missing_ok=True)
    else:
        parents = [place.parent for place in earlier.folders(folder)] if earlier else []
        put_shards(layout.folders(new), folder, parents)
    if earlier:
        remove_shards(earlier, folder)
    remove_leftovers(folder)


def put_shards(shards: Sequence[Path], folder: Path, parents: Sequence[Path] = ()) -> None:
    """Move new shards into an index's folder, or each beside its predecessor, and make them the index."""
    places: list[str] = []
    for number, (shard, name) in enumerate(zip(shards, new_places(len(shards)), strict=True)):
        parent = parents[number] if len(parents) == len(shards) else folder
        shutil.move(shard, parent / name)
        places.append(name if parent == folder else str(parent / name))
    Layout(tuple(places)).write(folder)


def remove_shards(layout: Layout, folder: Path) -> None:
    for place in layout.folders(folder):
        shutil.rmtree(place, ignore_errors=True)


# Integrity


def check_folder(folder: Path, progress: ProgressReport = ignore_progress) -> list[Fault]:
    """Return all faults of the index in a folder, files of a shard with its folder before their names."""
    layout = read_layout(folder)
    if layout is None:
        return check_index(folder, progress)
    faults = []
    for place in layout.folders(folder):
        try:
            faults += [replace(fault, file=f"{place.name}/{fault.file}") for fault in check_index(place, progress)]
        except IndexFormatError as error:
            faults.append(Fault(f"{place.name}/{MANIFEST_FILE}", str(error)))
    return faults


def repair_folder(folder: Path, faults: Sequence[Fault], **options: Unpack[IndexOptions]) -> None:
    """Repair each shard, as `repair_index` does; one whose manifest is damaged is empty then."""
    layout = read_layout(folder)
    if layout is None:
        repair_index(folder, faults, **options)
        return
    of_shards: dict[str, list[Fault]] = defaultdict(list)
    for fault in faults:
        shard, _, file = fault.file.partition("/")
        of_shards[shard].append(replace(fault, file=file))
    places = {place.name: place for place in layout.folders(folder)}
    lost = [name for name, some in of_shards.items() if any(fault.file == MANIFEST_FILE for fault in some)]
    if len(lost) == len(places):  # then there is no index, until the library's passages are read again
        (folder / LAYOUT_FILE).unlink()
        return
    manifest = read_manifest(next(place for name, place in places.items() if name not in lost))
    for name, some in of_shards.items():
        if name in lost:
            shutil.rmtree(places[name], ignore_errors=True)
            TokenIndex(manifest.dimension, manifest.encoder, **options).save(places[name])
        else:
            repair_index(places[name], some, **options)
