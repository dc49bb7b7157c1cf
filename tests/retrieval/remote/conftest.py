"""A store of objects: a folder, and a real S3 server."""

from __future__ import annotations

from pathlib import Path

import pytest
from object_server import BUCKET

from propcite.retrieval.remote.objects import ObjectStore


@pytest.fixture(params=["folder", "s3"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    if request.param == "folder":
        return ObjectStore(f"file://{tmp_path}/objects")
    request.getfixturevalue("s3")
    return ObjectStore(f"{BUCKET}/{tmp_path.name}")
