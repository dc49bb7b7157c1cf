"""Fixtures of the tests that run the application: settings, parts without a model, and servers of their own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from new_tables import put_tables
from word_encoder import WordEncoder

from propcite.app.parts import Parts
from propcite.app.settings import load_settings

if TYPE_CHECKING:
    from propcite.retrieval.encoding.encoder import Encoder


@pytest.fixture(autouse=True)
def settings_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep tests away from the settings and data of the person who runs them."""
    for name in [name for name in os.environ if name.startswith("PROPCITE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PROPCITE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # tests kill processes; no test cuts the power


@pytest.fixture
def open_parts(tmp_path: Path) -> Iterator[Callable[..., Parts]]:
    """Open parts as a new process would: only the disk is shared."""
    opened: list[Parts] = []

    def open_them(**settings: object) -> Parts:
        parts = Parts(load_settings(**{"data_dir": tmp_path / "data", **settings}))
        put_tables(parts.settings)
        parts.__dict__["encoder"] = WordEncoder()  # where the cached property stores it
        opened.append(parts)
        return parts

    yield open_them
    for parts in opened:
        parts.library.close()


@pytest.fixture(scope="session")
def loaded(encoder: Encoder) -> dict[str, object]:
    """Load the bundled models once for all servers of the tests."""
    from serving import loaded_from

    from propcite.attribution.propcite import PropCite

    return loaded_from(PropCite(encoder))


@pytest.fixture
def serve(tmp_path: Path, loaded: dict[str, object]) -> Iterator[Callable[..., str]]:
    """Start a server with these settings over the test's data directory and return its address.

    `documents` are the texts of each collection by their file names.
    """
    from serving import parts_with, running_server

    with contextlib.ExitStack() as running:

        def start(
            documents: Mapping[str, Mapping[str, str]] | None = None, *, requires_keys: bool = False, **settings: object
        ) -> str:
            parts = parts_with(loaded, documents or {}, **{"data_dir": tmp_path / "data", **settings})
            return running.enter_context(running_server(parts, requires_keys=requires_keys))

        yield start
