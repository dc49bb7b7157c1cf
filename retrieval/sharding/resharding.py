"""Divide an index into another number of shards, and move a shard to another disk."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Unpack

from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index import IndexOptions, ignore_progress, report_share
from propcite.retrieval.index.merge import MergeInput
from propcite.retrieval.index.snapshot import replace_index, snapshot
from propcite.retrieval.index.token_index import BITS, TokenIndex
from propcite.retrieval.sharding.folder import OpenIndex, open_index, put_shards, remove_leftovers, remove_shards
from propcite.retrieval.sharding.layout import (
    LAYOUT_FILE,
    Layout,
    new_places,
    read_layout,
    shard_folders,
    shard_numbers,
    valid_number,
)
from propcite.retrieval.sharding.sharded_index import ShardedIndex

WORK = "resharding"  # the folder in which new shards are written


def reshard(folder: Path, number: int, **options: Unpack[IndexOptions]) -> None:
    """Divide the index in a folder into so many shards, or join it into one piece; deleted passages go.

    The new shards are written beside the old ones, with as many bytes again, and count by one rename.  Nothing is
    encoded or trained again, so every search returns what it returned before.
    """
    layout = read_layout(folder)
    if valid_number(number) == (len(layout.places) if layout else 1):
        return
    index, work = open_index(folder, **options), folder / WORK
    options["bits"] = max(index.stats().bits, default=options.get("bits", BITS))  # so that no vector changes
    shutil.rmtree(work, ignore_errors=True)
    try:
        places = [work / name for name in new_places(number)]
        _write_shards(index, shard_folders(folder)[0], places, **options)
        if number > 1:
            put_shards(places, folder)
        else:
            _put_whole(places[0], folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if layout:
        remove_shards(layout, folder)
    remove_leftovers(folder)


def _write_shards(index: OpenIndex, trained: Path, places: Sequence[Path], **options: Unpack[IndexOptions]) -> None:
    """Write each new shard from the segments of all old ones; `trained` holds what the old ones trained."""
    old = index.shards if isinstance(index, ShardedIndex) else [index]
    segments = [live for one in old for live in one.segments]
    total, done = sum(live.segment.num_tokens for live in segments), 0
    progress = options.get("progress", ignore_progress)
    shards = [(live, shard_numbers(live.segment.ids, len(places))) for live in segments]
    for number, place in enumerate(places):
        inputs = [MergeInput(live.segment, live.mask & (owners == number)) for live, owners in shards]
        inputs = [one for one in inputs if one.passages.any()]
        new = TokenIndex(index.dimension, index.encoder, **options)
        new.write_merged(inputs, place, partial(report_share, partial(progress, "dividing the index"), total, done))
        new.adopt(old[0], trained, place)
        done += sum(int(one.tokens.sum()) for one in inputs)


def _put_whole(new: Path, folder: Path) -> None:
    """Make the only shard the index in one piece: it counts when the layout is gone."""
    replace_index(new, folder)
    (folder / LAYOUT_FILE).unlink()


def move_shard(folder: Path, number: int, target: Path) -> Path:
    """Copy a shard to a new folder inside another one, on another disk perhaps, and read it there from now on.

    Returns the new folder.  The old one is removed when the new one counts.
    """
    layout = read_layout(folder)
    if layout is None:
        raise IndexFormatError("the index is in one piece: divide it first, propcite shards split 2")
    if not 0 <= number < len(layout.places):
        raise IndexFormatError(f"there are the shards 0 to {len(layout.places) - 1}, not {number}")
    old = layout.folders(folder)[number]
    try:
        target.mkdir(parents=True, exist_ok=True)
        inside = target.resolve() == folder.resolve()
        new = (folder if inside else target.resolve()) / new_places(len(layout.places))[number]
        if not snapshot(old, new):
            raise IndexFormatError(f"{old} holds no index: run propcite index check --repair")
    except OSError as error:
        raise IndexFormatError(f"cannot write {target} ({error.strerror or error}): give another folder") from error
    places = list(layout.places)
    places[number] = new.name if inside else os.fspath(new)
    Layout(tuple(places)).write(folder)
    shutil.rmtree(old, ignore_errors=True)
    return new
