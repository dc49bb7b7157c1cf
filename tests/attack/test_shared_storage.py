"""Whoever may write to the storage that machines share writes no file outside the index on their disks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from attacking import small_library

from propcite.app.parts import Parts
from propcite.retrieval.errors import IndexFormatError, RetrievalError
from propcite.retrieval.index.manifest import MANIFEST_FILE, Manifest, SegmentEntry, read_manifest
from propcite.retrieval.remote import published_index
from propcite.retrieval.remote.published_index import PublishedIndex
from propcite.retrieval.remote.versions import IndexVersion, version_object

CODE = b"import os"


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PublishedIndex:
    monkeypatch.setattr(published_index, "TRIES", 2)
    parts: Parts = small_library(tmp_path / "data", storage=f"file://{tmp_path}/storage")
    found = parts.workspace(parts.library.collection("harbour")).published
    assert found
    return found


def attack(published: PublishedIndex, place: str, file: str, name: str, *, divided: bool) -> None:
    """Publish a version that names a file, as somebody would who has the keys of the bucket."""
    version = published.version()
    assert version
    published.objects.write("files/code", CODE)
    (part,) = version.parts
    changed = replace(part, place=place, files={**part.files, file: (name, len(CODE))})
    evil = replace(version, number=version.number + 1, is_divided=divided, parts=(changed,))
    published.objects.write(version_object(evil.number), evil.to_json())


@pytest.mark.parametrize(
    ("place", "file", "name"),
    [
        ("", "../../../stolen.py", "code"),
        ("", "{tmp}/stolen.py", "code"),
        ("", "..\\stolen.py", "code"),
        ("..", "stolen.py", "code"),
        ("{tmp}/elsewhere", "stolen.py", "code"),
        ("shard/../../..", "stolen.py", "code"),
        ("", "taken.tokens", "../../../page.key"),
        ("", "", "code"),
        ("", ".", "code"),
    ],
)
def test_a_version_that_names_a_file_elsewhere_is_refused(
    published: PublishedIndex, tmp_path: Path, place: str, file: str, name: str
) -> None:
    before = (published.folder / MANIFEST_FILE).read_bytes()
    place, file = place.format(tmp=tmp_path), file.format(tmp=tmp_path)
    attack(published, place, file, name, divided=bool(place))
    with pytest.raises(RetrievalError, match="cannot be read"):
        published.fetch()
    assert not [path for path in tmp_path.rglob("*") if path.name in ("stolen.py", "elsewhere", "taken.tokens")]
    assert (published.folder / MANIFEST_FILE).read_bytes() == before


@pytest.mark.parametrize("name", ["../other/segment-1", "/etc/passwd", "a/b", "", "..", "a\\b", "a\0b"])
def test_a_manifest_names_no_file_elsewhere(tmp_path: Path, name: str) -> None:
    for changed in (
        Manifest("e", 8, (SegmentEntry(name, 1, 1),)),
        Manifest("e", 8, (), centroids=name or "/"),
        Manifest("e", 8, (), faiss=name or "/"),
    ):
        changed.write(tmp_path)
        with pytest.raises(IndexFormatError, match="damaged"):
            read_manifest(tmp_path)


def test_damaged_versions_are_one_line(published: PublishedIndex) -> None:
    version = published.version()
    assert version
    fields = json.loads(version.to_json())
    for changed in (
        {**fields, "parts": [{**fields["parts"][0], "place": 5}]},
        {**fields, "is_divided": True, "parts": [{**fields["parts"][0], "place": 5}]},
        {**fields, "parts": [{**fields["parts"][0], "files": {"a": ["b"]}}]},
        {**fields, "parts": [{**fields["parts"][0], "files": {"a": [5, 5]}}]},
        {**fields, "parts": "x"},
    ):
        try:
            IndexVersion.from_json(json.dumps(changed).encode())
        except ValueError as error:
            assert "\n" not in str(error)  # noqa: PT017
