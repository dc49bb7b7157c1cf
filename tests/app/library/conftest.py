"""An open library and a collection of it, in each kind of database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from propcite.app.library.store import CollectionInfo, Library


@pytest.fixture
def library(database_url: str) -> Iterator[Library]:
    opened = Library(database_url)
    yield opened
    opened.close()


@pytest.fixture
def rivers(library: Library) -> CollectionInfo:
    return library.create_collection("rivers")
